// Converts a stored definition to the text of a schema item. Expressions are printed in canonical form. Code with
// syntax errors is copied unchanged, and makes the schema file invalid.

import { catchError } from '../../../base/catch-error.ts'
import { namedIn, objectIn, partsIn, textIn } from '../../../model/schema/definition-parts.ts'
import { isObject, itemsOf, type ObjectValue, type Value } from '../../../values/value.ts'
import { QueryFailure } from '../../failure/query-failure.ts'
import { isShortLambda, type LambdaNode } from '../../syntax/nodes.ts'
import { parseLambda, parseQueryNode, parseSignature } from '../../syntax/parse-query.ts'
import { Source } from '../../syntax/source.ts'
import { unlimitedDays } from './definition-of-item.ts'
import { textOfParts, textOfPaths } from './index-parts.ts'
import { ExpressionPrinter, inBraces, printName, printString } from './print-expression.ts'
import type { SchemaItem } from './schema-items.ts'

/** `fields` are in the form of version 10, including the name. */
interface StoredDefinition {
  readonly kind: SchemaItem['kind']
  readonly fields: ObjectValue
}

/** True for a definition of version 4 that a schema file cannot express. */
export function isForeign({ fields, kind }: StoredDefinition): boolean {
  switch (kind) {
    case 'collection':
      return false
    case 'function':
      return textIn(fields, 'body') === undefined
    case 'role':
      return isForeignRole(fields)
    case 'access provider':
      return providerRoles(fields).some(each => !isExpressible(each.get('predicate')))
  }
}

/**
 * Returns a text without a final newline. Uses `alias` if a function has no alias of its own. The definition must not
 * be foreign.
 */
export function textOfDefinition({ fields, kind }: StoredDefinition, alias?: string): string {
  switch (kind) {
    case 'collection':
      return collectionText(fields)
    case 'function':
      return functionText(fields, alias)
    case 'role':
      return roleText(fields)
    case 'access provider':
      return providerText(fields)
  }
}

function annotation(kind: 'alias' | 'role', name: string | undefined): string {
  return name === undefined ? '' : `@${kind}(${printName(name)})\n`
}

/** Returns a text with a syntax error unchanged. */
function reprint(source: string, print: (source: Source, printer: ExpressionPrinter) => string): string {
  const printed = () => print(new Source('*body*', source), new ExpressionPrinter(source))
  return catchError(QueryFailure, printed, () => source)
}

function typeText(source: string): string {
  return reprint(source, (each, printer) => printer.type(parseSignature(each)))
}

function expressionText(source: string): string {
  return reprint(source, (each, printer) => printer.expression(parseQueryNode(each)))
}

/** `parseLambda` removes the parentheses of a short lambda, so this function prints exactly one pair. */
function groupedLambda(source: string): string {
  return reprint(source, (each, printer) => `(${printer.lambda(parseLambda(each))})`)
}

function bareLambda(source: string): string {
  return reprint(source, (each, printer) => {
    const lambda = parseLambda(each)
    return isShortLambda(lambda) ? `(${printer.lambda(lambda)})` : printer.lambda(lambda)
  })
}

function collectionText(fields: ObjectValue): string {
  const wildcard = textIn(fields, 'wildcard')
  const history = fields.get('history_days')
  const setting = (name: string) => {
    const value = fields.get(name) ?? null
    return value === null ? [] : [`${name} ${value}`]
  }
  const constraints = partsIn(fields, 'constraints')
  const lines = [
    ...namedIn(fields, 'fields').map(([name, field]) => fieldText(name, field)),
    ...namedIn(fields, 'computed_fields').map(([name, field]) => computedText(name, field)),
    ...(wildcard === undefined ? [] : [`*: ${typeText(wildcard)}`]),
    ...namedIn(fields, 'indexes').map(([name, index]) => `index ${name} ${inBraces(textOfParts(index))}`),
    ...constraints.flatMap(each => (each.has('unique') ? [`unique ${textOfPaths(each.get('unique'))}`] : [])),
    ...constraints.flatMap(checkText),
    ...(history === 0n ? [] : [`history_days ${history ?? unlimitedDays}`]),
    ...setting('ttl_days'),
    ...setting('document_ttls'),
    ...migrationsText(fields),
  ]
  const name = printName(textIn(fields, 'name') ?? '')
  return `${annotation('alias', textIn(fields, 'alias'))}collection ${name} ${inBraces(lines)}`
}

function fieldText(name: string, field: ObjectValue): string {
  const value = textIn(field, 'default')
  const type = typeText(textIn(field, 'signature') ?? 'Any')
  return `${name}: ${type}${value === undefined ? '' : ` = ${expressionText(value)}`}`
}

function computedText(name: string, field: ObjectValue): string {
  const signature = textIn(field, 'signature')
  const type = signature === undefined ? '' : `: ${typeText(signature)}`
  return `compute ${name}${type} = ${bareLambda(textIn(field, 'body') ?? '')}`
}

