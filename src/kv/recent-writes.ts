// The keys that the last commits have written: those of this process, and those of other machines that it has brought
// into its copy of a shared record. Of what an attempt has read on an earlier state, only what was written since has to be
// read again under the writer's lock. Commits of other processes on the same folder are missing here; whoever asks
// notices, because a commit names the one before it.
//
// Every commit passes through here, so little is kept that the garbage collector would have to follow: the place of a
// key in a table of fixed size says which write was the last to it. Two keys may share a place, and of large commits
// only spans of keys are kept, so more may look written than was: reading it again tells.

import { byteText } from '../base/byte-text.ts'
import type { Bytes, Write } from './contract.ts'
import { IndexedRanges } from './indexed-ranges.ts'
import type { Found, ReadSet } from './noted-reads.ts'

/** Commits that are remembered; a power of two. */
const commitsMax = 8192
/** Commits of which keys are kept, to compare ranges with; a power of two. */
const keptMax = 2048
/** Writes of a commit whose keys are kept: those of larger ones, as of an import, would fill the memory. */
const keptWritesMax = 256
/** Spans that are kept of a larger commit. */
const spansMax = 64
/** Bytes that the keys of a span have in common: their kind and their database. */
const spanPrefixBytes = 9
/** Places of the table; a power of two. */
const placesMax = 1 << 20
/** Keys of commits that are compared with ranges: some tens of milliseconds. */
const comparisonsMax = 100_000

/** From the first to the last of some keys, by their `byteText`. */
interface Span {
  first: string
  last: string
}

/** What is kept of a commit's keys. */
type KeptKeys = { readonly keys: readonly Bytes[] } | { readonly spans: readonly Span[] }

const nothing: KeptKeys = { keys: [] }

export class RecentWrites {
  /** How many commits have been added without a gap. */
  #commits = 0
  #writes = 0
  /** The time of the commit before the first one, and of the last. */
  #from = 0
  #to = 0
  /** By the number of a commit: its time, and how many writes came before it. */
  readonly #times = new Float64Array(commitsMax)
  readonly #writesBefore = new Float64Array(commitsMax)
  /** By the number of a commit; undefined when its keys are too many and too scattered. */
  readonly #kept: (KeptKeys | undefined)[] = new Array(keptMax).fill(nothing)
  /** By place: the number of the last write to a key of that place, from 1. */
  readonly #writtenAt = new Uint32Array(placesMax)

  /** Remembers the commit at `time`, which followed the one at `before`. */
  add(time: number, before: number, writes: readonly Write[]): void {
    if (before !== this.#to || this.#writes + writes.length > 0xffff_ffff) {
      this.clear()
      this.#from = before
    }
    const number = this.#commits++
    if (number >= commitsMax) this.#from = this.#times[number % commitsMax] as number
    this.#times[number % commitsMax] = time
    this.#writesBefore[number % commitsMax] = this.#writes
    this.#kept[number % keptMax] =
      writes.length > keptWritesMax ? spansOf(writes) : { keys: writes.map(({ key }) => key) }
    for (const { key } of writes) this.#writtenAt[placeOfKey(key)] = ++this.#writes
    this.#to = time
  }

  /** Forgets everything, as when a commit did not come about. */
  clear(): void {
    if (this.#writes > 0) this.#writtenAt.fill(0)
    this.#commits = 0
    this.#writes = 0
    this.#kept.fill(nothing)
    this.#from = 0
    this.#to = 0
  }

  /**
   * The part of `reads`, made of the state after the commit `since`, that may have been written up to the commit `now`.
   * Undefined when commits in between are not remembered.
   */
  written(reads: ReadSet, since: number, now: number): ReadSet | undefined {
    if (now !== this.#to || since < this.#from) return undefined
    const first = this.#firstAfter(since)
    if (first === this.#commits) return { keys: new Map(), ranges: [] }
    const before = this.#writesBefore[first % commitsMax] as number
    const keys = new Map<string, Found>()
    for (const [key, found] of reads.keys) {
      if ((this.#writtenAt[placeOfText(key)] as number) > before) keys.set(key, found)
    }
    if (reads.ranges.length === 0) return { keys, ranges: [] }
    const ranges = new IndexedRanges(reads.ranges)
    return this.#findWritten(ranges, first)
      ? { keys, ranges: ranges.found() }
      : { keys, ranges: reads.ranges }
  }

  /** The number of the first commit after a time. */
  #firstAfter(time: number): number {
    let low = Math.max(0, this.#commits - commitsMax)
    let high = this.#commits
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      if ((this.#times[middle % commitsMax] as number) <= time) low = middle + 1
      else high = middle
    }
    return low
  }

  /** Finds the ranges in which commits from `first` on have written; false when that cannot be told. */
  #findWritten(ranges: IndexedRanges, first: number): boolean {
    if (this.#commits - first > keptMax) return false
    let left = comparisonsMax
    for (let number = first; number < this.#commits; number++) {
      const kept = this.#kept[number % keptMax]
      if (kept === undefined) return false
      if ('spans' in kept) for (const { first, last } of kept.spans) ranges.find(first, last)
      else {
        left -= kept.keys.length
        if (left < 0) return false
        for (const key of kept.keys) {
          // Mostly reads and writes are of other kinds of rows.
          if (!ranges.mayHold(key[0] as number)) continue
          const text = byteText(key)
          ranges.find(text, text)
        }
      }
    }
    return true
  }
}

/** A span for each kind of key and database. */
function spansOf(writes: readonly Write[]): KeptKeys | undefined {
  const spans = new Map<string, Span>()
  for (const { key } of writes) {
    const text = byteText(key)
    const prefix = text.slice(0, spanPrefixBytes)
    const span = spans.get(prefix)
    if (span === undefined) {
      if (spans.size === spansMax) return undefined
      spans.set(prefix, { first: text, last: text })
    } else if (text < span.first) span.first = text
    else if (text > span.last) span.last = text
  }
  return { spans: [...spans.values()] }
}

/** FNV-1a of a key's bytes, folded. */
function placeOfKey(key: Bytes): number {
  let hash = fnvOffset
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ (key[at] as number), fnvPrime)
  return (hash ^ (hash >>> 20)) & (placesMax - 1)
}

/** The same of a key's `byteText`. */
function placeOfText(text: string): number {
  let hash = fnvOffset
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), fnvPrime)
  return (hash ^ (hash >>> 20)) & (placesMax - 1)
}

const fnvOffset = 0x811c9dc5
const fnvPrime = 0x01000193
