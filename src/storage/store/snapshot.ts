// The data that every read needs: the state, the time of the read, and the counters.

import { step } from '../../base/effort.ts'
import { endOfTime, epoch } from '../../base/micros.ts'
import type { Micros } from '../../values/value.ts'
import type { Bytes, Entry, KeyRange, View } from '../kv/kv-contract.ts'
import type { TransactionCounters } from './store-contract.ts'

/** The consistent state that one transaction reads, including its own writes. */
export interface Snapshot {
  readonly view: View
  /** A document has expired if its `ttl` is at or before this time. */
  readonly time: Micros
  /** Undefined if the transaction cannot write. */
  readonly commitTime: Micros | undefined
  /** The last change of any schema. A schema that was cached after this change is valid. */
  readonly schemaTime: Micros
  /** The newest commit in the view. */
  readonly lastCommitTime: Micros
  readonly counters: TransactionCounters
  readonly expiry: Expiry
}

/**
 * The range of times in which the reads of a transaction would return the same results, if no document is written. At
 * other times, other documents have expired.
 */
interface Expiry {
  /** The latest expiry time among the expired documents that were read. */
  latest: Micros
  /** The earliest expiry time among the unexpired documents that were read. */
  next: Micros
}

/** The range for a transaction without reads: all times. */
export function noExpiry(): Expiry {
  return { latest: epoch, next: endOfTime }
}

export function noCounts(): TransactionCounters {
  return { readBytes: 0, writeBytes: 0, writeOps: 0, indexUnits: 0 }
}

/** Records that the reads depend on whether a document with the expiry `ttl` has expired. */
export function isExpired({ expiry, time }: Snapshot, ttl: Micros): boolean {
  if (ttl <= time) {
    if (ttl > expiry.latest) expiry.latest = ttl
    return true
  }
  if (ttl < expiry.next) expiry.next = ttl
  return false
}

/** Approximate cost of reading a row, in steps of effort (`src/base/effort.ts`). */
const stepsPerRow = 10

/**
 * Scans call this function for each row, also for rows that they skip. Otherwise, a query that skips very many expired
 * documents could not be interrupted.
 */
export function countRow(): void {
  step(stepsPerRow)
}

/** The reads depend on whether `ttl` has passed. */
export function recordExpiry(snapshot: Snapshot, ttl: Micros): void {
  isExpired(snapshot, ttl)
}

/** Counts the value's bytes. Returns `cached` itself if it has the same bytes. */
export function read(snapshot: Snapshot, key: Bytes, cached?: Bytes): Bytes | undefined {
  const bytes = snapshot.view.get(key, cached)
  if (bytes !== undefined) snapshot.counters.readBytes += bytes.length
  return bytes
}

export function firstOf(view: View, range: KeyRange): Entry | undefined {
  for (const entry of view.range({ ...range, limit: 1 })) return entry
  return undefined
}

/** Counts the bytes of the row's value. */
export function readFirst(snapshot: Snapshot, range: KeyRange): Entry | undefined {
  const entry = firstOf(snapshot.view, range)
  if (entry !== undefined) snapshot.counters.readBytes += entry.value.length
  return entry
}
