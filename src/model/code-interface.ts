// The interface of stored code: its arguments, the arguments with which predicates are called, the effects that code
// may have on the data, and the places that limit them.

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
 * The arguments of code: a list, or one value for all parameters, as in a call of version 4. There, code with several
 * parameters takes its arguments from the elements of an array. Each language accepts both forms.
 */
export type CodeArguments =
  | {
      readonly list: readonly Value[]
      /** Code sees the documents in the list as passed here, even if the stored ones differ. */
      readonly areVersions?: true
    }
  | { readonly one: Value }

/** The documents that a predicate takes. For a write, they are the versions before and after. */
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

/** The arguments of a predicate. A predicate about a call takes the arguments of the function. */
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
