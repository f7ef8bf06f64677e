// From a stored definition to the text of an item. Texts of expressions are printed anew; what does not parse stays as it is,
// and the file that it comes into cannot be read.

import { parsePath } from '../../model/schema/paths.ts'
import { isObject, itemsOf, type ObjectValue, type Value } from '../../values/value.ts'
import { QueryFailure } from '../failure/failure.ts'
import { type LambdaNode, shortParameter, type TypeNode } from '../syntax/nodes.ts'
import { parseLambda, parseQuery, parseSignature } from '../syntax/parse.ts'
import { Source } from '../syntax/source.ts'
import type { SchemaItem } from './nodes.ts'
import { printedIndexPath } from './print.ts'
import { ExpressionPrinter, inBraces, printedName } from './print-expression.ts'
import { printedString } from './print-text.ts'

/** A definition of one kind: its fields as version 10 shows them, the name among them. */
interface StoredDefinition {
  readonly kind: SchemaItem['kind']
  readonly fields: ObjectValue
}

/**
 * The text of the item that stands for a definition, without a newline at its end. `alias` takes the place of one that it
 * does not have. Undefined for what version 4 has made and a schema file cannot say.
 */
export function textOfDefinition({ fields, kind }: StoredDefinition, alias?: string): string | undefined {
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

function text(fields: ObjectValue, name: string): string | undefined {
  const value = fields.get(name)
  return typeof value === 'string' ? value : undefined
}

function entries(value: Value | undefined): readonly (readonly [string, ObjectValue])[] {
  if (!isObject(value)) return []
  return Array.from(value).flatMap(([name, each]) => (isObject(each) ? [[name, each] as const] : []))
}

function annotation(kind: 'alias' | 'role', name: string | undefined): string {
  return name === undefined ? '' : `@${kind}(${printedName(name)})\n`
}

/** What `print` makes of a text; the text itself when it cannot be read. */
function reprinted(source: string, print: (source: Source, printer: ExpressionPrinter) => string): string {
  try {
    return print(new Source('*body*', source), new ExpressionPrinter(source))
  } catch (error) {
    if (error instanceof QueryFailure) return source
    throw error
  }
}

function typeText(source: string): string {
  return reprinted(source, (each, printer) => printer.type(parseSignature(each)))
}

function expressionText(source: string): string {
  return reprinted(source, (each, printer) => {
    const { body } = parseQuery(each, [])
    if (body.kind !== 'block') return printer.expression(body)
    const [only, ...others] = body.statements
    const isSingle = only !== undefined && only.kind !== 'let' && others.length === 0
    return isSingle ? printer.expression(only) : printer.block(body)
  })
}

function isShort(lambda: LambdaNode): boolean {
  return lambda.parameters[0] === shortParameter
}

/** A lambda in parentheses, which a short one has of its own. */
function groupedLambda(source: string): string {
  return reprinted(source, (each, printer) => `(${printer.lambda(parseLambda(each))})`)
}

function bareLambda(source: string): string {
  return reprinted(source, (each, printer) => {
    const lambda = parseLambda(each)
    return isShort(lambda) ? `(${printer.lambda(lambda)})` : printer.lambda(lambda)
  })
}

/** Stands for a history without end. */
const historyWithoutEnd = '9223372036854775807'

function collectionText(fields: ObjectValue): string {
  const wildcard = text(fields, 'wildcard')
  const history = fields.get('history_days')
  const setting = (name: string) => {
    const value = fields.get(name) ?? null
    return value === null ? [] : [`${name} ${value}`]
  }
  const constraints = itemsOf(fields.get('constraints')).filter(isObject)
  const lines = [
    ...entries(fields.get('fields')).map(([name, field]) => fieldText(name, field)),
    ...entries(fields.get('computed_fields')).map(([name, field]) => computedText(name, field)),
    ...(wildcard === undefined ? [] : [`*: ${typeText(wildcard)}`]),
    ...entries(fields.get('indexes')).map(([name, index]) => indexText(name, index)),
    ...constraints.flatMap(each => (each.has('unique') ? [`unique ${pathsText(each.get('unique'))}`] : [])),
    ...constraints.flatMap(checkText),
    ...(history === 0n ? [] : [`history_days ${history ?? historyWithoutEnd}`]),
    ...setting('ttl_days'),
    ...setting('document_ttls'),
    ...migrationsText(fields.get('migrations')),
  ]
  const name = printedName(text(fields, 'name') ?? '')
  return `${annotation('alias', text(fields, 'alias'))}collection ${name} ${inBraces(lines)}`
}

function fieldText(name: string, field: ObjectValue): string {
  const value = text(field, 'default')
  const type = typeText(text(field, 'signature') ?? 'Any')
  return `${name}: ${type}${value === undefined ? '' : ` = ${expressionText(value)}`}`
}

function computedText(name: string, field: ObjectValue): string {
  const signature = text(field, 'signature')
  const type = signature === undefined ? '' : `: ${typeText(signature)}`
  return `compute ${name}${type} = ${bareLambda(text(field, 'body') ?? '')}`
}

function indexText(name: string, index: ObjectValue): string {
  const parts = ['terms', 'values'].flatMap(part => {
    const paths = itemsOf(index.get(part))
    return paths.length === 0 ? [] : [`${part} ${pathsText(paths)}`]
  })
  return `index ${name} ${inBraces(parts)}`
}

function pathsText(value: Value | undefined): string {
  const printed = itemsOf(value).map(each => {
    const given = isObject(each) ? each : new Map([['field', each]])
    const path = parsePath(text(given, 'field') ?? '') ?? []
    const order = given.get('order') === 'desc' ? 'desc' : 'asc'
    return printedIndexPath({ path, mva: given.get('mva') === true, order, start: 0, end: 0 })
  })
  return `[${printed.join(', ')}]`
}

function checkText(constraint: ObjectValue): readonly string[] {
  const check = constraint.get('check')
  if (!isObject(check)) return []
  return [`check ${text(check, 'name')} ${groupedLambda(text(check, 'body') ?? '')}`]
}

function migrationsText(value: Value | undefined): readonly string[] {
  const statements = itemsOf(value).filter(isObject)
  return statements.length === 0 ? [] : [`migrations ${inBraces(statements.map(migrationText))}`]
}

function migrationText(statement: ObjectValue): string {
  const [[kind, given] = ['', new Map()]] = statement
  const parts: ObjectValue = isObject(given) ? given : new Map()
  const path = (each: Value | undefined) => pathsText(each).slice(1, -1)
  switch (kind) {
    case 'backfill':
      return `backfill ${path(parts.get('field'))} = ${expressionText(text(parts, 'value') ?? '')}`
    case 'move':
    case 'split':
      return `${kind} ${path(parts.get('field'))} -> ${path(parts.get('to'))}`
    case 'add_wildcard':
      return kind
    default:
      return `${kind} ${path(parts.get('field') ?? parts.get('into'))}`
  }
}

function functionText(fields: ObjectValue, invented: string | undefined): string | undefined {
  const body = text(fields, 'body')
  if (body === undefined) return undefined
  const alias = annotation('alias', text(fields, 'alias') ?? invented)
  const role = annotation('role', text(fields, 'role'))
  const signature = text(fields, 'signature')
  const rest = reprinted(body, (source, printer) => {
    const lambda = parseLambda(source)
    const block =
      lambda.body.kind === 'block' ? printer.block(lambda.body) : inBraces([printer.expression(lambda.body)])
    return `${headText(lambda, signature)} ${block}`
  })
  return `${alias}${role}function ${printedName(text(fields, 'name') ?? '')}${rest}`
}

/** The parameters of a function, with their types when its signature has one for each. */
function headText({ parameters, rest }: LambdaNode, signature: string | undefined): string {
  const names = [...parameters, ...(rest === undefined ? [] : [`...${rest}`])]
  const plain = `(${names.join(', ')})`
  if (signature === undefined) return plain
  let type: TypeNode
  try {
    type = parseSignature(new Source('*signature*', signature))
  } catch (error) {
    if (error instanceof QueryFailure) return plain
    throw error
  }
  if (type.kind !== 'function' || type.parameters.length !== names.length) return plain
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

function roleText(fields: ObjectValue): string | undefined {
  const privileges = itemsOf(fields.get('privileges')).filter(isObject)
  const memberships = itemsOf(fields.get('membership')).filter(isObject)
  const actionsOf = (privilege: ObjectValue) => {
    const actions = privilege.get('actions')
    return isObject(actions) ? [...actions].filter(([, each]) => each !== false) : []
  }
  const isForeign =
    [...privileges, ...memberships].some(each => text(each, 'resource') === undefined) ||
    privileges.some(each => actionsOf(each).some(([, allowed]) => !isOwn(allowed))) ||
    memberships.some(each => !isOwn(each.get('predicate')))
  if (isForeign) return undefined
  const lines = [
    ...privileges.map(each => {
      const actions = actionsOf(each).map(([action, allowed]) => `${action}${predicateText(allowed)}`)
      return `privileges ${printedName(text(each, 'resource') ?? '')} ${inBraces(actions)}`
    }),
    ...memberships.map(each => {
      const resource = printedName(text(each, 'resource') ?? '')
      return `membership ${resource}${predicateText(each.get('predicate'))}`
    }),
  ]
  return `role ${printedName(text(fields, 'name') ?? '')} ${inBraces(lines)}`
}

/** Whether a predicate, or what stands in its place, is not of version 4. */
function isOwn(predicate: Value | undefined): boolean {
  return predicate === undefined || predicate === true || predicate === null || typeof predicate === 'string'
}

function providerText(fields: ObjectValue): string | undefined {
  const roles = itemsOf(fields.get('roles')).map(each => (isObject(each) ? each : new Map([['role', each]])))
  if (roles.some(each => !isOwn(each.get('predicate')))) return undefined
  const lines = [
    `issuer ${printedString(text(fields, 'issuer') ?? '')}`,
    `jwks_uri ${printedString(text(fields, 'jwks_uri') ?? '')}`,
    ...roles.map(
      each => `role ${printedName(text(each, 'role') ?? '')}${predicateText(each.get('predicate'))}`,
    ),
  ]
  return `access provider ${printedName(text(fields, 'name') ?? '')} ${inBraces(lines)}`
}
