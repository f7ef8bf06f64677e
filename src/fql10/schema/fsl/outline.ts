// A schema file as it is written: words with names and values, before anybody asks what they mean. Whatever looks like an
// item is one, so that everything that is wrong with a file can be told at once.

import type { BlockNode, Node, TypeNode } from '../../syntax/nodes.ts'

/** Where something stands in its source: offsets, the end not included. */
export interface SourceRange {
  readonly start: number
  readonly end: number
}

/** A name, as a word or in quotes: its text, and its place with the quotes. */
export interface NamePlace extends SourceRange {
  readonly text: string
}

/** `@alias(x)` or `@role(x)`. */
export interface AnnotationPlace extends SourceRange {
  readonly kind: 'alias' | 'role'
  readonly name: NamePlace
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

/** One expression. */
export interface OutlineExpression extends SourceRange {
  readonly kind: 'expression'
  readonly node: Node
}

/** What stands behind a word and its name. */
export type OutlineValue = OutlineBlock | OutlineList | OutlineExpression

/** What all items have: the place is that of its annotations, if there are any, and of all that follows. */
interface OutlineBase extends SourceRange {
  readonly annotations: readonly AnnotationPlace[]
  /** Where its comment begins; where the item begins, when it has none. */
  readonly commentStart: number
}

/** A word with a name and a value, each of which may be missing. */
export interface OutlineMember extends OutlineBase {
  readonly form: 'member'
  readonly keyword: NamePlace
  readonly name: NamePlace | undefined
  readonly value: OutlineValue | undefined
}

/** `name: type = value`, where the type or the value may be missing. */
export interface OutlineField extends OutlineBase {
  readonly form: 'field'
  /** The word `compute` and the blanks behind it. */
  readonly compute: SourceRange | undefined
  /** Its text is `*` for the wildcard. */
  readonly name: NamePlace
  readonly isWildcard: boolean
  readonly type: TypeNode | undefined
  readonly value: Node | undefined
}

/** A parameter of a function. The place is that of the name with the dots before it. */
export interface ParameterPlace extends SourceRange {
  readonly name: NamePlace
  readonly isRest: boolean
  readonly type: TypeNode | undefined
}

/** A function. */
export interface OutlineFunction extends OutlineBase {
  readonly form: 'function'
  /** Its first word, after the annotations. */
  readonly keyword: NamePlace
  readonly name: NamePlace
  readonly parameters: readonly ParameterPlace[]
  /** From one parenthesis to the other. */
  readonly list: SourceRange
  readonly result: TypeNode | undefined
  /** Undefined when it cannot be read. */
  readonly body: BlockNode | undefined
}

/** A statement of a block of migrations. */
export interface OutlineMigration extends OutlineBase {
  readonly form: 'migration'
  readonly keyword: NamePlace
  readonly paths: readonly Node[]
  readonly value: Node | undefined
}

/** One item, at the top of a file or within a block. */
export type OutlineItem = OutlineMember | OutlineField | OutlineFunction | OutlineMigration
