// The questions that everything here asks about what the caller may do.

import { collectionOf, type ObjectValue, type Ref, type Value } from '../values/value.ts'
import type { ResourceAction } from './auth/contract.ts'
import { Failure, type FailurePlace } from './failure.ts'
import type { Session } from './session.ts'

/**
 * Whether the caller may do `action` to a document; predicates get `argument`. `next`: the fields that it will have, where
 * it is written.
 */
export function mayOnDocument(
  action: ResourceAction,
  ref: Ref,
  { access, asker }: Session,
  argument?: (parameterCount: number) => Value,
  next?: () => ObjectValue,
): boolean {
  if (access.allowsDocument !== undefined) return access.allowsDocument(action, ref)
  const request = { action, resource: collectionOf(ref), document: ref, asker, ...(next && { next }) }
  return access.allows({ ...request, argument: argument ?? itself(ref) })
}

/** The argument of predicates that are given the document alone. */
function itself(ref: Ref): () => Value {
  return () => ref
}

/** Whether the authority in force may read a document. */
export function mayRead(ref: Ref, session: Session): boolean {
  return mayOnDocument('read', ref, session)
}

/** The refusal of what the caller may not do. */
export function permissionDenied(place: FailurePlace = 'call'): Failure {
  return Failure.of({ kind: 'permission denied' }, place)
}
