// The tree that the parser makes of a text. Every node has the offsets of its own text; they decide what errors
// underline.

import type { Source } from './source.ts'

/** Where a node's text begins and ends. */
interface Place {
  readonly start: number
  readonly end: number
}

/** A constant: null, a Boolean, a number or a text. Integers are `bigint`, doubles `number`. */
export interface LiteralNode extends Place {
  readonly kind: 'literal'
  readonly value: null | boolean | bigint | number | string
}

/** A template value: bound when the query runs, printed as `<value>`. */
interface PlaceholderNode extends Place {
  readonly kind: 'placeholder'
  readonly index: number
}

/** A name: variable, argument or global. */
interface NameNode extends Place {
  readonly kind: 'name'
  readonly name: string
}

/** A text with expressions in it. */
export interface TemplateNode extends Place {
  readonly kind: 'template'
  readonly parts: readonly (string | Node)[]
}

/** An array, or a tuple in parentheses of other than one element. */
interface ArrayNode extends Place {
  readonly kind: 'array'
  readonly elements: readonly Node[]
}

/** One expression in parentheses. */
export interface GroupNode extends Place {
  readonly kind: 'group'
  readonly inner: Node
}

/** An object. */
interface ObjectNode extends Place {
  readonly kind: 'object'
  readonly fields: readonly (readonly [key: string, value: Node])[]
}

/** A statement that binds a name. */
export interface LetNode extends Place {
  readonly kind: 'let'
  readonly name: string
  /** The type that is written behind the name, which means nothing when it runs. */
  readonly type: TypeNode | undefined
  readonly value: Node
}

/** Statements, the last of which is an expression. */
export interface BlockNode extends Place {
  readonly kind: 'block'
  readonly statements: readonly (LetNode | Node)[]
}

/** A function written in place; the parameter of a short lambda is called {@link shortParameter}. */
export interface LambdaNode extends Place {
  readonly kind: 'lambda'
  readonly parameters: readonly string[]
  readonly rest: string | undefined
  readonly body: Node
}

/** The parameter of short lambdas, which no query can name. */
export const shortParameter = '$this'

/** A condition. */
interface IfNode extends Place {
  readonly kind: 'if'
  readonly condition: Node
  readonly then: Node
  readonly otherwise: Node | undefined
}

/** Reads as of another time. */
export interface AtNode extends Place {
  readonly kind: 'at'
  readonly time: Node
  readonly body: Node
}

/** `match`: parsed, refused when it is reached. */
interface MatchNode extends Place {
  readonly kind: 'match'
}

/** An operator before its operand. */
export interface UnaryNode extends Place {
  readonly kind: 'unary'
  readonly operator: '-' | '~' | '!'
  readonly operand: Node
}

/** An operator between its operands. */
export interface BinaryNode extends Place {
  readonly kind: 'binary'
  readonly operator: string
  readonly operatorStart: number
  readonly left: Node
  readonly right: Node
}

/**
 * One link of a chain. `start` is the dot or bracket it begins with (behind `?.` where one leads it), `end` where it ends;
 * errors underline a field's name, a call's and an access's brackets.
 */
export type Link =
  | {
      readonly kind: 'field'
      readonly start: number
      readonly end: number
      readonly name: string
      readonly nameStart: number
      readonly optional: boolean
    }
  | {
      readonly kind: 'method'
      readonly start: number
      readonly end: number
      readonly name: string
      readonly nameStart: number
      readonly nameEnd: number
      readonly argumentsStart: number
      readonly arguments: readonly Node[]
      readonly optional: boolean
      readonly optionalCall: boolean
    }
  | {
      readonly kind: 'call' | 'access'
      readonly start: number
      readonly end: number
      readonly arguments: readonly Node[]
      readonly optional: boolean
    }
  | {
      readonly kind: 'assert'
      /** Where its errors are underlined from: at the error of the link before; or at its dot, where it was skipped. */
      readonly start: number
      readonly skippedStart: number
      readonly end: number
    }

/** An operand with the links behind it. */
export interface ChainNode extends Place {
  readonly kind: 'chain'
  readonly operand: Node
  readonly links: readonly Link[]
}

/** One field of a projection: its value is an expression over the projected value, the {@link shortParameter}. */
export interface ProjectedField {
  readonly name: string
  readonly nameStart: number
  readonly value: Node
}

/** A projection; without fields it is `{ * }`, which is refused when it is reached. */
export interface ProjectionNode extends Place {
  readonly kind: 'projection'
  readonly operand: Node
  readonly fields: readonly ProjectedField[] | undefined
}

/** An expression. */
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

/** A field of an object's type; its place is that of its name. */
export interface TypeMember extends Place {
  readonly name: string
  readonly type: TypeNode
  /** The expression behind `=`. */
  readonly defaultValue: Node | undefined
}

/** A parameter of a function's type. */
export interface TypeParameter {
  /** Undefined where it has none. */
  readonly name: string | undefined
  readonly isRest: boolean
  readonly type: TypeNode
}

/** A type as it is written. */
export type TypeNode =
  | (Place & { readonly kind: 'name'; readonly name: string; readonly arguments: readonly TypeNode[] })
  | (Place & { readonly kind: 'literal'; readonly value: boolean | bigint | number | string })
  | (Place & { readonly kind: 'tuple'; readonly elements: readonly TypeNode[] })
  | (Place & {
      readonly kind: 'object'
      readonly members: readonly TypeMember[]
      readonly wildcard: TypeNode | undefined
      /** It ends in `...`. */
      readonly isOpen: boolean
    })
  | (Place & { readonly kind: 'union' | 'intersection'; readonly members: readonly TypeNode[] })
  | (Place & { readonly kind: 'optional'; readonly inner: TypeNode })
  | (Place & {
      readonly kind: 'function'
      readonly parameters: readonly TypeParameter[]
      readonly result: TypeNode
    })

/** Bytes that a tree takes for each UTF-16 unit of its text, where the text is as dense as it can be: calls without arguments. */
export const treeBytesPerUnit = 96

/** A parsed text. */
export interface Program {
  readonly source: Source
  readonly body: Node
  /** Whether a method is called somewhere that may write; what the functions do that are called is not known. */
  readonly mayWrite: boolean
}
