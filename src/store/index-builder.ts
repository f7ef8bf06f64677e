// Builds indexes over documents that were there before them, all stored versions at their own times. Few
// documents are indexed in the transaction that creates the index; for more, progress is stored and batches
// follow in the background, each a transaction of its own, so a crash loses at most one batch. Writes made
// meanwhile are indexed at once; a batch puts down a document's complete rows, whatever is already there.

import { buildKey, tagRange } from '../keys/keyspace.ts'
import type { View } from '../kv/contract.ts'
import { limits } from '../limits.ts'
import { type CollectionId, type DatabaseId, native, Ref } from '../values/value.ts'
import { namedCollections } from './definitions.ts'
import type { WriteContext } from './document-writer.ts'
import { everyDocument, storedVersionsAscending } from './documents.ts'
import { type IndexTables, timelineRows, userIndex } from './index-tables.ts'
import type { Overlay } from './overlay.ts'
import { decodeVersion, idAt } from './records.ts'
import type { Snapshot } from './snapshot.ts'
import type { StoreTransaction } from './transaction.ts'

/** Documents whose index rows one background transaction writes, unless their versions are many. */
const batchDocumentsMax = 256
const batchVersionsMax = 1024

type BuildContext = Omit<WriteContext, 'schemaWritten'>

/** Whether the documents and versions of some collections are few enough to be indexed at once. */
export function fitsOneTransaction(
  snapshot: Snapshot,
  database: DatabaseId,
  collections: readonly CollectionId[],
): boolean {
  let versions = 0
  for (const collection of collections) {
    for (const ref of everyDocument(snapshot, database, collection)) {
      for (const _ of storedVersionsAscending(snapshot, ref)) {
        if (++versions > limits.synchronousIndexBuildMax) return false
      }
    }
  }
  return true
}

/** Indexes all stored versions of some collections within the running transaction. */
export function buildNow(
  context: BuildContext,
  database: DatabaseId,
  collections: readonly CollectionId[],
  index: IndexTables,
): void {
  for (const collection of collections) {
    for (const ref of everyDocument(context.snapshot, database, collection)) {
      context.snapshot.counters.indexUnits += index.width * indexDocument(context, ref, index)
    }
  }
}

/** Writes all rows a document has in an index. Answers how many versions it has. */
function indexDocument({ snapshot, overlay }: BuildContext, ref: Ref, index: IndexTables): number {
  const versions = Array.from(storedVersionsAscending(snapshot, ref), stored => decodeVersion(ref, stored))
  for (const { key, value } of timelineRows(index, versions).values()) overlay.set(key, value)
  return versions.length
}

/** Registers a build in the background; it begins with the first document of the first collection. */
export function beginBuild(overlay: Overlay, index: Ref): void {
  overlay.set(buildKey(index.database, Number(index.id)), encodeProgress(0, 0n))
}

function encodeProgress(collection: CollectionId, id: bigint): Uint8Array {
  const bytes = new Uint8Array(10)
  const view = new DataView(bytes.buffer)
  view.setUint16(0, collection)
  view.setBigUint64(2, id)
  return bytes
}

interface Build {
  readonly index: Ref
  /** Where the next batch begins. */
  readonly collection: CollectionId
  readonly id: bigint
}

/** The database and number of an index in the key of its build: behind the tag. */
function decodeBuild(key: Uint8Array, value: Uint8Array): Build {
  const number = new DataView(key.buffer, key.byteOffset + 9, 4).getUint32(0)
  const collection = new DataView(value.buffer, value.byteOffset, 2).getUint16(0)
  return { index: new Ref(idAt(key, 1), native.indexes, BigInt(number)), collection, id: idAt(value, 2) }
}

/** The builds under way in a state. */
export function pendingBuildsIn(view: View): Build[] {
  return Array.from(view.range(tagRange('build')), ({ key, value }) => decodeBuild(key, value))
}

/** Continues one build by a batch inside `transaction`; when nothing is left, the index becomes active. */
export function continueBuild(transaction: StoreTransaction, index: Ref): void {
  const { context } = transaction.internals()
  const { catalogue } = transaction
  const key = buildKey(index.database, Number(index.id))
  const progress = context.overlay.get(key)
  const definition = catalogue.index(index)
  if (progress === undefined) return
  if (definition === undefined) {
    context.overlay.set(key, undefined)
    return
  }
  const from = decodeBuild(key, progress)
  const tables = userIndex(definition, context.hooks)
  const collections = [...(namedCollections(definition) ?? catalogue.collectionsOf(index.database))].sort(
    (left, right) => left - right,
  )
  let documents = 0
  let versions = 0
  for (const collection of collections) {
    if (collection < from.collection) continue
    const first = collection === from.collection ? from.id : 0n
    for (const ref of everyDocument(context.snapshot, index.database, collection, { first, last: idMax })) {
      if (documents >= batchDocumentsMax || versions >= batchVersionsMax) {
        context.overlay.set(key, encodeProgress(collection, ref.id))
        return
      }
      documents++
      versions += indexDocument(context, ref, tables)
    }
  }
  context.overlay.set(key, undefined)
  const current = transaction.get(index)
  if (current !== undefined) transaction.put(index, new Map(current.fields).set('active', true))
}

const idMax = (1n << 64n) - 1n
