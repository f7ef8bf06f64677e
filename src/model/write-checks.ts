// Checks before a write: references, the database and time of the write, staged schemas, containers, ids.

import { type CollectionId, type DatabaseId, native, type ObjectValue, type Ref } from '../values/value.ts'
import { Failure, type FailurePlace, type Fault } from './failure.ts'
import type { Resource } from './resources/resource.ts'
import { referenceFailures } from './resources/written-references.ts'
import { isStaged } from './schema/schema-files.ts'
import type { Session } from './session.ts'

/** Rejects invalid references in `params`, and a `target` in another database. */
export function rejectReferences(
  params: ObjectValue,
  resource: Resource,
  session: Session,
  target?: Ref,
): void {
  const failures = referenceFailures(params, session, resource.strictReferences === true)
  const isForeign = target !== undefined && target.database !== session.database
  if (!isForeign && failures.length === 0) return
  const faults: (Fault & { readonly place: FailurePlace })[] = []
  if (isForeign) faults.push({ kind: 'other database', place: 'target' })
  if (failures.length > 0) faults.push({ kind: 'invalid fields', failures, place: 'call' })
  throw new Failure(faults)
}

export function rejectForeign(database: DatabaseId, session: Session): void {
  if (database !== session.database) throw Failure.of({ kind: 'other database' }, 'target')
}

/** The collections of definitions that cannot change while a schema is staged. */
const definitions: ReadonlySet<CollectionId> = new Set([
  native.collections,
  native.indexes,
  native.functions,
  native.roles,
  native.access_providers,
])

/**
 * Only version 4 returns this error, because version 10 changes the staged schema instead. The hosted service had the
 * same rule.
 */
export function rejectWhileStaged(collection: CollectionId, session: Session): void {
  if (definitions.has(collection) && isStaged(session)) throw Failure.of({ kind: 'staged schema' })
}

export function rejectInContainer(database: DatabaseId, resource: Resource, { transaction }: Session): void {
  if (resource.allowedInContainer || !transaction.catalogue.database(database)?.container) return
  throw Failure.of({ kind: 'in container' }, 'target')
}

/** References may contain negative ids, but ids of documents are at least 0. */
export function rejectNegativeId(id: bigint, place: FailurePlace = 'call'): void {
  if (id < 0n) throw Failure.of({ kind: 'negative id', id }, place)
}

/** Rejects writes inside `at`. */
export function rejectOtherTime(session: Session, place: FailurePlace = 'call'): void {
  if (session.validTime !== undefined) throw Failure.of({ kind: 'other time' }, place)
}
