// Removes the expired part of the history of one document: versions that were superseded at the minimum valid time,
// with the index rows of these versions only, and a delete without earlier versions. If the `ttl` has also passed, the
// whole document is removed. The cost depends on the removed data and on the version that was valid at the minimum
// valid time.

import { type Micros, native, type Ref } from '../../values/value.ts'
import { historyKey, historyRange, keyTags } from '../keys/keyspace.ts'
import { newestLive, storedVersionsAscending } from './documents.ts'
import { expiryTime } from './due-order.ts'
import type { StoredVersion } from './index-tables.ts'
import { removeHome } from './key-homes.ts'
import { never, versionTime, versionTtl } from './records.ts'
import { indexRows, storedRows } from './rows.ts'
import type { Store } from './store.ts'
import type { StoreTransaction } from './transaction.ts'

/** Maximum number of versions of one document that are removed at a time. */
const versionsMax = 256

/** The result of checking a document. */
interface ExpiredRows {
  /** Keys to remove. */
  readonly keys: readonly Uint8Array[]
  /** Bytes of the versions that were read. */
  readonly bytes: number
  /** True if no expired data is left. */
  readonly isAll: boolean
  /**
   * The expiry of the document, if its `ttl` is before `minimum` and its version is not: version 0.2 marked only the
   * `ttl`.
   */
  readonly expiresAt?: Micros
}

/** The expired rows of a document when `minimum` is the oldest time that can be read. */
export function expiredRows(
  store: Store,
  transaction: StoreTransaction,
  ref: Ref,
  minimum: Micros,
): ExpiredRows {
  const { rows, snapshot } = transaction
  const newest = newestLive(snapshot, ref)
  const ttl = newest === undefined ? never : versionTtl(newest)
  const expiresAt = newest === undefined ? never : expiryTime(ttl, versionTime(newest))
  if (ttl !== never && expiresAt <= minimum) return wholeDocument(store, transaction, ref)
  const past: StoredVersion[] = []
  let bytes = newest?.length ?? 0
  const range = { start: historyRange(ref, minimum).start, end: historyRange(ref).end }
  for (const { value } of snapshot.view.range({ ...range, reverse: true, limit: versionsMax + 1 })) {
    bytes += value.length
    past.push(rows.reader.read(ref, value))
  }
  const isAll = past.length <= versionsMax
  const chain = [...past]
  if (isAll && newest !== undefined && versionTime(newest) <= minimum)
    chain.push(rows.reader.read(ref, newest))
  const root = chain.at(-1)
  const keys: Uint8Array[] = []
  for (const version of past) {
    if (version !== root || (isAll && version.action === 'delete')) keys.push(historyKey(ref, version.ts))
  }
  for (const { key } of store.counted(ref.database, () => [...indexRows(rows, ref, chain)]))
    if (key[0] !== keyTags.indexLive) keys.push(key)
  return { keys, bytes, isAll, ...(ttl <= minimum && { expiresAt }) }
}

/** All stored rows of a document. */
export function wholeDocument(store: Store, { rows, snapshot }: StoreTransaction, ref: Ref): ExpiredRows {
  let bytes = 0
  const versions = Array.from(storedVersionsAscending(snapshot, ref), stored => {
    bytes += stored.length
    return rows.reader.read(ref, stored)
  })
  const stored = store.counted(ref.database, () => storedRows(rows, ref, versions))
  if (ref.collection === native.keys) removeHome(rows.overlay, ref)
  return { keys: Array.from(stored.values(), ({ key }) => key), bytes, isAll: true }
}
