// The syntax tree of queries. Most nodes are calls of functions. The directory functions/ declares the functions. Each
// node contains its place, a linked list of the steps to the root of the query. A place is converted to a position (an
// array of the steps) only for errors.

import type { Message } from '../base/message.ts'
import type { Effect } from '../model/code-interface.ts'
import type { NativeName, SchemaKind, Value } from '../values/value.ts'
import { type Position, QueryError } from './query-errors.ts'
import type { Variables } from './variables.ts'

/** `outer` is the place of the enclosing expression; `step` is the key or index within that expression. */
export class Place {
  readonly outer: Place | undefined
  readonly step: string | number
  constructor(outer: Place | undefined, step: string | number) {
    this.outer = outer
    this.step = step
  }

  static readonly root: Place = new Place(undefined, '')

  at(step: string | number): Place {
    return new Place(this, step)
  }

  /** Returns the steps from the root of the query to this place, followed by `further`. */
  position(...further: (string | number)[]): Position {
    const steps: (string | number)[] = []
    for (let place: Place = this; place.outer; place = place.outer) steps.push(place.step)
    return [...steps.reverse(), ...further]
  }
}

/** `steps` lead from the place to the part with the error. */
export function fault(description: Message, place: Place, ...steps: (string | number)[]): QueryError {
  return QueryError.of('invalid expression', description, place.position(...steps), { rank: 'parse' })
}

export interface Literal {
  readonly kind: 'literal'
  readonly place: Place
  readonly value: Value
}

/** `call` is a call of the function that creates the set. Its arguments are literals, which the evaluation checks. */
export interface SetLiteral {
  readonly kind: 'set'
  readonly place: Place
  readonly call: CallExpression
}

interface ObjectExpression {
  readonly kind: 'object'
  readonly place: Place
  readonly fields: readonly (readonly [string, Expression])[]
}

interface LetExpression {
  readonly kind: 'let'
  readonly place: Place
  readonly bindings: readonly (readonly [string, Expression])[]
  readonly body: Expression
}

/** The part of a function definition that the syntax tree needs (see `definition.ts`). */
export interface FunctionHeader {
  /** The name for users: the first wire key. */
  readonly name: string
  /** The wire keys of the function's arguments, in order. */
  readonly keys: readonly string[]
}

/** The operands have the order of the definition. Omitted operands are undefined. */
export interface CallExpression {
  readonly kind: 'call'
  readonly place: Place
  readonly definition: FunctionHeader
  readonly operands: readonly (Operand | undefined)[]
}

/** A lambda in the syntax tree of a query. The function `query` converts a lambda to a value. */
export interface LambdaExpression {
  readonly kind: 'lambda'
  readonly place: Place
  readonly parameters: string | readonly string[]
  readonly body: Expression
  /** The API version under which the lambda was parsed. Never changes. */
  readonly apiVersion: string
  /** The effect of running the lambda. A use of the function `call` always counts as a write. */
  readonly effect: Effect
  readonly freeVariables: ReadonlySet<string>
}

export interface BoundLambda {
  readonly lambda: LambdaExpression
  readonly variables: Variables | undefined
}

export type Operand =
  | Expression
  | LambdaExpression
  | { readonly kind: 'list'; readonly place: Place; readonly elements: readonly Expression[] }

export type Expression =
  | Literal
  /** A literal `@ref`. The evaluation looks up the target. */
  | { readonly kind: 'reference'; readonly place: Place; readonly target: ReferenceTarget }
  | SetLiteral
  /** A literal `@query`. */
  | { readonly kind: 'query'; readonly place: Place; readonly lambda: LambdaExpression }
  | { readonly kind: 'array'; readonly place: Place; readonly elements: readonly Expression[] }
  | ObjectExpression
  | { readonly kind: 'variable'; readonly place: Place; readonly name: string }
  | LetExpression
  | CallExpression

/** The target of a reference literal, before any lookup. */
export type ReferenceTarget =
  /** A schema object by name, in the database `scope` or in the database of the request. */
  | { readonly type: SchemaKind; readonly name: string; readonly scope?: ReferenceTarget }
  | { readonly type: 'native'; readonly name: NativeName; readonly scope?: ReferenceTarget }
  | { readonly type: 'key'; readonly id: bigint; readonly scope?: ReferenceTarget }
  | { readonly type: 'document'; readonly id: bigint; readonly collection: ReferenceTarget }
  | { readonly type: 'self'; readonly collection: ReferenceTarget }
