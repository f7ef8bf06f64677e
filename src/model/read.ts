// Reads single documents as of the query's valid time. The permission is checked before the existence of the document,
// so errors do not reveal which documents exist.

import type { Transaction, Version } from '../storage/store/store-contract.ts'
import { collectionOf, native, type Ref } from '../values/value.ts'
import { Failure } from './failure.ts'
import { mayRead, permissionDenied } from './permissions.ts'
import type { Session } from './session.ts'

/** Throws a Failure if the caller may not read the document or it does not exist. */
export function readDocument(ref: Ref, session: Session): Version {
  if (!mayRead(ref, session)) throw permissionDenied()
  const version = fetch(ref, session)
  if (!version) throw Failure.of({ kind: 'not found', ref })
  return version
}

/** The costs are not counted, because the read of the set was counted. */
export function readElement(ref: Ref, session: Session): Version {
  if (!mayRead(ref, session)) throw permissionDenied()
  session.reads?.document(ref)
  const version = session.transaction.get(ref, session.validTime)
  if (!version) throw Failure.of({ kind: 'not found', ref })
  return version
}

/** Returns undefined if the document does not exist or the caller may not read it. */
export function findDocument(ref: Ref, session: Session): Version | undefined {
  return isReachable(ref, session) && mayRead(ref, session) ? fetch(ref, session) : undefined
}

/** Returns false if the caller may not read the document. */
export function documentExists(ref: Ref, session: Session): boolean {
  return findDocument(ref, session) !== undefined
}

/** A query that reads a document several times counts one read, even if the document is missing. */
function fetch(ref: Ref, session: Session): Version | undefined {
  return countingRead(ref, session, () => session.transaction.get(ref, session.validTime))
}

/** The size, in bytes, of a document's key in storage. */
const documentKeyBytes = 19

/**
 * Runs `read`, which is free if `isFree` returns true for the result. A missing document costs the bytes of its key.
 */
export function countingRead<T>(
  ref: Ref,
  session: Session,
  read: () => T,
  isFree: (found: T) => boolean = () => false,
): T {
  const { counters } = session.transaction
  const before = counters.readBytes
  const found = read()
  if (isFree(found)) {
    counters.readBytes = before
    return found
  }
  if (found === undefined) counters.readBytes += documentKeyBytes
  session.countDocumentRead(ref, counters.readBytes - before)
  return found
}

/** Runs a read without counting its costs. Used for results that are cached for all callers. */
export function uncounted<T>({ counters }: Pick<Transaction, 'counters'>, read: () => T): T {
  const { readBytes } = counters
  const found = read()
  counters.readBytes = readBytes
  return found
}

function isReachable(ref: Ref, { transaction }: Session): boolean {
  return transaction.catalogue.hasCollection(ref.database, ref.collection)
}

/** Throws a Failure if the collection of a document was deleted. */
export function requireReachable(ref: Ref, session: Session): void {
  if (isReachable(ref, session)) return
  throw Failure.of({ kind: 'collection gone', collection: collectionOf(ref) }, 'target')
}

export function isUserDocument(ref: Ref): boolean {
  return ref.collection > native.credentials
}
