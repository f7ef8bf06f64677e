// Reads a set for a call, and applies the lambdas of the set. Errors in a lambda have a position in the running query
// if the query contains the literal of the lambda, else a position relative to the lambda. Other errors have the
// position of the call.

import { catchError } from '../../base/catch-error.ts'
import type { Message } from '../../base/message.ts'
import type { Effect } from '../../model/code-interface.ts'
import type { Session } from '../../model/session.ts'
import { readableDocuments } from '../../model/sets/access.ts'
import { Reading } from '../../model/sets/reading.ts'
import type { Lambda, Ref, Value } from '../../values/value.ts'
import { Call } from '../definition.ts'
import { applyLambda, applyStored, lambdaValue } from '../evaluate.ts'
import type { BoundLambda, CallExpression } from '../expression.ts'
import { QueryError } from '../query-errors.ts'
import { compileLambda } from '../stored-code.ts'

export class CallReading extends Reading {
  readonly call: Call

  constructor(call: Call, at: number | undefined, counts?: Reading['counts']) {
    super(call.session, at, counts)
    this.call = call
  }

  /** Reads as of the valid time of the call. */
  static of(call: Call): CallReading {
    return new CallReading(call, call.session.validTime)
  }

  override asOf(at: number | undefined): CallReading {
    return new CallReading(this.call, at, this.counts)
  }
}

interface LambdaLiteral {
  readonly session: Session
  readonly bound: BoundLambda
  readonly call: CallExpression
  readonly key: string
}

/** The literal from which each lambda value in a set was created. */
const literals = new WeakMap<Lambda, LambdaLiteral>()

/** Returns undefined if the literal is not in the query of the session. */
function literalOf(lambda: Lambda, session: Session): LambdaLiteral | undefined {
  const literal = literals.get(lambda)
  return literal?.session === session ? literal : undefined
}

/** Converts a lambda literal in the argument `key` of a call to a value for a set. */
export function setLambda(bound: BoundLambda, call: Call, key: string): Lambda {
  const lambda = lambdaValue(bound.lambda, bound.variables, call.session)
  literals.set(lambda, { session: call.session, bound, call: call.expression, key })
  return lambda
}

export function effectOf(lambda: Lambda, session: Session): Effect {
  return (literalOf(lambda, session)?.bound.lambda ?? compileLambda(lambda)).effect
}

/**
 * Applies the lambda literal if it is in the running query, so that errors have positions in the query. Otherwise,
 * applies the value.
 */
export function applySetLambda(lambda: Lambda, argument: Value, { call, session }: CallReading): Value {
  const literal = literalOf(lambda, session)
  if (literal) {
    const { bound, call, key } = literal
    return applyLambda(bound, argument, new Call(session, call, bound.variables), key)
  }
  return applyStored(lambda, argument, session, call)
}

/** The position is the lambda literal if it is in the running query, else the call that reads the set. */
export function setLambdaError(
  lambda: Lambda,
  description: Message,
  { call, session }: CallReading,
): QueryError {
  const literal = literalOf(lambda, session)
  if (!literal) return call.invalid(description)
  return new Call(session, literal.call, literal.bound.variables).invalid(description, literal.key)
}

/**
 * For lambdas that get all elements of a set, also those whose documents the caller may not read. An error can contain
 * the values of its element, so `otherwise` is the result if such an element causes an error.
 */
export function withoutHiddenErrors<E extends { readonly document: Ref }, T, O>(
  apply: (element: E) => T,
  otherwise: O,
  { session }: CallReading,
): (element: E) => T | O {
  const isReadable = readableDocuments(session)
  return element =>
    catchError(
      QueryError,
      () => apply(element),
      error => {
        if (isReadable(element.document)) throw error
        return otherwise
      },
    )
}
