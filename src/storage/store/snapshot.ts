// What every read needs: the state it reads, the time it reads at, and the counters it feeds.

import { endOfTime, epoch } from '../../base/micros.ts'
import type { Micros } from '../../values/value.ts'
import type { Bytes, Entry, KeyRange, View } from '../kv/contract.ts'
import type { TransactionCounters } from './contract.ts'

/** A consistent state as one transaction sees it, its own writes included. */
export interface Snapshot {
  readonly view: View
  /** Expiry is judged against this time. */
  readonly time: Micros
  /** When what this transaction writes will have happened; undefined when it cannot write. */
  readonly commitTime: Micros | undefined
  /** When the schema of any database was last changed: what was remembered of schemas since then still holds. */
  readonly schemaTime: Micros
  /** The time of the newest commit in the view. */
  readonly lastCommitTime: Micros
  readonly counters: TransactionCounters
  /** Reads of the clock, as it were: what has expired, and what has not yet. */
  readonly expiry: Expiry
}

/** Between which times what was seen looks the same, if nothing changes. */
interface Expiry {
  /** When the last of what was seen to have expired did. */
  latest: Micros
  /** The earliest time at which something that was seen expires. */
  next: Micros
}

/** Nothing that expires has been seen. */
export function noExpiry(): Expiry {
  return { latest: epoch, next: endOfTime }
}

/** Nothing has been read or written. */
export function noCounts(): TransactionCounters {
  return { readBytes: 0, writeBytes: 0, writeOps: 0, indexUnits: 0 }
}

/** Whether what has that ttl has expired; it is noted since when it has, or until when it has not. */
export function isExpired({ expiry, time }: Snapshot, ttl: Micros): boolean {
  if (ttl <= time) {
    if (ttl > expiry.latest) expiry.latest = ttl
    return true
  }
  if (ttl < expiry.next) expiry.next = ttl
  return false
}

/** Notes that the state depends on whether `ttl` has passed. */
export function noteExpiry(snapshot: Snapshot, ttl: Micros): void {
  isExpired(snapshot, ttl)
}

/** Reads one key and counts its bytes; `known` as in {@link View.get}. */
export function read(snapshot: Snapshot, key: Bytes, known?: Bytes): Bytes | undefined {
  const bytes = snapshot.view.get(key, known)
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
