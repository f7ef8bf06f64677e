// The questions that functions ask about what the caller may do, in the words of the functions.

import type { ResourceAction } from '../auth/contract.ts'
import type { QueryError } from '../errors.ts'
import { collectionOf, type Ref, type Value } from '../values/value.ts'
import type { Call } from './definition.ts'

/** Whether the caller may do `action` to a document; predicates get `argument`. */
export function mayOnDocument(
  action: ResourceAction,
  ref: Ref,
  call: Call,
  argument: (parameterCount: number) => Value = () => ref,
): boolean {
  const resource = collectionOf(ref)
  return call.evaluation.access.allows({ action, resource, document: ref, argument, asker: call })
}

/** Whether the authority in force may read a document. */
export function mayRead(ref: Ref, call: Call): boolean {
  return mayOnDocument('read', ref, call)
}

/** The error for everything that is refused. */
export function permissionDenied(call: Call, ...at: (string | number)[]): QueryError {
  return call.error('permission denied', 'Insufficient privileges to perform the action.', ...at)
}
