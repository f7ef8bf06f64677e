// The interface of stored code: the arguments of code and of predicates, the effects of code on the data, and the
// places that limit these effects.

import type { Code } from '../values/code.ts'
import { DocumentValue, isArray, isObject, TransactionTime, type Value } from '../values/value.ts'
import type { AccessRequest, PredicateSubject } from './auth/access-contract.ts'

/** The strongest effect that a function or a piece of code may have. */
export type Effect = 'pure' | 'read' | 'write'

/** A place of evaluation that limits effects. */
export type EffectPlace =
  | 'get requests'
  | 'stream requests'
  | 'auth predicates'
  | 'index bindings'
  | 'default values'
  | 'check constraints'

const order: Readonly<Record<Effect, number>> = { pure: 0, read: 1, write: 2 }

/** Returns whether an effect is stronger than a limit allows. */
export function exceeds(effect: Effect, limit: Effect): boolean {
  return order[effect] > order[limit]
}

/**
 * The arguments of code: a list, or one value for all parameters, as in a call of version 4. In version 4, code with
 * several parameters takes its arguments from the elements of an array. Each language accepts both forms.
 */
export type CodeArguments =
  | {
      readonly list: readonly Value[]
      /** Code sees the documents in the list as passed here, even if the stored documents differ. */
      readonly areVersions?: true
    }
  | { readonly one: Value }

/** The documents that are passed to a predicate. For a write, these are the versions before and after the write. */
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

/** The arguments of a predicate. A predicate for the action `call` takes the arguments of the called function. */
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
