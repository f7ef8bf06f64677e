// Rewrites stored versions to the present shape (the structure of fields) of their collection, in the background and in
// small transactions. Reads do not wait for the rewriting, because a read migrates old versions in memory. After the
// rewriting, reads need no migration, and the next change of the collection's definition drops the migration steps that
// no stored version needs.
//
// Rewriting changes no times, actions or rows of indexes, so streams do not report rewritten versions. The newest
// versions of documents are rewritten before the history. If a version is superseded before its rewriting, it moves to
// the history and is rewritten there.

import { keyAfter } from '../../base/bytes.ts'
import { type CollectionId, type DatabaseId, firstUserCollection, native, Ref } from '../../values/value.ts'
import { decodeKey, documentOf } from '../keys/key-reader.ts'
import { buildKey, collectionHistoryRange, documentRange, documentsIndex } from '../keys/keyspace.ts'
import { intervalsFrom } from '../keys/prefix.ts'
import type { Entry, View } from '../kv/kv-contract.ts'
import type { Overlay } from '../kv/overlay.ts'
import { Batch } from './batch.ts'
import { BuildFailure } from './index-builder.ts'
import { encodeVersion } from './records.ts'
import type { Rows } from './rows.ts'
import { checkWrites } from './transaction-limits.ts'

/**
 * The row contains the progress of a collection's rewriting. It exists while some versions may have an earlier shape.
 */
export function rewriteKey(database: DatabaseId, collection: CollectionId): Uint8Array {
  return buildKey(database, documentsIndex(collection))
}

/** The collection whose versions a background build rewrites. Undefined if the build fills an index. */
export function rewrittenCollection({ id }: Ref): CollectionId | undefined {
  const collection = Number(id) - documentsIndex(0)
  return collection < firstUserCollection ? undefined : collection
}

/** Registers the rewriting of all versions. If it is already running, it starts again from the first version. */
export function beginRewrite(overlay: Overlay, database: DatabaseId, collection: CollectionId): void {
  overlay.set(rewriteKey(database, collection), documentRange(database, collection).start)
}

/**
 * Undefined if no rewriting is running. `id`: the document at which the last batch ended. `isPast`: whether the
 * rewriting has reached the history.
 */
export function rewriteProgress(
  view: Pick<View, 'get'>,
  database: DatabaseId,
  collection: CollectionId,
): { readonly id: bigint; readonly isPast: boolean } | undefined {
  const progress = view.get(rewriteKey(database, collection))
  if (progress === undefined) return undefined
  const isAtStart = Buffer.compare(progress, documentRange(database, collection).start) === 0
  if (isAtStart) return { id: 0n, isPast: false }
  // The progress is the key of the last row, to which `keyAfter` has appended a byte.
  const lastKey = progress.subarray(0, -1)
  return { id: documentOf(lastKey).id, isPast: decodeKey(lastKey).kind === 'history' }
}

type RewriteContext = Pick<Rows, 'catalogue' | 'overlay'> & {
  readonly reader: Pick<Rows['reader'], 'isOutdated' | 'read'>
}

/** Rewrites the next batch, which also ends when `isOver` returns true. */
export function continueRewrite(
  context: RewriteContext,
  database: DatabaseId,
  collection: CollectionId,
  isOver: () => boolean,
): void {
  const { catalogue, overlay } = context
  const key = rewriteKey(database, collection)
  const progress = overlay.get(key)
  if (progress === undefined) return
  if (!catalogue.hasCollection(database, collection)) {
    overlay.set(key, undefined)
    return
  }
  const { last, rows } = nextRows(context, database, collection, progress, new Batch(isOver))
  for (const { key, value } of rows) overlay.set(key, value)
  overlay.set(key, last && keyAfter(last))
}

interface NextRows {
  /** The rows to write. Their values are the rewritten versions. */
  readonly rows: readonly Entry[]
  /** The key of the last row that was read; undefined when there are no more rows. */
  readonly last: Uint8Array | undefined
}

function nextRows(
  { overlay, reader }: RewriteContext,
  database: DatabaseId,
  collection: CollectionId,
  start: Uint8Array,
  batch: Batch,
): NextRows {
  const rows: Entry[] = []
  let last: Uint8Array | undefined
  const tables = [documentRange(database, collection), collectionHistoryRange(database, collection)]
  for (const range of intervalsFrom(tables, start)) {
    for (const row of overlay.range(range)) {
      const ref = documentOf(row.key)
      // Migrated in this loop, so that the time limit of the batch includes the migration, which takes most of the
      // time.
      if (reader.isOutdated(ref, row.value)) {
        const version = reader.read(ref, row.value)
        const value = encodeVersion(version, version.ts)
        // A migration can replace small values by large values.
        const bytes = Math.max(row.value.length, value.length)
        if (batch.isFull(bytes)) return { rows, last }
        checkBytes(database, collection, ref, { key: row.key, value })
        rows.push({ key: row.key, value })
        batch.write(1, bytes)
      } else batch.read(1, row.value.length)
      last = row.key
      if (batch.isFull()) return { rows, last }
    }
  }
  return { rows, last: undefined }
}

/** A version that no transaction can write delays only the rewriting of its own collection. */
function checkBytes(database: DatabaseId, collection: CollectionId, ref: Ref, row: Entry): void {
  const progress = { key: rewriteKey(database, collection), value: keyAfter(row.key) }
  try {
    checkWrites([row, progress])
  } catch (cause) {
    throw new BuildFailure(new Ref(database, native.indexes, BigInt(documentsIndex(collection))), ref, cause)
  }
}
