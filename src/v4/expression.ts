// What a query is parsed into: a small closed tree. Everything but the few forms here is a function call; the
// functions themselves live in functions/<family>.ts. Nodes know their place, so an error position costs nothing
// until it is needed.

import type { Effect } from '../model/effect.ts'
import type { NativeName, SchemaKind, Value } from '../values/value.ts'
import { type Position, QueryError } from './errors.ts'
import type { Variables } from './variables.ts'

/** Where an expression stands: a step from the place around it. The root has no step. */
export class Place {
  readonly outer: Place | undefined
  readonly step: string | number
  constructor(outer: Place | undefined, step: string | number) {
    this.outer = outer
    this.step = step
  }

  static readonly root: Place = new Place(undefined, '')

  /** The place one step further in. */
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

/** The error for something that cannot be parsed, at a place or below it. */
export function fault(description: string, place: Place, ...steps: (string | number)[]): QueryError {
  return QueryError.of('invalid expression', description, place.position(...steps), { rank: 'parse' })
}

/** A value that stands for itself. */
export interface Literal {
  readonly kind: 'literal'
  readonly place: Place
  readonly value: Value
}

/** A reference written out as `@ref`; which document it means is looked up when it is evaluated. */
interface ReferenceLiteral {
  readonly kind: 'reference'
  readonly place: Place
  readonly target: ReferenceTarget
}

/** A set written out as `@set`: a call of the function that makes it, of literals that are checked when it is evaluated. */
export interface SetLiteral {
  readonly kind: 'set'
  readonly place: Place
  readonly call: CallExpression
}

/** A lambda written out as `@query`. */
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

/** The function of a call, as far as expressions know it: `definition.ts` declares functions whole. */
export interface CalledFunction {
  /** The leading wire key, by which users know the function. */
  readonly name: string
  /** The wire keys of its arguments, in order. */
  readonly keys: readonly string[]
}

/** A call of a registered function; arguments in the order of its definition, absent ones undefined. */
export interface CallExpression {
  readonly kind: 'call'
  readonly place: Place
  readonly definition: CalledFunction
  readonly operands: readonly (Operand | undefined)[]
}

/** A lambda written in place; a value only through `query`. */
export interface LambdaExpression {
  readonly kind: 'lambda'
  readonly place: Place
  readonly parameters: string | readonly string[]
  readonly body: Expression
  /** The version under which it was parsed, which it keeps forever. */
  readonly apiVersion: string
  /** What running it may do; `call` counts as a write, whatever the called function does. */
  readonly effect: Effect
  /** Its variables bound outside of it. */
  readonly freeVariables: ReadonlySet<string>
}

/** A lambda together with the variables around it. */
export interface BoundLambda {
  readonly lambda: LambdaExpression
  readonly variables: Variables | undefined
}

/** What stands in an argument's place: an expression, a lambda, or a list that keeps its elements apart. */
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

/** What a written reference names: like an unresolved reference, before anything was looked up. */
export type ReferenceTarget =
  /** A schema object by name, in a database of its own or that of the request. */
  | { readonly type: SchemaKind; readonly name: string; readonly scope?: ReferenceTarget }
  | { readonly type: 'native'; readonly name: NativeName; readonly scope?: ReferenceTarget }
  | { readonly type: 'key'; readonly id: bigint; readonly scope?: ReferenceTarget }
  | { readonly type: 'document'; readonly id: bigint; readonly collection: ReferenceTarget }
  | { readonly type: 'self'; readonly collection: ReferenceTarget }
