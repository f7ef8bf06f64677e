// Reading single documents: permission before existence, at the time the query looks at.

import type { Transaction, Version } from '../storage/store/contract.ts'
import { collectionOf, native, type Ref } from '../values/value.ts'
import { Failure } from './failure.ts'
import { mayRead, permissionDenied } from './permissions.ts'
import type { Session } from './session.ts'

/** The live version of a document the caller may read. */
export function readDocument(ref: Ref, session: Session): Version {
  if (!mayRead(ref, session)) throw permissionDenied()
  const version = fetch(ref, session)
  if (!version) throw Failure.of({ kind: 'not found', ref })
  return version
}

/** The document of a set's element: reading the set was the read that counts. */
export function readElement(ref: Ref, session: Session): Version {
  if (!mayRead(ref, session)) throw permissionDenied()
  session.reads?.document(ref)
  const version = session.transaction.get(ref, session.validTime)
  if (!version) throw Failure.of({ kind: 'not found', ref })
  return version
}

/** Whether a document exists as far as the caller may know. */
export function documentExists(ref: Ref, session: Session): boolean {
  return isReachable(ref, session) && mayRead(ref, session) && fetch(ref, session) !== undefined
}

/** Reads and counts the read, once per document and query, found or not. */
function fetch(ref: Ref, session: Session): Version | undefined {
  return countingRead(ref, session, () => session.transaction.get(ref, session.validTime))
}

/** Bytes of a document's key in storage. */
const documentKeyBytes = 19

/**
 * Runs `read`, which reads one document, and counts it, unless it `isFree`; one that is not there costs the bytes of its
 * key.
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
  // What is not there is looked for in storage all the same.
  if (found === undefined) counters.readBytes += documentKeyBytes
  session.countDocumentRead(ref, counters.readBytes - before)
  return found
}

/** Reads what is remembered for all callers: it counts for no query. */
export function uncounted<T>({ counters }: Pick<Transaction, 'counters'>, read: () => T): T {
  const { readBytes } = counters
  const found = read()
  counters.readBytes = readBytes
  return found
}

/** Whether the collection of a document is still there. */
function isReachable(ref: Ref, { transaction }: Session): boolean {
  return transaction.catalogue.hasCollection(ref.database, ref.collection)
}

/** Refuses a document whose collection is gone. */
export function requireReachable(ref: Ref, session: Session): void {
  if (isReachable(ref, session)) return
  throw Failure.of({ kind: 'collection gone', collection: collectionOf(ref) }, 'target')
}

/** Whether a reference means a document of a user collection. */
export function isUserDocument(ref: Ref): boolean {
  return ref.collection > native.credentials
}
