// A call under way, and with it the place where evaluation stands: the links outwards are the trace of an error, and
// what holds for everything inside (effects, time, depth) is inherited from call to call.

import type { Micros } from '../values/value.ts'
import { type Diagnostic, type FailureCode, QueryFailure, type Remark } from './failure/failure.ts'
import type { Source, Span } from './syntax/source.ts'
import { type FunctionValue, literalNull, NullValue, typeName, type Value } from './value.ts'

/** What a call may do, each more than the one before. */
export type Effect = 'pure' | 'observation' | 'read' | 'write'

const effectOrder: Readonly<Record<Effect, number>> = { pure: 0, observation: 1, read: 2, write: 3 }
const effectNames: Readonly<Record<Effect, string>> = {
  pure: 'nothing',
  observation: 'an observation',
  read: 'a read',
  write: 'a write',
}

/** Where evaluation happens, when that forbids effects; the words appear in the error. */
export interface EffectLimit {
  readonly effect: Effect
  readonly place:
    | 'set functions'
    | 'computed fields'
    | 'check constraints'
    | 'auth predicates'
    | 'default values'
}

/** What one query's evaluation keeps, and what it can do for functions of the library. */
export interface Evaluation {
  /** The time of the snapshot. */
  readonly now: Micros
  /** Applies a function; its errors have the call in their trace. The count of arguments must fit. */
  apply(callee: FunctionValue, args: readonly Value[], call: Call): Value
  /** Counts compute: 1 for each call of a function. Throws past the limit. */
  compute(units: number): void
  /** Adds a line or a drawing to the summary, behind those before. */
  tell(diagnostic: Diagnostic): void
  /** A new id, the same when the query is replayed. */
  newId(): bigint
}

/** What differs from the call around it. */
interface CallOptions {
  readonly depth?: number
  readonly limit?: EffectLimit | undefined
  readonly at?: Micros | undefined
}

/** A call of a function, of an operator, of a lambda. */
export class Call {
  readonly evaluation: Evaluation
  readonly outer: Call | undefined
  /** The text that is evaluated within this call. */
  readonly source: Source
  /** The argument list; undefined where the trace shows nothing. */
  readonly span: Span | undefined
  /** How many lambdas and user functions are around. */
  readonly depth: number
  readonly limit: EffectLimit | undefined
  /** The time that reads look at, within an `at`. */
  readonly at: Micros | undefined

  constructor(
    evaluation: Evaluation,
    outer: Call | undefined,
    source: Source,
    span: Span | undefined,
    options: CallOptions = {},
  ) {
    this.evaluation = evaluation
    this.outer = outer
    this.source = source
    this.span = span
    this.depth = options.depth ?? outer?.depth ?? 0
    this.limit = 'limit' in options ? options.limit : outer?.limit
    this.at = 'at' in options ? options.at : outer?.at
  }

  /** A failure at the argument list of this call; throw it. */
  failure(code: FailureCode, message: string, remarks: readonly Remark[] = []): QueryFailure {
    return failureAt(code, message, this.span, this.outer, remarks)
  }

  /** The failure of an argument whose value is not taken: ``invalid argument `x`: x must be positive``. */
  invalidArgument(parameter: string, reason: string): QueryFailure {
    return this.failure('invalid_argument', `invalid argument \`${parameter}\`: ${reason}`)
  }

  /** Null because there is nothing to give; `reason` ends the sentence `Null value, due to …`. */
  nothing(reason: string): NullValue {
    return new NullValue({ type: 'no element', reason }, this.span)
  }

  /** The null that functions give who have nothing to give. */
  done(): NullValue {
    return new NullValue(literalNull, this.span)
  }

  /** Applies a function that was given as an argument; the parameter's type has checked its arity. */
  apply(callee: FunctionValue, ...args: Value[]): Value {
    return this.evaluation.apply(callee, args, this)
  }

  /** Applies a predicate: null counts as false. */
  holds(predicate: FunctionValue, ...args: Value[]): boolean {
    const result = this.evaluation.apply(predicate, args, this)
    if (typeof result === 'boolean') return result
    if (result === null || result instanceof NullValue) return false
    throw this.mismatch('Boolean', result)
  }

  /** The failure of a value of the wrong type that is no argument. */
  mismatch(expected: string, received: Value): QueryFailure {
    return this.failure('type_mismatch', `expected type: ${expected}, received ${typeName(received)}`)
  }

  /** Throws unless the place allows the effect; `action` as the message says it: `` `now` ``, `Projection`. */
  requireEffect(effect: Effect, action: string): void {
    const { limit } = this
    if (limit === undefined || effectOrder[effect] <= effectOrder[limit.effect]) return
    const message = `${action} performs ${effectNames[effect]}, which is not allowed in ${limit.place}.`
    throw this.failure('invalid_effect', message)
  }
}

/** A failure at a place within a call: the calls around it are its trace. */
export function failureAt(
  code: FailureCode,
  message: string,
  span: Span | undefined,
  within: Call | undefined,
  remarks: readonly Remark[] = [],
): QueryFailure {
  return new QueryFailure(code, message, [{ name: 'error', message, span, remarks, trace: traceOf(within) }])
}

/** The argument lists of a call and of those around it, innermost first. */
export function traceOf(call: Call | undefined): (Span | undefined)[] {
  const trace: (Span | undefined)[] = []
  for (let each = call; each !== undefined; each = each.outer)
    if (each.span !== undefined) trace.push(each.span)
  return trace
}
