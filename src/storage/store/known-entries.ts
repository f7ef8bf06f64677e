// Entries of indexes that are read again and again, decoded once: the beginnings of ranges of live entries, as they
// were read. What is remembered holds as long as nothing has been committed since, as long as the commits since have written
// none of its rows, and where these are not known, as long as no document of the index's collections was written. Whatever
// changes live entries is recorded there, but for what changes with the schema (indexes that are built, collections that are
// deleted): that moves the schema time.

import { hashBytes, keyAfter } from '../../base/bytes.ts'
import { GenerationCache } from '../../base/generation-cache.ts'
import { limits } from '../../base/limits.ts'
import { micros } from '../../base/micros.ts'
import { compareBytes } from '../../values/order.ts'
import type { CollectionId, DatabaseId, Micros } from '../../values/value.ts'
import { collectionChangesRange } from '../keys/keyspace.ts'
import type { Bytes, Entry, KeyRange } from '../kv/contract.ts'
import type { RecentWrites } from '../kv/recent-writes.ts'
import type { IndexEntry } from './contract.ts'
import { entryDocument, entryTtl, entryValues } from './entry-records.ts'
import { ReadOnce } from './read-once.ts'
import { changeLogMicros } from './retention.ts'
import { firstOf, type Snapshot } from './snapshot.ts'

/** What tells the set of entries of one index under some terms from others. */
export interface SetPlace {
  readonly database: DatabaseId
  readonly index: number
  /** From `encodeTerms`. */
  readonly terms: Bytes
  /** Those whose documents may have entries; undefined: all of the database. */
  readonly collections: readonly CollectionId[] | undefined
}

/** A range of live entries. */
export type EntryRange = Pick<KeyRange, 'start' | 'end'> & { readonly reverse: boolean }

/** An entry as it was read. */
export interface KnownEntry extends IndexEntry {
  readonly collection: CollectionId
  readonly ttl: Micros
  /** Of its record, for what reading it costs. */
  readonly bytes: number
}

/** The beginning of a range, or all of it. */
export interface KnownRun {
  readonly range: EntryRange
  readonly entries: readonly KnownEntry[]
  /** What follows behind the entries; undefined: nothing. */
  readonly rest: EntryRange | undefined
  readonly schemaTime: Micros
  /** The newest commit of a state, and the time of it, in which this was found to be so. */
  foundAt: Micros
  foundTime: Micros
}

/** The entries that a run remembers at most. */
export const runEntriesMax = 512

/** What an entry takes in memory beside a multiple of its record's bytes, roughly, and for each of those. */
const bytesPerEntry = 300
const bytesPerByte = 4

/** Ranges that are remembered to have been read once. */
const readOnceMax = 16_384

/** Collections whose record is looked at. */
const collectionsMax = 8

/** After so many microseconds the record may have been removed, which is far from it: it is kept for a day. */
const recordKeptMin = changeLogMicros / 2

export class KnownEntries {
  /** By a hash of the range. */
  readonly #runs: GenerationCache<number, KnownRun>
  readonly #readOnce = new ReadOnce(readOnceMax)
  readonly #recent: RecentWrites

  /** `recent`: what this process has committed. `bytesMax`: about what may be held. */
  constructor(recent: RecentWrites, bytesMax: number = limits.knownEntriesBytesMax) {
    this.#recent = recent
    this.#runs = new GenerationCache(bytesMax, ({ entries }) =>
      entries.reduce((sum, { bytes }) => sum + bytesPerEntry + bytesPerByte * bytes, bytesPerEntry),
    )
  }

  /** What is known of the beginning of a range and true in that state. */
  find(range: EntryRange, set: SetPlace, snapshot: Snapshot): KnownRun | undefined {
    const run = this.#runs.get(hashOf(range))
    return run !== undefined && isSameRange(run.range, range) && this.#holds(run, set, snapshot)
      ? run
      : undefined
  }

  #holds(run: KnownRun, set: SetPlace, snapshot: Snapshot): boolean {
    const { lastCommitTime, time } = snapshot
    if (run.foundAt === lastCommitTime) return true
    const isUnwritten = !this.#recent.mayHaveWritten(run.range, run.foundAt, lastCommitTime)
    if (!isUnwritten && !isUnrecorded(run, set, snapshot)) return false
    run.foundAt = lastCommitTime
    run.foundTime = time
    return true
  }

  /** Whether a range that is being read now is worth remembering. */
  isWorth(range: EntryRange): boolean {
    return this.#readOnce.isAgain(hashOf(range))
  }

  /** Notes what was read of a range in that state. */
  remember(run: Pick<KnownRun, 'range' | 'entries' | 'rest'>, snapshot: Snapshot): void {
    const { lastCommitTime, schemaTime, time } = snapshot
    this.#runs.set(hashOf(run.range), { ...run, schemaTime, foundAt: lastCommitTime, foundTime: time })
  }
}

/** What a row says, to be remembered. */
export function knownEntry(database: DatabaseId, row: Entry): KnownEntry {
  const document = entryDocument(database, row)
  return {
    values: entryValues(row, document),
    document,
    collection: document.collection,
    ttl: entryTtl(row),
    bytes: row.value.length,
  }
}

/** What is left of a range when it has been read up to a key. */
export function behind({ end, reverse, start }: EntryRange, key: Bytes): EntryRange {
  return reverse ? { start, end: key, reverse } : { start: keyAfter(key), end, reverse }
}

function isUnrecorded(run: KnownRun, { collections, database }: SetPlace, snapshot: Snapshot): boolean {
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

/** Cut to what the runtime keeps as a small integer. */
function hashOf({ end, reverse, start }: EntryRange): number {
  return (hashBytes(end, hashBytes(start)) ^ (reverse ? 1 : 0)) & 0x3fffffff
}
