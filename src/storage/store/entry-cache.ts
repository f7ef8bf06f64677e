// Caches decoded index entries that are read repeatedly: the beginnings of ranges of live entries. A cached run is
// valid if no later commit wrote its rows. If the written rows are not known, the run is valid if no later commit wrote
// a document of the index's collections. Every change of live entries is in the change record, except changes of the
// schema (built indexes, deleted collections), which change the schema time.

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

/** Identifies the set of entries of one index under some terms. */
export interface SetPlace {
  readonly database: DatabaseId
  readonly index: number
  /** From `encodeTerms`. */
  readonly terms: Bytes
  /** The collections whose documents may have entries; undefined: all of the database. */
  readonly collections: readonly CollectionId[] | undefined
}

/** A range of live entries. */
export type EntryRange = Pick<KeyRange, 'start' | 'end'> & { readonly reverse: boolean }

/** A cached entry. */
export interface CachedEntry extends IndexEntry {
  readonly collection: CollectionId
  readonly ttl: Micros
  /** Bytes of its record, for the cost of reading it. */
  readonly bytes: number
}

/** The beginning of a range, or all of it. */
export interface CachedRun {
  readonly range: EntryRange
  readonly entries: readonly CachedEntry[]
  /** The range after the entries; undefined when there is none. */
  readonly rest: EntryRange | undefined
  readonly schemaTime: Micros
  /** The newest commit of the last state in which the run was valid, and the time of that commit. */
  foundAt: Micros
  foundTime: Micros
}

/** Maximum number of entries of a run. */
export const runEntriesMax = 512

/** Approximate memory of an entry in addition to a multiple of its record's bytes, and that multiple. */
const bytesPerEntry = 300
const bytesPerByte = 4

/** Number of ranges that are remembered as read once. */
const readOnceMax = 16_384

/** Maximum number of collections whose change record is read. */
const collectionsMax = 8

/**
 * Microseconds after which the change record may have been removed. The record is retained for a day, so this limit is
 * safe.
 */
const recordKeptMin = changeLogMicros / 2

export class EntryCache {
  /** By a hash of the range. */
  readonly #runs: GenerationCache<number, CachedRun>
  readonly #readOnce = new ReadOnce(readOnceMax)
  readonly #recent: RecentWrites

  /** `recent`: the recent commits of this process. `bytesMax`: approximate memory of the cache. */
  constructor(recent: RecentWrites, bytesMax: number = limits.knownEntriesBytesMax) {
    this.#recent = recent
    this.#runs = new GenerationCache(bytesMax, ({ entries }) =>
      entries.reduce((sum, { bytes }) => sum + bytesPerEntry + bytesPerByte * bytes, bytesPerEntry),
    )
  }

  /** The cached beginning of a range, if it is valid in that state. */
  find(range: EntryRange, set: SetPlace, snapshot: Snapshot): CachedRun | undefined {
    const run = this.#runs.get(hashOf(range))
    return run !== undefined && isSameRange(run.range, range) && this.#holds(run, set, snapshot)
      ? run
      : undefined
  }

  #holds(run: CachedRun, set: SetPlace, snapshot: Snapshot): boolean {
    const { lastCommitTime, time } = snapshot
    if (run.foundAt === lastCommitTime) return true
    const isUnwritten = !this.#recent.mayHaveWritten(run.range, run.foundAt, lastCommitTime)
    if (!isUnwritten && !isUnrecorded(run, set, snapshot)) return false
    run.foundAt = lastCommitTime
    run.foundTime = time
    return true
  }

  /** Returns whether a range that is being read now should be cached. */
  isWorth(range: EntryRange): boolean {
    return this.#readOnce.isAgain(hashOf(range))
  }

  /** Caches the beginning of a range as read in that state. */
  remember(run: Pick<CachedRun, 'range' | 'entries' | 'rest'>, snapshot: Snapshot): void {
    const { lastCommitTime, schemaTime, time } = snapshot
    this.#runs.set(hashOf(run.range), { ...run, schemaTime, foundAt: lastCommitTime, foundTime: time })
  }
}

/** The entry of a row, to be cached. */
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

/** The rest of a range that has been read up to a key. */
export function rangeAfter({ end, reverse, start }: EntryRange, key: Bytes): EntryRange {
  return reverse ? { start, end: key, reverse } : { start: keyAfter(key), end, reverse }
}

function isUnrecorded(run: CachedRun, { collections, database }: SetPlace, snapshot: Snapshot): boolean {
  const { schemaTime, time, view } = snapshot
  if (run.schemaTime !== schemaTime || time - run.foundTime > recordKeptMin) return false
  if (collections === undefined || collections.length > collectionsMax) return false
  const since = micros(run.foundAt + 1)
  return collections.every(
    collection => firstOf(view, collectionChangesRange(database, collection, since)) === undefined,
  )
}

function isSameRange(left: EntryRange, right: EntryRange): boolean {
  return (
    left.reverse === right.reverse &&
    compareBytes(left.start, right.start) === 0 &&
    compareBytes(left.end, right.end) === 0
  )
}

/** The hash is truncated to 31 bits, because V8 stores such integers without an allocation. */
function hashOf({ end, reverse, start }: EntryRange): number {
  return (hashBytes(end, hashBytes(start)) ^ (reverse ? 1 : 0)) & 0x3fffffff
}
