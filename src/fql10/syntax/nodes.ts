// Defines the nodes of syntax trees. Every node has two offsets in the source text. Errors underline the text between
// these offsets.

import type { Source } from './source.ts'

export interface NodeRange {
  readonly start: number
  readonly end: number
}

/** Integers are `bigint`, doubles `number`. */
export interface LiteralNode extends NodeRange {
  readonly kind: 'literal'
  readonly value: null | boolean | bigint | number | string
}

/** A template value, bound at run time. The text of the query contains `<value>` in its place. */
interface PlaceholderNode extends NodeRange {
  readonly kind: 'placeholder'
  readonly index: number
}

/** A variable, argument or global. */
interface NameNode extends NodeRange {
  readonly kind: 'name'
  readonly name: string
}

export interface TemplateNode extends NodeRange {
  readonly kind: 'template'
  readonly parts: readonly (string | Node)[]
}

/** An array such as `[1]`, or a tuple such as `(1, 2)` or `()`. */
interface ArrayNode extends NodeRange {
  readonly kind: 'array'
  readonly elements: readonly Node[]
}

export interface GroupNode extends NodeRange {
  readonly kind: 'group'
  readonly inner: Node
}

interface ObjectNode extends NodeRange {
  readonly kind: 'object'
  readonly fields: readonly (readonly [key: string, value: Node])[]
}

export interface LetNode extends NodeRange {
  readonly kind: 'let'
  readonly name: string
  readonly nameStart: number
  /** Has no effect at run time. */
  readonly type: TypeNode | undefined
  readonly value: Node
}

/** A sequence of statements. The last statement is an expression. */
export interface BlockNode extends NodeRange {
  readonly kind: 'block'
  readonly statements: readonly (LetNode | Node)[]
}

/** A short lambda, such as `.name`, has the single parameter {@link shortParameter}. */
export interface LambdaNode extends NodeRange {
  readonly kind: 'lambda'
  readonly parameters: readonly string[]
  readonly rest: string | undefined
  readonly body: Node
  /** True for the function that a projection applies. The range of the node begins with the opening brace. */
  readonly isProjection?: true
}

/** The text of a query cannot contain this name. */
export const shortParameter = '$this'

export function isShortLambda(
  node: Node,
): node is LambdaNode & { readonly parameters: readonly [typeof shortParameter] } {
  return node.kind === 'lambda' && node.parameters[0] === shortParameter
}

interface IfNode extends NodeRange {
  readonly kind: 'if'
  readonly condition: Node
  readonly then: Node
  readonly otherwise: Node | undefined
}

/** Reads in `body` return the documents as of `time`. */
export interface AtNode extends NodeRange {
  readonly kind: 'at'
  readonly time: Node
  readonly body: Node
}

/** The parser accepts `match`, but the evaluation fails. */
interface MatchNode extends NodeRange {
  readonly kind: 'match'
}

export interface UnaryNode extends NodeRange {
  readonly kind: 'unary'
  readonly operator: '-' | '~' | '!'
  readonly operand: Node
}

export interface BinaryNode extends NodeRange {
  readonly kind: 'binary'
  readonly operator: string
  readonly operatorStart: number
  readonly left: Node
  readonly right: Node
}

/**
 * A link of a chain, such as `.name`, `(1)` or `[0]` after an operand. `start` is the offset of the dot, the `?.` or
 * the bracket. For a `?.` before a bracket, `start` is the offset of the bracket.
 */
export type Link =
  | (NodeRange & {
      readonly kind: 'field'
      readonly name: string
      readonly nameStart: number
      readonly optional: boolean
    })
  | (NodeRange & {
      readonly kind: 'method'
      readonly name: string
      readonly nameStart: number
      readonly nameEnd: number
      readonly argumentsStart: number
      readonly arguments: readonly Node[]
      readonly optional: boolean
      readonly optionalCall: boolean
    })
  | (NodeRange & {
      readonly kind: 'call' | 'access'
      readonly arguments: readonly Node[]
      readonly optional: boolean
    })
  | {
      readonly kind: 'assert'
      /** The start of the range that errors underline: the same offset as for errors of the previous link. */
      readonly start: number
      /** The start if a `?.` has skipped the previous link: the offset of that link's dot. */
      readonly skippedStart: number
      readonly end: number
    }

export interface ChainNode extends NodeRange {
  readonly kind: 'chain'
  readonly operand: Node
  readonly links: readonly Link[]
}

/** A field of a projection. In the expression `value`, {@link shortParameter} refers to the projected value. */
export interface ProjectedField {
  readonly name: string
  /** True for a field without a colon, such as `a` or `a { b }`. */
  readonly isBare: boolean
  readonly value: Node
}

/** `fields` is undefined for `{ * }`, whose evaluation fails. */
export interface ProjectionNode extends NodeRange {
  readonly kind: 'projection'
  readonly operand: Node
  /** The offset of the opening brace. */
  readonly fieldsStart: number
  readonly fields: readonly ProjectedField[] | undefined
}

export type Node =
  | LiteralNode
  | PlaceholderNode
  | NameNode
  | TemplateNode
  | ArrayNode
  | GroupNode
  | ObjectNode
  | BlockNode
  | LambdaNode
  | IfNode
  | AtNode
  | MatchNode
  | UnaryNode
  | BinaryNode
  | ChainNode
  | ProjectionNode

/** A field of an object type. The range contains only the name of the field. */
export interface TypeMember extends NodeRange {
  readonly name: string
  readonly type: TypeNode
  /** The default expression after `=`. */
  readonly defaultValue: Node | undefined
}

/** A parameter of a function type. */
export interface TypeParameter {
  /** Undefined for a parameter without a name. */
  readonly name: string | undefined
  readonly isRest: boolean
  readonly type: TypeNode
}

/** The range includes the parentheses around the type. */
export type TypeNode =
  | (NodeRange & { readonly kind: 'name'; readonly name: string; readonly arguments: readonly TypeNode[] })
  | (NodeRange & {
      readonly kind: 'literal'
      readonly value: boolean | bigint | number | string
      /** The number as written. Absent for other values. */
      readonly written?: string
    })
  | (NodeRange & { readonly kind: 'tuple'; readonly elements: readonly TypeNode[] })
  | (NodeRange & {
      readonly kind: 'object'
      readonly members: readonly TypeMember[]
      readonly wildcard: TypeNode | undefined
      /** True if the type ends in `...`. */
      readonly isOpen: boolean
    })
  | (NodeRange & { readonly kind: 'union' | 'intersection'; readonly members: readonly TypeNode[] })
  | (NodeRange & { readonly kind: 'optional'; readonly inner: TypeNode })
  | (NodeRange & {
      readonly kind: 'function'
      readonly parameters: readonly TypeParameter[]
      readonly result: TypeNode
    })

/** Maximum number of bytes of a syntax tree for each UTF-16 unit of the text. `f()()()` reaches this maximum. */
const treeBytesPerUnit = 96

/** Estimates the memory of a cached syntax tree, including a fixed amount for each entry of the cache. */
export function treeBytes({ text }: Source): number {
  return (64 + text.length) * treeBytesPerUnit
}

export interface Program {
  readonly source: Source
  readonly body: Node
  /** True if the text calls a method that may write. If false, called user functions can still write. */
  readonly mayWrite: boolean
  /** False if the text certainly calls no user functions. */
  readonly mayCallFunctions: boolean
}
