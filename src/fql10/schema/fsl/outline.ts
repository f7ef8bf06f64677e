// Defines the outline of a schema file: a tree of keywords, names and values. An outline can contain unknown keywords
// and misplaced members, so that its conversion to schema items (conversion.ts) reports all faults together.

import type { BlockNode, Node, TypeNode } from '../../syntax/nodes.ts'

/** A range of a source as offsets. The end is exclusive. */
export interface SourceRange {
  readonly start: number
  readonly end: number
}

/** A word, or a text in quotes. The range includes the quotes. */
export interface OutlineName extends SourceRange {
  readonly text: string
}

/** `@alias(x)` or `@role(x)`. */
export interface OutlineAnnotation extends SourceRange {
  readonly kind: 'alias' | 'role'
  readonly name: OutlineName
}

/** The path of a field in a migration statement, with its range. */
export interface OutlineFieldPath extends SourceRange {
  readonly path: readonly string[]
}

/** The lambda in parentheses, and the range of the enclosing braces. */
export interface OutlinePredicate {
  readonly block: SourceRange
  readonly lambda: Node
}

/** Members in braces. */
export interface OutlineBlock extends SourceRange {
  readonly kind: 'block'
  readonly members: readonly OutlineItem[]
}

/** Expressions in brackets. */
interface OutlineList extends SourceRange {
  readonly kind: 'list'
  readonly elements: readonly Node[]
}

export interface OutlineExpression extends SourceRange {
  readonly kind: 'expression'
  readonly node: Node
}

export type OutlineValue = OutlineBlock | OutlineList | OutlineExpression

/** The common part of all items. The range includes the annotations. */
interface OutlineBase extends SourceRange {
  readonly annotations: readonly OutlineAnnotation[]
  /** The start of the comment before the item, or of the item if there is no comment. */
  readonly commentStart: number
}

/** A keyword with an optional name and an optional value. */
export interface OutlineMember extends OutlineBase {
  readonly form: 'member'
  readonly keyword: OutlineName
  readonly name: OutlineName | undefined
  readonly value: OutlineValue | undefined
}

/** `name: type = value`. The type or the value may be missing. */
export interface OutlineField extends OutlineBase {
  readonly form: 'field'
  /** The word `compute`, with the whitespace after it. */
  readonly compute: SourceRange | undefined
  /** The text is `*` for a wildcard. */
  readonly name: OutlineName
  readonly isWildcard: boolean
  readonly type: TypeNode | undefined
  readonly value: Node | undefined
}

/** The range covers the name and the preceding dots. */
export interface OutlineParameter extends SourceRange {
  readonly name: OutlineName
  readonly isRest: boolean
  readonly type: TypeNode | undefined
}

export interface OutlineFunction extends OutlineBase {
  readonly form: 'function'
  readonly keyword: OutlineName
  readonly name: OutlineName
  readonly parameters: readonly OutlineParameter[]
  /** Range including the parentheses. */
  readonly list: SourceRange
  readonly result: TypeNode | undefined
  /** Undefined if the body has a syntax error. */
  readonly body: BlockNode | undefined
}

export interface OutlineMigration extends OutlineBase {
  readonly form: 'migration'
  readonly keyword: OutlineName
  readonly paths: readonly Node[]
  readonly value: Node | undefined
}

export type OutlineItem = OutlineMember | OutlineField | OutlineFunction | OutlineMigration
