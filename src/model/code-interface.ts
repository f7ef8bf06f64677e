// The interface of stored code: the arguments of code and predicates, the effects of code on data, and the limits on
// these effects.

import type { Code } from '../values/code.ts'
import { DocumentValue, isArray, isObject, TransactionTime, type Value } from '../values/value.ts'
import type { AccessRequest, PredicateSubject } from './auth/access-contract.ts'

/** The strongest effect that a function or other code may have. */
export type Effect = 'pure' | 'read' | 'write'

/** A use of code in which the effects of the code are limited. */
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
 * The arguments of code: a list with one value per parameter, or one value for all parameters. A call in version 4
 * passes one value. If the called code has several parameters, the value is an array with one element per parameter.
 * The code of each language accepts both forms.
 */
export type CodeArguments =
  | {
      readonly list: readonly Value[]
      /** If true, code reads the documents in the list as they are passed, even if the stored documents differ. */
      readonly areVersions?: true
    }
  | { readonly one: Value }

/**
 * Returns the documents that are passed to a predicate. For a write, these are the versions before and after the write.
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

/**
 * Returns the arguments of a predicate. A predicate for the action `call` takes the arguments of the called function.
 */
export function predicateArguments(
  { language }: Code,
  { predicatesTakeDocuments }: { readonly predicatesTakeDocuments?: true },
  parameterCount: () => number,
  argument: AccessRequest['argument'],
  about: PredicateSubject | undefined,
): CodeArguments {
  if (about?.passed !== undefined) return { list: about.passed(language) }
  if (!predicatesTakeDocuments || about?.action === 'call') return { one: argument(parameterCount()) }
  return { list: documentsOf(argument, about), areVersions: true }
}
