// The interface of stored code: arguments, effects, and limits of effects.

import type { Code } from '../values/code.ts'
import { DocumentValue, isArray, isObject, TransactionTime, type Value } from '../values/value.ts'
import type { AccessRequest, PredicateSubject } from './auth/access-contract.ts'

/** The strongest possible effect of a function or other code. */
export type Effect = 'pure' | 'read' | 'write'

/** Names a kind of code or request whose effects are limited. Error texts contain these names. */
export type EffectPlace =
  | 'get requests'
  | 'stream requests'
  | 'auth predicates'
  | 'index bindings'
  | 'default values'
  | 'check constraints'

const order: Readonly<Record<Effect, number>> = { pure: 0, read: 1, write: 2 }

/** Returns whether `effect` is stronger than `limit`. */
export function exceeds(effect: Effect, limit: Effect): boolean {
  return order[effect] > order[limit]
}

/**
 * A `list` with a value for each parameter, or `one` value. Calls in version 4 pass one value; for several parameters,
 * it is an array. The code of each language accepts both forms.
 */
export type CodeArguments =
  | {
      readonly list: readonly Value[]
      /** The list contains document versions, which the code uses instead of the stored documents. */
      readonly areVersions?: true
    }
  | { readonly one: Value }

/**
 * For a write, a predicate receives the versions before and after the write. The number that is passed to `argument` is
 * the usual number of parameters of a predicate for the action.
 */
function documentsOf(
  argument: AccessRequest['argument'],
  { action, document, next }: Partial<PredicateSubject> = {},
): readonly Value[] {
  const version = (fields: Value | undefined): Value =>
    document !== undefined && isObject(fields)
      ? new DocumentValue(document, TransactionTime.time, fields)
      : (fields ?? null)
  const list = (value: Value) => (isArray(value) ? value : [value])
  switch (action) {
    case 'create':
    case 'create_with_id':
      return [version(argument(1))]
    case 'write': {
      const [before = null, after = null] = list(argument(2))
      return [before, next?.() ?? after].map(version)
    }
    case 'history_write':
      return list(argument(4))
    default:
      return [argument(1)]
  }
}

/** A predicate for the action `call` receives the arguments of the called function. */
export function predicateArguments(
  { language }: Code,
  { predicatesTakeDocuments }: { readonly predicatesTakeDocuments?: true },
  parameterCount: () => number,
  argument: AccessRequest['argument'],
  subject: PredicateSubject | undefined,
): CodeArguments {
  if (subject?.passed !== undefined) return { list: subject.passed(language) }
  if (!predicatesTakeDocuments || subject?.action === 'call') return { one: argument(parameterCount()) }
  return { list: documentsOf(argument, subject), areVersions: true }
}
