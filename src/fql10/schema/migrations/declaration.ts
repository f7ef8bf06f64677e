// A collection as migrations look at it: its fields, its wildcard and its statements, each with its place where there is
// one. It is made of an item of a schema file, or of the definition that a query writes, whose parts stand in no file.

import { catchError } from '../../../base/catch-error.ts'
import { listIn, namedIn, partsIn, textIn } from '../../../model/schema/definition-parts.ts'
import { parsePath } from '../../../model/schema/paths.ts'
import { isObject, type ObjectValue, type Value } from '../../../values/value.ts'
import { QueryFailure } from '../../failure/failure.ts'
import type { Node, TypeNode } from '../../syntax/nodes.ts'
import { parseSignature } from '../../syntax/parse.ts'
import { Source, type Span } from '../../syntax/source.ts'
import type { CollectionItem, FieldPathPlace, MigrationStatement } from '../fsl/nodes.ts'
import type { SourceRange } from '../fsl/outline.ts'
import { parseExpression } from '../fsl/parse.ts'

/** An expression with its text. */
export interface DeclaredExpression {
  readonly node: Node
  readonly text: string
}

/** An expression that stands in a text. */
export function expressionIn({ text }: Source, node: Node): DeclaredExpression {
  return { node, text: text.slice(node.start, node.end) }
}

/** A field at the top. */
interface DeclaredField {
  readonly name: string
  /** Undefined where the field stands in no file. */
  readonly nameSpan: Span | undefined
  readonly type: TypeNode
  /** What the type was parsed from. */
  readonly typeSource: Source
  readonly defaultValue: DeclaredExpression | undefined
  /** Where the field ends in its file. */
  readonly end: number
}

/** One statement of a migration. */
export interface Statement {
  readonly node: MigrationStatement
  /** Undefined where it stands in no file. */
  readonly source: Source | undefined
  /** Of a backfill: its expression. */
  readonly value: DeclaredExpression | undefined
}

/** Where parts of a collection stand in its file, for errors and for what they suggest. */
interface DeclarationPlace {
  readonly source: Source
  readonly item: SourceRange
  /** The closing brace of the collection, and that of its statements. */
  readonly closing: number
  readonly statementsClosing: number | undefined
}

/** A collection as it is declared. */
export interface Declaration {
  readonly name: string
  readonly fields: readonly DeclaredField[]
  /** Without any field there is an implicit one. */
  readonly wildcard: 'implicit' | { readonly span: Span | undefined } | undefined
  readonly statements: readonly Statement[]
  readonly place: DeclarationPlace | undefined
}

/** A place of a statement in its file. */
export function spanIn({ source }: Pick<Statement, 'source'>, { end, start }: SourceRange): Span | undefined {
  return source && { source, start, end }
}

// ------------------------------------------------------------------------------------------- of an item

/** The declaration that an item of a schema file is. */
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

/** The declaration in the fields of a definition whose texts are known to parse. */
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

/** A signature that means nothing any more stands for anything. */
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

/** A path of fields, without the `data` that it may begin with. */
function pathOf(text: Value | undefined): FieldPathPlace | undefined {
  const path = typeof text === 'string' ? parsePath(text) : undefined
  const names = path?.filter(step => typeof step === 'string')
  return names && { path: names, ...nowhere }
}
