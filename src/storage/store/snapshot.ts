// The data that every read needs: the state, the time of the read, and the counters.

import { endOfTime, epoch } from '../../base/micros.ts'
import type { Micros } from '../../values/value.ts'
import type { Bytes, Entry, KeyRange, View } from '../kv/kv-contract.ts'
import { getCached } from '../kv/transaction-view.ts'
import type { TransactionCounters } from './store-contract.ts'

/** A consistent state as one transaction sees it, including its own writes. */
export interface Snapshot {
  readonly view: View
  /** Reads determine the expiry of documents at this time. */
  readonly time: Micros
  /** The commit time of this transaction; undefined when it cannot write. */
  readonly commitTime: Micros | undefined
  /** The last change of any schema: schemas that were cached since then are valid. */
  readonly schemaTime: Micros
  /** The time of the newest commit in the view. */
  readonly lastCommitTime: Micros
  readonly counters: TransactionCounters
  /** The documents whose expiry the reads depend on. */
  readonly expiry: Expiry
}

/** The range of times within which the reads return the same, without other changes. */
interface Expiry {
  /** The latest expiry among the documents that were read as expired. */
  latest: Micros
  /** The earliest expiry among the documents that were read as not expired. */
  next: Micros
}

/** The value for reads that do not depend on an expiry. */
export function noExpiry(): Expiry {
  return { latest: epoch, next: endOfTime }
}

/** Counters of a transaction without reads and writes. */
export function noCounts(): TransactionCounters {
  return { readBytes: 0, writeBytes: 0, writeOps: 0, indexUnits: 0 }
}

/** Returns whether a document with that ttl has expired, and records that the reads depend on it. */
export function isExpired({ expiry, time }: Snapshot, ttl: Micros): boolean {
  if (ttl <= time) {
    if (ttl > expiry.latest) expiry.latest = ttl
    return true
  }
  if (ttl < expiry.next) expiry.next = ttl
  return false
}

/** Records that the reads depend on whether `ttl` has passed. */
export function recordExpiry(snapshot: Snapshot, ttl: Micros): void {
  isExpired(snapshot, ttl)
}

/** Reads one key and counts its bytes. Returns `cached` itself if the value is equal. */
export function read(snapshot: Snapshot, key: Bytes, cached?: Bytes): Bytes | undefined {
  const { view } = snapshot
  const bytes = cached === undefined ? view.get(key) : getCached(view, key, cached)
  if (bytes !== undefined) snapshot.counters.readBytes += bytes.length
  return bytes
}

/** The first entry of a range. */
export function firstOf(view: View, range: KeyRange): Entry | undefined {
  for (const entry of view.range({ ...range, limit: 1 })) return entry
  return undefined
}

/** The first entry of a range, counted. */
export function readFirst(snapshot: Snapshot, range: KeyRange): Entry | undefined {
  const entry = firstOf(snapshot.view, range)
  if (entry !== undefined) snapshot.counters.readBytes += entry.value.length
  return entry
}