function checkText(constraint: ObjectValue): readonly string[] {
  const check = constraint.get('check')
  if (!isObject(check)) return []
  return [`check ${textIn(check, 'name')} ${groupedLambda(textIn(check, 'body') ?? '')}`]
}

function migrationsText(fields: ObjectValue): readonly string[] {
  const statements = partsIn(fields, 'migrations')
  return statements.length === 0 ? [] : [`migrations ${inBraces(statements.map(migrationText))}`]
}

function migrationText(statement: ObjectValue): string {
  const [[kind, given] = ['', null]] = statement
  const parts: ObjectValue = isObject(given) ? given : new Map()
  const path = (each: Value | undefined) => textOfPaths(each).slice(1, -1)
  const words = [kind]
  if (kind !== 'add_wildcard') words.push(path(parts.get('field') ?? parts.get('into')))
  if (kind === 'backfill') words.push('=', expressionText(textIn(parts, 'value') ?? ''))
  if (kind === 'move' || kind === 'split') words.push('->', path(parts.get('to')))
  return words.join(' ')
}

function functionText(fields: ObjectValue, generatedAlias: string | undefined): string {
  const body = textIn(fields, 'body') ?? ''
  const alias = annotation('alias', textIn(fields, 'alias') ?? generatedAlias)
  const role = annotation('role', textIn(fields, 'role'))
  const signature = textIn(fields, 'signature')
  const rest = reprint(body, (source, printer) => {
    const lambda = parseLambda(source)
    const block =
      lambda.body.kind === 'block' ? printer.block(lambda.body) : inBraces([printer.expression(lambda.body)])
    return `${headText(lambda, signature)} ${block}`
  })
  return `${alias}${role}function ${printName(textIn(fields, 'name') ?? '')}${rest}`
}

/** Adds the types of the signature if the signature has the same number of parameters. */
function headText({ parameters, rest }: LambdaNode, signature: string | undefined): string {
  const names = [...parameters, ...(rest === undefined ? [] : [`...${rest}`])]
  const plain = `(${names.join(', ')})`
  if (signature === undefined) return plain
  const parsed = () => parseSignature(new Source('*signature*', signature))
  const type = catchError(QueryFailure, parsed, () => undefined)
  if (type?.kind !== 'function' || type.parameters.length !== names.length) return plain
  const printer = new ExpressionPrinter(signature)
  const typed = names.map((name, index) => {
    const parameter = type.parameters[index]
    return parameter === undefined ? name : `${name}: ${printer.type(parameter.type)}`
  })
  return `(${typed.join(', ')}): ${printer.type(type.result)}`
}

function predicateText(predicate: Value | undefined): string {
  return typeof predicate === 'string' ? ` ${inBraces([`predicate ${groupedLambda(predicate)}`])}` : ''
}

function objectsIn(fields: ObjectValue, name: string): readonly ObjectValue[] {
  return itemsOf(fields.get(name)).filter(isObject)
}

function grantedActions(privilege: ObjectValue): readonly (readonly [string, Value])[] {
  return [...objectIn(privilege, 'actions')].filter(([, each]) => each !== false)
}

function isForeignRole(fields: ObjectValue): boolean {
  const privileges = objectsIn(fields, 'privileges')
  const memberships = objectsIn(fields, 'membership')
  return (
    [...privileges, ...memberships].some(each => textIn(each, 'resource') === undefined) ||
    privileges.some(each => grantedActions(each).some(([, allowed]) => !isExpressible(allowed))) ||
    memberships.some(each => !isExpressible(each.get('predicate')))
  )
}

function roleText(fields: ObjectValue): string {
  const lines = [
    ...objectsIn(fields, 'privileges').map(each => {
      const actions = grantedActions(each).map(([action, allowed]) => `${action}${predicateText(allowed)}`)
      return `privileges ${printName(textIn(each, 'resource') ?? '')} ${inBraces(actions)}`
    }),
    ...objectsIn(fields, 'membership').map(each => {
      const resource = printName(textIn(each, 'resource') ?? '')
      return `membership ${resource}${predicateText(each.get('predicate'))}`
    }),
  ]
  return `role ${printName(textIn(fields, 'name') ?? '')} ${inBraces(lines)}`
}

/** False for a predicate of version 4, which a schema file cannot express. */
function isExpressible(predicate: Value | undefined): boolean {
  return predicate === undefined || predicate === true || predicate === null || typeof predicate === 'string'
}

function providerRoles(fields: ObjectValue): readonly ObjectValue[] {
  return itemsOf(fields.get('roles')).map(each => (isObject(each) ? each : new Map([['role', each]])))
}

function providerText(fields: ObjectValue): string {
  const lines = [
    `issuer ${printString(textIn(fields, 'issuer') ?? '')}`,
    `jwks_uri ${printString(textIn(fields, 'jwks_uri') ?? '')}`,
    ...providerRoles(fields).map(
      each => `role ${printName(textIn(each, 'role') ?? '')}${predicateText(each.get('predicate'))}`,
    ),
  ]
  return `access provider ${printName(textIn(fields, 'name') ?? '')} ${inBraces(lines)}`
}
