// Reads a set for a function call, and applies the lambdas that the set contains. Errors have the position of the call.

import type { Message } from '../../base/message.ts'
import type { Effect } from '../../model/code-interface.ts'
import type { Session } from '../../model/session.ts'
import { Reading } from '../../model/sets/reading.ts'
import type { Lambda, Value } from '../../values/value.ts'
import { Call } from '../definition.ts'
import { applyLambda, applyStored, lambdaValue } from '../evaluate.ts'
import type { BoundLambda, CallExpression } from '../expression.ts'
import type { QueryError } from '../query-errors.ts'
import { compileLambda } from '../stored-code.ts'

/** A {@link Reading}, with the call that reads the set. */
export class CallReading extends Reading {
  readonly call: Call

  constructor(
    call: Call,
    ...reading: ConstructorParameters<typeof Reading> extends [unknown, ...infer R] ? R : never
  ) {
    super(call.session, ...reading)
    this.call = call
  }

  /** Begins a reading at the valid time of the call. */
  static of(call: Call, hidden: Reading['hidden'] = 'left out'): CallReading {
    return new CallReading(call, call.session.validTime, hidden)
  }

  override asOf(at: number | undefined): CallReading {
    return new CallReading(this.call, at, this.hidden, ...this.counts)
  }
}

/** A lambda literal in the argument `key` of a call. */
interface LambdaLiteral {
  readonly session: Session
  readonly bound: BoundLambda
  readonly call: CallExpression
  readonly key: string
}

/** For each lambda value in a set, the literal from which the value was created. */
const literals = new WeakMap<Lambda, LambdaLiteral>()

/** The literal of a set's lambda in the query of a session; undefined for lambdas that do not come from this query. */
function literalOf(lambda: Lambda, session: Session): LambdaLiteral | undefined {
  const literal = literals.get(lambda)
  return literal?.session === session ? literal : undefined
}

/** The value of a lambda literal in the argument `key` of a call that creates a set. */
export function setLambda(bound: BoundLambda, call: Call, key: string): Lambda {
  const lambda = lambdaValue(bound.lambda, bound.variables, call.session)
  literals.set(lambda, { session: call.session, bound, call: call.expression, key })
  return lambda
}

/** The maximum effect of a lambda. */
export function effectOf(lambda: Lambda, session: Session): Effect {
  return (literalOf(lambda, session)?.bound.lambda ?? compileLambda(lambda)).effect
}

/**
 * Applies the lambda of a set. A set contains its lambda as a value, closed and printable. While the query that
 * contains the lambda literal is running, the literal itself is applied, so that errors have positions in the query.
 */
export function applySetLambda(lambda: Lambda, argument: Value, { call, session }: CallReading): Value {
  const literal = literalOf(lambda, session)
  if (literal) {
    const { bound, call, key } = literal
    return applyLambda(bound, argument, new Call(session, call, bound.variables), key)
  }
  return applyStored(lambda, argument, session, call)
}

/**
 * The error `invalid argument`. Its position is the lambda literal if the literal is in this query, otherwise the call
 * that reads the set.
 */
export function setLambdaError(
  lambda: Lambda,
  description: Message,
  { call, session }: CallReading,
): QueryError {
  const literal = literalOf(lambda, session)
  if (!literal) return call.invalid(description)
  return new Call(session, literal.call, literal.bound.variables).invalid(description, literal.key)
}
