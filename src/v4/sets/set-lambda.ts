// The lambdas in sets. A set contains its lambda as a value, closed and printable. While the query that contains the
// lambda literal is running, the literal itself is applied, so that errors have positions in the query.

import type { Effect } from '../../model/effect.ts'
import type { Session } from '../../model/session.ts'
import type { Lambda, Value } from '../../values/value.ts'
import { Call } from '../definition.ts'
import type { QueryError } from '../errors.ts'
import { applyLambda, applyStored, lambdaValue } from '../evaluate.ts'
import type { BoundLambda, CallExpression } from '../expression.ts'
import { compileLambda } from '../stored-code.ts'
import type { CallReading } from './call-reading.ts'

/** A lambda literal in the argument `key` of a call. */
interface WrittenLambda {
  readonly session: Session
  readonly bound: BoundLambda
  readonly call: CallExpression
  readonly key: string
}

/** The literals of set lambdas, by value. */
const writtenLambdas = new WeakMap<Lambda, WrittenLambda>()

/** The literal of a set's lambda in the query of a session; undefined for lambdas from elsewhere. */
function writtenOf(lambda: Lambda, session: Session): WrittenLambda | undefined {
  const written = writtenLambdas.get(lambda)
  return written?.session === session ? written : undefined
}

/** The value of a lambda literal in the argument `key` of a call that creates a set. */
export function setLambda(bound: BoundLambda, call: Call, key: string): Lambda {
  const lambda = lambdaValue(bound.lambda, bound.variables, call.session)
  writtenLambdas.set(lambda, { session: call.session, bound, call: call.expression, key })
  return lambda
}

/** The maximum effect of a lambda. */
export function effectOf(lambda: Lambda, session: Session): Effect {
  return (writtenOf(lambda, session)?.bound.lambda ?? compileLambda(lambda)).effect
}

export function applySetLambda(lambda: Lambda, argument: Value, { call, session }: CallReading): Value {
  const written = writtenOf(lambda, session)
  if (written) {
    const { bound, call, key } = written
    return applyLambda(bound, argument, new Call(session, call, bound.variables), key)
  }
  return applyStored(lambda, argument, session, call)
}

/** `invalid argument` at the lambda literal, or else at the call that reads the set. */
export function setLambdaError(
  lambda: Lambda,
  description: string,
  { call, session }: CallReading,
): QueryError {
  const written = writtenOf(lambda, session)
  if (!written) return call.invalid(description)
  return new Call(session, written.call, written.bound.variables).invalid(description, written.key)
}
