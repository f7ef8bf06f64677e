// The keys that the last commits have written: those of this process, and those of other machines that it has brought
// into its copy of a shared record. Of what an attempt has read on an earlier state, only what was written since has to be
// read again under the writer's lock. Commits of other processes on the same folder are missing here; whoever asks
// notices, because a commit names the one before it.
//
// Every commit passes through here, so nothing is kept that the garbage collector would have to follow or copy: the place
// of a key in a table of fixed size says which write was the last to it, and the keys themselves are copied into a ring
// of bytes. Two keys may share a place, and of large commits only spans of keys are kept, so more may look written than
// was: reading it again tells.

import { byteText } from '../base/byte-text.ts'
import { hashByte, hashSeed } from '../base/bytes.ts'
import type { Write } from './contract.ts'
import { IndexedRanges } from './indexed-ranges.ts'
import type { Found, ReadRange, ReadSet } from './noted-reads.ts'
import {
  keysIn,
  kindBit,
  kindsOf,
  lengthBytes,
  placeOfHash,
  placeOfKey,
  placeOfText,
  placesMax,
  type Span,
  spansOf,
  type ToldWrites,
} from './written-keys.ts'

/** Commits that are remembered; a power of two. */
const commitsMax = 8192
/** Commits of which keys are kept, to compare ranges with; a power of two. */
const keptMax = 2048
/** The room for those keys, each with its length: a large commit, or 2048 ordinary ones. */
const ringBytes = 1 << 20
/** Writes of a commit whose keys are kept: those of larger ones, as of an import, would fill the memory. */
const keptWritesMax = 256
/** The greatest number that a place can hold. */
const writesMax = 0xffff_ffff
/** Keys of commits that are compared with ranges: some tens of milliseconds. */
const comparisonsMax = 100_000

/** What stands in place of the number of a commit's keys: they are kept as spans, or not at all. */
const asSpans = -1
const notKept = -2

export class RecentWrites {
  /** How many commits have been added without a gap. */
  #commits = 0
  /** How many writes have been added since the places were last emptied. */
  #writes = 0
  /** The time of the commit before the first one, and of the last. */
  #from = 0
  #to = 0
  /** By the number of a commit: its time, and how many writes came before it. */
  readonly #times = new Float64Array(commitsMax)
  readonly #writesBefore = new Float64Array(commitsMax)
  /** The keys of the last commits, one after the other; those of one commit lie together. */
  readonly #ring = new Uint8Array(ringBytes)
  /** How many bytes have been used of the ring since the beginning, those that were overwritten and left out included. */
  #ringEnd = 0
  /** By the number of a commit: how many keys the ring has of it, and where they begin, counted like `#ringEnd`. */
  readonly #keyCounts = new Int32Array(keptMax)
  readonly #ringStarts = new Float64Array(keptMax)
  /** By the number of a commit: which kinds of keys it wrote ({@link kindBit}). */
  readonly #kinds = new Int32Array(keptMax)
  /** By the number of a commit. */
  readonly #spans = new Map<number, readonly Span[]>()
  /** By place: the number of the last write to a key of that place, from 1. */
  readonly #writtenAt = new Uint32Array(placesMax)

  /** Remembers the commit at `time`, which followed the one at `before`. */
  add(time: number, before: number, writes: readonly Write[]): void {
    const number = this.#begin(time, before, writes.length)
    if (writes.length <= keptWritesMax) this.#addKeys(number, writes)
    else {
      const places = Uint32Array.from(writes, ({ key }) => placeOfKey(key))
      const kinds = writes.reduce((bits, { key }) => bits | kindBit(key[0] as number), 0)
      this.#addSpans(number, spansOf(writes), places, kinds)
    }
  }

