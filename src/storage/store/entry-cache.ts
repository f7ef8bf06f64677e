// Caches decoded index entries that are read repeatedly. A cached run contains the first entries of a range of live
// entries. A run is valid if no later commit wrote rows of its range. A process remembers only the rows of recent
// commits; for older commits, it reads the change record (the stored changes of each collection). The run is then valid
// if the record contains no later change in the collections of the index, and if no schema has changed: building an
// index or deleting a collection also changes live entries.

import { hashBytes, keyAfter } from '../../base/bytes.ts'
import { GenerationCache } from '../../base/generation-cache.ts'
import { limits } from '../../base/limits.ts'
import { micros } from '../../base/micros.ts'
import { compareBytes } from '../../values/order.ts'
import type { CollectionId, DatabaseId, Micros } from '../../values/value.ts'
import { collectionChangesRange } from '../keys/keyspace.ts'
import type { Bytes, Entry, KeyRange } from '../kv/kv-contract.ts'
import type { RecentWrites } from '../kv/recent-writes.ts'
import { ReadOnce } from './document-cache.ts'
import { entryDocument, entryTtl, entryValues } from './entry-records.ts'
import { changeLogMicros } from './retention.ts'
import { firstOf, type Snapshot } from './snapshot.ts'
import type { IndexEntry } from './store-contract.ts'

/** Identifies a set: the entries of one index that have the same terms. */
export interface EntrySetKey {
  readonly database: DatabaseId
  readonly index: number
  /** Terms as encoded by `encodeTerms`. */
  readonly terms: Bytes
  /** The collections whose documents may have entries; undefined: all collections of the database. */
  readonly collections: readonly CollectionId[] | undefined
}

export type EntryRange = Pick<KeyRange, 'start' | 'end'> & { readonly reverse: boolean }

export interface CachedEntry extends IndexEntry {
  readonly collection: CollectionId
  readonly ttl: Micros
  /** The bytes of the entry's record, for which a query that reads the cached entry is charged, too. */
  readonly bytes: number
}

/** The first entries of a range, or all entries of the range. */
export interface CachedRun {
  readonly range: EntryRange
  readonly entries: readonly CachedEntry[]
  /** The part of `range` after `entries`; undefined if the run contains all entries of the range. */
  readonly rest: EntryRange | undefined
  readonly schemaTime: Micros
  /** The time of the newest commit in the last snapshot in which the run was valid. */
  validAtCommit: Micros
  /** The time of this snapshot. */
  validAtTime: Micros
}

/** Maximum number of entries of a run. */
export const runEntriesMax = 512

/** Approximate bytes of memory: for each entry, and for each byte of its record. */
const bytesPerEntry = 300
const bytesPerByte = 4

/** Maximum number of ranges that are remembered after their first read. */
const readOnceMax = 16_384

/** Maximum number of collections whose change record is read to validate a run. */
const collectionsMax = 8

/**
 * The change record is used only if the run was found valid at most this many microseconds ago. It is retained for
 * twice this time, so it contains all changes since then.
 */
const recordKeptMin = changeLogMicros / 2

export class EntryCache {
  /** The cached runs, by a hash of their range. */
  readonly #runs: GenerationCache<number, CachedRun>
  readonly #readOnce = new ReadOnce(readOnceMax)
  readonly #recent: RecentWrites

  /** `recent`: the recent commits of this process. `bytesMax` is approximate. */
  constructor(recent: RecentWrites, bytesMax: number = limits.knownEntriesBytesMax) {
    this.#recent = recent
    this.#runs = new GenerationCache(bytesMax, ({ entries }) =>
      entries.reduce((sum, { bytes }) => sum + bytesPerEntry + bytesPerByte * bytes, bytesPerEntry),
    )
  }

  /** Undefined if no run is valid in the given snapshot. */
  find(range: EntryRange, set: EntrySetKey, snapshot: Snapshot): CachedRun | undefined {
    const run = this.#runs.get(hashOf(range))
    return run !== undefined && isSameRange(run.range, range) && this.#isValid(run, set, snapshot)
      ? run
      : undefined
  }

  #isValid(run: CachedRun, set: EntrySetKey, snapshot: Snapshot): boolean {
    const { lastCommitTime, time } = snapshot
    if (run.validAtCommit === lastCommitTime) return true
    const mayBeWritten = this.#recent.mayHaveWritten(run.range, run.validAtCommit, lastCommitTime)
    if (mayBeWritten && mayHaveRecordedChange(run, set, snapshot)) return false
    run.validAtCommit = lastCommitTime
    run.validAtTime = time
    return true
  }

  /** Records a read. Returns whether the range was read before. */
  isWorthCaching(range: EntryRange): boolean {
    return this.#readOnce.isAgain(hashOf(range))
  }

  /** The run was read in the given snapshot. */
  remember(run: Pick<CachedRun, 'range' | 'entries' | 'rest'>, snapshot: Snapshot): void {
    const { lastCommitTime, schemaTime, time } = snapshot
    this.#runs.set(hashOf(run.range), {
      ...run,
      schemaTime,
      validAtCommit: lastCommitTime,
      validAtTime: time,
    })
  }
}

export function cachedEntry(database: DatabaseId, row: Entry): CachedEntry {
  const document = entryDocument(database, row)
  return {
    values: entryValues(row, document),
    document,
    collection: document.collection,
    ttl: entryTtl(row),
    bytes: row.value.length,
  }
}

/** The part of a range after the row of `key` in reading order. */
export function rangeAfter({ end, reverse, start }: EntryRange, key: Bytes): EntryRange {
  return reverse ? { start, end: key, reverse } : { start: keyAfter(key), end, reverse }
}

function mayHaveRecordedChange(
  run: CachedRun,
  { collections, database }: EntrySetKey,
  snapshot: Snapshot,
): boolean {
  const { schemaTime, time, view } = snapshot
  if (run.schemaTime !== schemaTime || time - run.validAtTime > recordKeptMin) return true
  if (collections === undefined || collections.length > collectionsMax) return true
  const since = micros(run.validAtCommit + 1)
  return collections.some(
    collection => firstOf(view, collectionChangesRange(database, collection, since)) !== undefined,
  )
}

function isSameRange(left: EntryRange, right: EntryRange): boolean {
  return (
    left.reverse === right.reverse &&
    compareBytes(left.start, right.start) === 0 &&
    compareBytes(left.end, right.end) === 0
  )
}

/** 30 bits, because V8 stores such small integers without an allocation. */
function hashOf({ end, reverse, start }: EntryRange): number {
  return (hashBytes(end, hashBytes(start)) ^ (reverse ? 1 : 0)) & 0x3fffffff
}
