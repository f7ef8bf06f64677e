// The syntax tree of queries. Most nodes are function calls; the other kinds of nodes are declared here. The functions
// are declared in functions/. Each node has a place. The position of a node is computed from its place only when an
// error needs the position.

import type { Message } from '../base/message.ts'
import type { Effect } from '../model/code-interface.ts'
import type { NativeName, SchemaKind, Value } from '../values/value.ts'
import { type Position, QueryError } from './query-errors.ts'
import type { Variables } from './variables.ts'

/**
 * The place of an expression: the place of the enclosing expression, and the step from this place to the expression.
 * The root has no step.
 */
export class Place {
  readonly outer: Place | undefined
  readonly step: string | number
  constructor(outer: Place | undefined, step: string | number) {
    this.outer = outer
    this.step = step
  }

  static readonly root: Place = new Place(undefined, '')

  /** The place one step inside this place. */
  at(step: string | number): Place {
    return new Place(this, step)
  }

  /** The steps from the root of the query, followed by `further`. */
  position(...further: (string | number)[]): Position {
    const steps: (string | number)[] = []
    for (let place: Place = this; place.outer; place = place.outer) steps.push(place.step)
    return [...steps.reverse(), ...further]
  }
}

/** A parse error at a place, or at the given steps inside the place. */
export function fault(description: Message, place: Place, ...steps: (string | number)[]): QueryError {
  return QueryError.of('invalid expression', description, place.position(...steps), { rank: 'parse' })
}

/** A literal value. */
export interface Literal {
  readonly kind: 'literal'
  readonly place: Place
  readonly value: Value
}

/** A reference literal `@ref`. Its target is looked up at evaluation. */
interface ReferenceLiteral {
  readonly kind: 'reference'
  readonly place: Place
  readonly target: ReferenceTarget
}

/**
 * A set literal `@set`. `call` is a call of the function that creates the set. The arguments of the call are literals,
 * and are checked when the query is evaluated.
 */
export interface SetLiteral {
  readonly kind: 'set'
  readonly place: Place
  readonly call: CallExpression
}

/** A lambda literal `@query`. */
interface QueryLiteral {
  readonly kind: 'query'
  readonly place: Place
  readonly lambda: LambdaExpression
}

interface ArrayExpression {
  readonly kind: 'array'
  readonly place: Place
  readonly elements: readonly Expression[]
}

interface ObjectExpression {
  readonly kind: 'object'
  readonly place: Place
  readonly fields: readonly (readonly [string, Expression])[]
}

interface VariableExpression {
  readonly kind: 'variable'
  readonly place: Place
  readonly name: string
}

interface LetExpression {
  readonly kind: 'let'
  readonly place: Place
  readonly bindings: readonly (readonly [string, Expression])[]
  readonly body: Expression
}

/** The properties of a function that expressions need; `definition.ts` has the whole definition. */
export interface FunctionHeader {
  /** The leading wire key, which is the name for users. */
  readonly name: string
  /** The wire keys of the function's arguments, in order. */
  readonly keys: readonly string[]
}

/** A call of a registered function. The operands have the order of the definition; omitted operands are undefined. */
export interface CallExpression {
  readonly kind: 'call'
  readonly place: Place
  readonly definition: FunctionHeader
  readonly operands: readonly (Operand | undefined)[]
}

/**
 * A lambda in a query. It is a part of the syntax tree, not a value. The function `query` converts a lambda to a value.
 */
export interface LambdaExpression {
  readonly kind: 'lambda'
  readonly place: Place
  readonly parameters: string | readonly string[]
  readonly body: Expression
  /** The API version under which the lambda was parsed. The API version of a lambda never changes. */
  readonly apiVersion: string
  /** The effect of running the lambda. A `call` counts as a write, whatever the called function does. */
  readonly effect: Effect
  /** The variables that the lambda uses and that are bound outside of the lambda. */
  readonly freeVariables: ReadonlySet<string>
}

/** A lambda with the variables in its scope. */
export interface BoundLambda {
  readonly lambda: LambdaExpression
  readonly variables: Variables | undefined
}

/** An operand of a call: an expression, a lambda, or a list of separate expressions. */
export type Operand =
  | Expression
  | LambdaExpression
  | { readonly kind: 'list'; readonly place: Place; readonly elements: readonly Expression[] }

export type Expression =
  | Literal
  | ReferenceLiteral
  | SetLiteral
  | ArrayExpression
  | ObjectExpression
  | VariableExpression
  | LetExpression
  | QueryLiteral
  | CallExpression

/** The target of a reference literal, before any lookup. */
export type ReferenceTarget =
  /** A schema object by name, in the given database or in the database of the request. */
  | { readonly type: SchemaKind; readonly name: string; readonly scope?: ReferenceTarget }
  | { readonly type: 'native'; readonly name: NativeName; readonly scope?: ReferenceTarget }
  | { readonly type: 'key'; readonly id: bigint; readonly scope?: ReferenceTarget }
  | { readonly type: 'document'; readonly id: bigint; readonly collection: ReferenceTarget }
  | { readonly type: 'self'; readonly collection: ReferenceTarget }