  /** Remembers the commits that another process has told of ({@link tell}), as one. */
  learn({ after, isPartial, keyCount, keys, places, spans, upTo }: ToldWrites): void {
    const number = this.#begin(upTo, after, places.length + keyCount)
    const told = isPartial || keyCount === 0 ? [] : keysIn(keys)
    if (isPartial || spans.length > 0 || keyCount > keptWritesMax) {
      const all = [...spans, ...told.map(byteText).map(text => ({ first: text, last: text }))]
      const kinds = all.reduce((bits, { first }) => bits | kindBit(first.charCodeAt(0)), isPartial ? -1 : 0)
      this.#addSpans(number, isPartial ? undefined : all, places, kinds)
    } else {
      this.#addKeys(
        number,
        told.map(key => ({ key, value: undefined })),
      )
    }
  }

  /** The commits after the one at `since`, for another process to {@link learn}; undefined when some are not remembered. */
  tell(since: number): ToldWrites | undefined {
    if (this.#commits === 0 || since < this.#from) return undefined
    const first = this.#firstAfter(since)
    const before = this.#writesBefore[first % commitsMax] as number
    const told = { after: since, upTo: this.#to }
    const spans: Span[] = []
    const keys: Uint8Array[] = []
    let keyCount = 0
    for (let number = first; number < this.#commits; number++) {
      const count = this.#keyCounts[number % keptMax] as number
      const start = this.#ringStarts[number % keptMax] as number
      const isKept = count === asSpans || (count !== notKept && this.#ringEnd - start <= ringBytes)
      if (this.#commits - first > keptMax || !isKept)
        return {
          ...told,
          places: this.#placesAfter(before),
          keys: new Uint8Array(),
          keyCount: 0,
          spans: [],
          isPartial: true,
        }
      if (count === asSpans) spans.push(...(this.#spans.get(number) ?? []))
      else {
        keys.push(this.#ringPart(start % ringBytes, count))
        keyCount += count
      }
    }
    // Of a few keys the places are clear; looking through all places takes some milliseconds.
    const isFew = spans.length === 0 && keyCount <= keptWritesMax
    const places = isFew ? new Uint32Array() : this.#placesAfter(before)
    return { ...told, places, keys: new Uint8Array(Buffer.concat(keys)), keyCount, spans, isPartial: false }
  }

  /** Makes room for a commit of so many writes; its number. */
  #begin(time: number, before: number, writes: number): number {
    const isFull = this.#writes + writes > writesMax
    if (before !== this.#to || isFull) {
      this.clear()
      this.#from = before
    }
    if (isFull) {
      this.#writtenAt.fill(0)
      this.#writes = 0
    }
    const number = this.#commits++
    if (number >= commitsMax) this.#from = this.#times[number % commitsMax] as number
    this.#times[number % commitsMax] = time
    this.#writesBefore[number % commitsMax] = this.#writes
    if (this.#spans.size > 0) this.#spans.delete(number - keptMax)
    this.#to = time
    return number
  }

  #addSpans(number: number, spans: readonly Span[] | undefined, places: Uint32Array, kinds: number): void {
    this.#keyCounts[number % keptMax] = spans === undefined ? notKept : asSpans
    if (spans !== undefined) this.#spans.set(number, spans)
    this.#kinds[number % keptMax] = kinds
    for (const place of places) this.#writtenAt[place] = ++this.#writes
  }

  /** The places of the keys that were written after so many writes. */
  #placesAfter(before: number): Uint32Array {
    const places: number[] = []
    for (let place = 0; place < placesMax; place++)
      if ((this.#writtenAt[place] as number) > before) places.push(place)
    return Uint32Array.from(places)
  }

  /** So many keys of the ring, with their lengths. */
  #ringPart(start: number, count: number): Uint8Array {
    const ring = this.#ring
    let end = start
    for (let index = 0; index < count; index++)
      end += lengthBytes + ((ring[end] as number) << 8) + (ring[end + 1] as number)
    return ring.subarray(start, end)
  }

  #addKeys(number: number, writes: readonly Write[]): void {
    let bytes = 0
    for (const { key } of writes) bytes += lengthBytes + key.length
    const left = ringBytes - (this.#ringEnd % ringBytes)
    if (bytes > left) this.#ringEnd += left
    this.#keyCounts[number % keptMax] = writes.length
    this.#ringStarts[number % keptMax] = this.#ringEnd
    let at = this.#ringEnd % ringBytes
    this.#ringEnd += bytes
    const ring = this.#ring
    let kinds = 0
    for (const { key } of writes) {
      const { length } = key
      kinds |= kindBit(key[0] as number)
      ring[at++] = length >> 8
      ring[at++] = length & 0xff
      let hash = hashSeed
      for (let index = 0; index < length; index++) {
        const byte = key[index] as number
        ring[at++] = byte
        hash = hashByte(hash, byte)
      }
      this.#writtenAt[placeOfHash(hash)] = ++this.#writes
    }
    this.#kinds[number % keptMax] = kinds
  }

  /**
   * Forgets everything, as when a commit did not come about. The places stay, for that is much cheaper where workers
   * commit in turns: writes are numbered on, and what was written before counts as older than every commit to come.
   */
  clear(): void {
    this.#commits = 0
    this.#spans.clear()
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
    return { keys, ranges: this.#writtenRanges(reads.ranges, first) }
  }

  /** Those of `all` in which commits from `first` on may have written. */
  #writtenRanges(all: readonly ReadRange[], first: number): readonly ReadRange[] {
    if (this.#commits - first > keptMax) return all
    const kinds = kindsOf(all)
    let number = first
    // Mostly reads and writes are of other kinds of rows.
    while (number < this.#commits && !((this.#kinds[number % keptMax] as number) & kinds)) number++
    if (number === this.#commits) return []
    const ranges = new IndexedRanges(all)
    return this.#findWritten(ranges, kinds, number) ? ranges.found() : all
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
  #findWritten(ranges: IndexedRanges, kinds: number, first: number): boolean {
    let left = comparisonsMax
    for (let number = first; number < this.#commits; number++) {
      if (!((this.#kinds[number % keptMax] as number) & kinds)) continue
      const count = this.#keyCounts[number % keptMax] as number
      if (count === notKept) return false
      if (count === asSpans) {
        for (const { first, last } of this.#spans.get(number) ?? []) ranges.find(first, last)
        continue
      }
      left -= count
      const start = this.#ringStarts[number % keptMax] as number
      if (left < 0 || this.#ringEnd - start > ringBytes) return false
      this.#findKeys(ranges, start % ringBytes, count)
    }
    return true
  }

  #findKeys(ranges: IndexedRanges, start: number, count: number): void {
    const ring = this.#ring
    let at = start
    for (let index = 0; index < count; index++) {
      const begin = at + lengthBytes
      at = begin + ((ring[at] as number) << 8) + (ring[at + 1] as number)
      if (!ranges.mayHold(ring[begin] as number)) continue
      const text = byteText(ring.subarray(begin, at))
      ranges.find(text, text)
    }
  }
}
