// Reading single documents: permission before existence, at the time the query looks at.

import type { Version } from '../store/contract.ts'
import { collectionOf, native, type Ref, UnresolvedRef } from '../values/value.ts'
import { type Call, undefinedReference } from './definition.ts'
import { mayRead, permissionDenied } from './permissions.ts'
import { resourceOf } from './resources/kinds.ts'
import { notFound } from './write.ts'

/** The live version of a document the caller may read. Errors stand at the call. */
export function readDocument(ref: Ref, call: Call): Version {
  if (!mayRead(ref, call)) throw permissionDenied(call)
  const version = fetch(ref, call)
  if (!version) throw notFound(resourceOf(ref.collection), call)
  return version
}

/** The document of a set's element: reading the set was the read that counts. */
export function readElement(ref: Ref, call: Call): Version {
  if (!mayRead(ref, call)) throw permissionDenied(call)
  const { transaction, validTime } = call.evaluation
  const version = transaction.get(ref, validTime)
  if (!version) throw notFound(resourceOf(ref.collection), call)
  return version
}

/** Whether a document exists as far as the caller may know. */
export function documentExists(ref: Ref, call: Call): boolean {
  return isReachable(ref, call) && mayRead(ref, call) && fetch(ref, call) !== undefined
}

/** Reads and counts the read, once per document and query, found or not. */
function fetch(ref: Ref, call: Call): Version | undefined {
  const { transaction, validTime } = call.evaluation
  return countingRead(ref, call, () => transaction.get(ref, validTime))
}

/** Bytes of a document's key in storage. */
const documentKeyBytes = 19

/** Runs `read`, which reads one document, and counts it; one that is not there costs the bytes of its key. */
export function countingRead<T>(ref: Ref, call: Call, read: () => T): T {
  const { evaluation } = call
  const { counters } = evaluation.transaction
  const before = counters.readBytes
  const found = read()
  // What is not there is looked for in storage all the same.
  if (found === undefined) counters.readBytes += documentKeyBytes
  evaluation.countDocumentRead(ref, counters.readBytes - before)
  return found
}

/** Whether the collection of a document is still there. */
function isReachable(ref: Ref, call: Call): boolean {
  return call.evaluation.transaction.catalogue.hasCollection(ref.database, ref.collection)
}

/** Throws `invalid ref` for a document whose collection is gone. */
export function requireReachable(ref: Ref, call: Call, key: string): void {
  if (isReachable(ref, call)) return
  const name = call.evaluation.transaction.catalogue.nameOf(collectionOf(ref)) ?? String(ref.collection)
  throw undefinedReference(new UnresolvedRef({ type: 'collection', name }), call, key)
}

/** Whether a reference means a document of a user collection. */
export function isUserDocument(ref: Ref): boolean {
  return ref.collection > native.credentials
}
