// Checks the caller's permissions for documents.

import { collectionOf, type ObjectValue, type Ref, type Value } from '../values/value.ts'
import type { ResourceAction } from './auth/access-contract.ts'
import { Failure, type FailurePlace } from './failure.ts'
import type { Session } from './session.ts'

/**
 * `argument` returns the argument for the predicates of roles; by default the reference to the document. `next` returns
 * the fields of the document after the write.
 */
export function mayOnDocument(
  action: ResourceAction,
  ref: Ref,
  { access }: Session,
  argument?: (parameterCount: number) => Value,
  next?: () => ObjectValue,
): boolean {
  if (access.allowsDocument !== undefined) return access.allowsDocument(action, ref)
  const request = { action, resource: collectionOf(ref), document: ref, ...(next && { next }) }
  return access.allows({ ...request, argument: argument ?? (() => ref) })
}

/** Returns whether a document may be read with the current rights of the session. */
export function mayRead(ref: Ref, session: Session): boolean {
  return mayOnDocument('read', ref, session)
}

export function permissionDenied(place: FailurePlace = 'call'): Failure {
  return Failure.of({ kind: 'permission denied' }, place)
}
