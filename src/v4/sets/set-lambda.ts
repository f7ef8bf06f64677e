// The lambdas that sets are made with. A set keeps its lambda as a value, closed and printable; while the query that
// wrote it runs, the lambda is applied as it was written, so errors point into the query.

import type { QueryError } from '../../errors.ts'
import type { Lambda, Value } from '../../values/value.ts'
import { Call } from '../definition.ts'
import { applyLambda, applyStored, lambdaValue } from '../evaluate.ts'
import type { Evaluation } from '../evaluation.ts'
import type { BoundLambda, Effect } from '../expression.ts'
import type { Reading } from './reading.ts'

/** The value of a lambda written in place as the argument `key` of a call that makes a set. */
export function setLambda(bound: BoundLambda, call: Call, key: string): Lambda {
  const lambda = lambdaValue(bound.lambda, bound.variables, call.evaluation)
  call.evaluation.keepWritten(lambda, { bound, call: call.expression, key })
  return lambda
}

/** The most that a lambda can do. */
export function effectOf(lambda: Lambda, evaluation: Evaluation): Effect {
  return (evaluation.writtenOf(lambda)?.bound.lambda ?? evaluation.host.compile(lambda)).effect
}

export function applySetLambda(lambda: Lambda, argument: Value, { call, evaluation }: Reading): Value {
  const written = evaluation.writtenOf(lambda)
  if (written) {
    const { bound, call, key } = written
    return applyLambda(bound, argument, new Call(evaluation, call, bound.variables), key)
  }
  return applyStored(lambda, argument, evaluation, () => call.position())
}

/** `invalid argument` where the lambda was written, or else at the call that reads the set. */
export function setLambdaError(
  lambda: Lambda,
  description: string,
  { call, evaluation }: Reading,
): QueryError {
  const written = evaluation.writtenOf(lambda)
  if (!written) return call.invalid(description)
  return new Call(evaluation, written.call, written.bound.variables).invalid(description, written.key)
}
