// Represents a collection for migrations: its fields, its wildcard and its statements, with positions. The collection
// is declared by an item of a schema file, or by a definition that a query writes. Such a definition has no positions.
// Migration steps whose values are not computed yet refer to the expressions of the collection.

import { catchError } from '../../../base/catch-error.ts'
import { listIn, namedIn, partsIn, textIn } from '../../../model/schema/definition-parts.ts'
import type { Step } from '../../../model/schema/migration-steps.ts'
import { parsePath } from '../../../model/schema/paths.ts'
import { isObject, type ObjectValue, type Value } from '../../../values/value.ts'
import { QueryFailure } from '../../failure/query-failure.ts'
import type { Node, TypeNode } from '../../syntax/nodes.ts'
import { parseSignature } from '../../syntax/parse-query.ts'
import { Source, type Span } from '../../syntax/source.ts'
import type { FieldPathPlace, SourceRange } from '../fsl/outline.ts'
import { parseExpression } from '../fsl/parse-file.ts'
import type { CollectionItem, MigrationStatement } from '../fsl/schema-items.ts'

/** An expression with its text. */
export interface DeclaredExpression {
  readonly node: Node
  readonly text: string
}

/** Creates an expression from a node of a source. */
export function expressionIn({ text }: Source, node: Node): DeclaredExpression {
  return { node, text: text.slice(node.start, node.end) }
}

/** A top-level field. */
interface DeclaredField {
  readonly name: string
  /** Undefined for a field without a file. */
  readonly nameSpan: Span | undefined
  readonly type: TypeNode
  /** The source of the type. */
  readonly typeSource: Source
  readonly defaultValue: DeclaredExpression | undefined
  /** The end of the field in its file. */
  readonly end: number
}

/** A migration statement. */
export interface Statement {
  readonly node: MigrationStatement
  /** Undefined for a statement without a file. */
  readonly source: Source | undefined
  /** The expression of a backfill. */
  readonly value: DeclaredExpression | undefined
}

/** Positions of a collection in its file, for errors and suggestions. */
interface DeclarationPlace {
  readonly source: Source
  readonly item: SourceRange
  /** The positions of two closing braces: of the collection, and of its migrations block. */
  readonly closing: number
  readonly statementsClosing: number | undefined
}

/** A collection as declared. */
export interface Declaration {
  readonly name: string
  readonly fields: readonly DeclaredField[]
  /** A collection without fields has an implicit wildcard. */
  readonly wildcard: 'implicit' | { readonly span: Span | undefined } | undefined
  readonly statements: readonly Statement[]
  readonly place: DeclarationPlace | undefined
}

/** The span of a range in a statement's file. */
export function spanIn({ source }: Pick<Statement, 'source'>, { end, start }: SourceRange): Span | undefined {
  return source && { source, start, end }
}

// ------------------------------------------------------------------------------------------- of an item

/** The declaration in an item of a schema file. */
export function declarationOfItem({ block, end, members, name, source, start }: CollectionItem): Declaration {
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
    name: name.text,
    fields,
    wildcard: wildcard
      ? { span: { source, start: wildcard.start, end: wildcard.end } }
      : implicitWildcard(fields),
    statements: (statements?.statements ?? []).map(node => ({
      node,
      source,
      value: node.kind === 'backfill' ? expressionIn(source, node.value) : undefined,
    })),
    place: {
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

// ------------------------------------------------------------------------------------- of a definition

/** The declaration in a stored definition. All texts of the definition must be valid. */
export function declarationOf(definition: ObjectValue): Declaration {
  const name = textIn(definition, 'name') ?? ''
  const fields = namedIn(definition, 'fields').map(([field, given]) => declaredField(name, field, given))
  return {
    name,
    fields,
    wildcard: definition.has('wildcard') ? { span: undefined } : implicitWildcard(fields),
    statements: partsIn(definition, 'migrations').flatMap(statementOf),
    place: undefined,
  }
}

function declaredField(collection: string, name: string, given: ObjectValue): DeclaredField {
  const sourceName = `*field:${collection}:${name}*`
  const { source, type } = signatureOf(textIn(given, 'signature') ?? 'Any', sourceName)
  const defaultText = textIn(given, 'default')
  const defaultValue = defaultText === undefined ? undefined : expressionOf(defaultText, sourceName)
  return { name, nameSpan: undefined, type, typeSource: source, defaultValue, end: 0 }
}

/** An invalid signature counts as `Any`. */
function signatureOf(text: string, name: string): { readonly source: Source; readonly type: TypeNode } {
  const source = new Source(name, text)
  const parsed = () => ({ source, type: parseSignature(source) })
  return catchError(QueryFailure, parsed, () => signatureOf('Any', name))
}

function expressionOf(text: string, name: string): DeclaredExpression {
  return { node: parseExpression(new Source(name, text)), text }
}

const nowhere: SourceRange = { start: 0, end: 0 }

function statementOf(stored: ObjectValue): readonly Statement[] {
  const [[kind, given] = ['', null]] = stored
  if (!isObject(given)) return []
  const node = nodeOf(kind, given)
  if (node === undefined) return []
  const value = node.kind === 'backfill' ? expressionOf(String(given.get('value')), '*backfill*') : undefined
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

/** A field path, without the `data` at its beginning. */
function pathOf(text: Value | undefined): FieldPathPlace | undefined {
  const path = typeof text === 'string' ? parsePath(text) : undefined
  const names = path?.filter(step => typeof step === 'string')
  return names && { path: names, ...nowhere }
}

/** The expression that provides the value of a new field in existing documents. */
export interface Filler {
  readonly kind: 'backfill' | 'default'
  readonly expression: DeclaredExpression
}

/** A step whose values are not computed yet. */
export type PlannedStep = Step<Filler | undefined>
