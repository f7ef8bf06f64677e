// Represents the fields, the wildcard and the migration statements of a collection. A declaration comes from an item of
// a schema file, or from a definition that a query writes. Only a declaration from a file has positions.

import { catchError } from '../../../base/catch-error.ts'
import { listIn, namedIn, partsIn, textIn } from '../../../model/schema/definition-parts.ts'
import type { Step } from '../../../model/schema/migration-steps.ts'
import { parsePath } from '../../../model/schema/paths.ts'
import { isObject, type ObjectValue, type Value } from '../../../values/value.ts'
import { QueryFailure } from '../../failure/query-failure.ts'
import type { Node, TypeNode } from '../../syntax/nodes.ts'
import { parseQueryNode, parseSignature } from '../../syntax/parse-query.ts'
import { Source, type Span } from '../../syntax/source.ts'
import type { OutlineFieldPath, SourceRange } from '../fsl/outline.ts'
import type { CollectionItem, MigrationStatement } from '../fsl/schema-items.ts'

export interface DeclaredExpression {
  readonly node: Node
  readonly text: string
}

export function expressionIn({ text }: Source, node: Node): DeclaredExpression {
  return { node, text: text.slice(node.start, node.end) }
}

/** A top-level field. */
interface DeclaredField {
  readonly name: string
  /** Undefined if the field does not come from a schema file. */
  readonly nameSpan?: Span
  readonly type: TypeNode
  readonly typeSource: Source
  readonly defaultValue: DeclaredExpression | undefined
  /** The offset where the field ends in its file. Undefined if the field does not come from a schema file. */
  readonly end?: number
}

export interface Statement {
  readonly node: MigrationStatement
  /** Undefined if the statement does not come from a schema file. */
  readonly source: Source | undefined
  /** Value of a `backfill` statement. */
  readonly value: DeclaredExpression | undefined
}

/** The range of a collection in its file, and offsets in the collection, for errors and suggestions. */
interface DeclarationRanges {
  readonly source: Source
  readonly item: SourceRange
  /** The offset of the closing brace of the collection. */
  readonly closing: number
  /** Undefined if the collection has no migrations block. */
  readonly statementsClosing: number | undefined
}

export interface Declaration {
  readonly fields: readonly DeclaredField[]
  /**
   * A collection with neither declared fields nor a wildcard has an implicit wildcard. Undefined if only the declared
   * fields are allowed.
   */
  readonly wildcard: 'implicit' | { readonly span: Span | undefined } | undefined
  readonly statements: readonly Statement[]
  readonly ranges: DeclarationRanges | undefined
}

export function spanIn({ source }: Pick<Statement, 'source'>, { end, start }: SourceRange): Span | undefined {
  return source && { source, start, end }
}

export function declarationOfItem({ block, end, members, source, start }: CollectionItem): Declaration {
  const fields = members.flatMap((member): readonly DeclaredField[] => {
    if (member.kind !== 'field') return []
    const { defaultValue, type } = member
    return [
      {
        name: member.name.text,
        nameSpan: { source, start: member.name.start, end: member.name.end },
        type,
        typeSource: source,
        defaultValue: defaultValue && expressionIn(source, defaultValue),
        end: member.end,
      },
    ]
  })
  const wildcard = members.find(member => member.kind === 'wildcard')
  const statements = members.find(member => member.kind === 'migrations')
  return {
    fields,
    wildcard: wildcard
      ? { span: { source, start: wildcard.start, end: wildcard.end } }
      : implicitWildcard(fields),
    statements: (statements?.statements ?? []).map(node => ({
      node,
      source,
      value: node.kind === 'backfill' ? expressionIn(source, node.value) : undefined,
    })),
    ranges: {
      source,
      item: { start, end },
      closing: block.end - 1,
      statementsClosing: statements && statements.block.end - 1,
    },
  }
}

function implicitWildcard(fields: readonly DeclaredField[]): 'implicit' | undefined {
  return fields.length === 0 ? 'implicit' : undefined
}

/** The expressions in the definition must have no syntax errors. */
export function declarationOf(definition: ObjectValue): Declaration {
  const name = textIn(definition, 'name') ?? ''
  const fields = namedIn(definition, 'fields').map(([field, given]) => declaredField(name, field, given))
  return {
    fields,
    wildcard: definition.has('wildcard') ? { span: undefined } : implicitWildcard(fields),
    statements: partsIn(definition, 'migrations').flatMap(statementOf),
    ranges: undefined,
  }
}

function declaredField(collection: string, name: string, given: ObjectValue): DeclaredField {
  const sourceName = `*field:${collection}:${name}*`
  const { source, type } = signatureOf(textIn(given, 'signature') ?? 'Any', sourceName)
  const defaultText = textIn(given, 'default')
  const defaultValue = defaultText === undefined ? undefined : expressionOf(defaultText, sourceName)
  return { name, type, typeSource: source, defaultValue }
}

/** An invalid signature is treated as `Any`. */
function signatureOf(text: string, name: string): { readonly source: Source; readonly type: TypeNode } {
  const source = new Source(name, text)
  const parsed = () => ({ source, type: parseSignature(source) })
  return catchError(QueryFailure, parsed, () => signatureOf('Any', name))
}

function expressionOf(text: string, name: string): DeclaredExpression {
  return { node: parseQueryNode(new Source(name, text)), text }
}

const nowhere: SourceRange = { start: 0, end: 0 }

function statementOf(stored: ObjectValue): readonly Statement[] {
  const [[kind, given] = ['', null]] = stored
  if (!isObject(given)) return []
  const node = nodeOf(kind, given)
  if (node === undefined) return []
  const value = node.kind === 'backfill' ? { node: node.value, text: String(given.get('value')) } : undefined
  return [{ node, source: undefined, value }]
}

function nodeOf(kind: string, given: ObjectValue): MigrationStatement | undefined {
  const field = pathOf(given.get('field') ?? given.get('into'))
  switch (kind) {
    case 'add_wildcard':
      return { kind, ...nowhere }
    case 'add':
    case 'drop':
      return field && { kind, field, ...nowhere }
    case 'backfill': {
      const { node } = expressionOf(String(given.get('value')), '*backfill*')
      return field && { kind, field, value: node, ...nowhere }
    }
    case 'move': {
      const target = pathOf(given.get('to'))
      return field && target && { kind, field, to: target, ...nowhere }
    }
    case 'split': {
      const targets = listIn(given, 'to').flatMap(each => pathOf(each) ?? [])
      return field && { kind, field, to: targets, ...nowhere }
    }
    case 'move_conflicts':
    case 'move_wildcard':
      return field && { kind, into: field, ...nowhere }
  }
  return undefined
}

/** The path begins at the user's fields, so its first name is not `data`. */
function pathOf(text: Value | undefined): OutlineFieldPath | undefined {
  const path = typeof text === 'string' ? parsePath(text) : undefined
  const names = path?.filter(step => typeof step === 'string')
  return names && { path: names, ...nowhere }
}

/** A step whose values (of new fields in existing documents) are expressions that are not evaluated yet. */
export type PlannedStep = Step<DeclaredExpression | undefined>
