// Stores the keys of recent commits in memory: commits of this process, and commits of other nodes that this process
// has applied to its replica. An evaluated transaction is validated under the writer's lock before its commit. With
// this module, the validation reads only those keys of the read set that were written after the transaction's snapshot.
// Commits of other processes to the same folder are not stored: the caller of `add` names the time of the previous
// commit, which reveals such a gap.
//
// The design is based on measurements (decision 15). A key of a read set is looked up by its slot in a hash table of
// fixed size. A range is compared with the keys of each commit that wrote rows of the same kind. Every commit calls
// `add`, which allocates nothing that the garbage collector would trace or copy. A slot contains the number of the last
// write to a key of this slot, and keys are copied to a ring of bytes. Keys of large commits are not stored. Two keys
// may share a slot, so a key may be reported as written although no commit wrote it. Validation then reads the key
// again and compares its value.

import { byteText, hashText } from '../../base/byte-text.ts'
import { hashBytes } from '../../base/bytes.ts'
import type { Bytes, KeyRange, Write } from './kv-contract.ts'
import { PackedReads } from './packed-reads.ts'
import { kindBit, kindsOf, type ReadRange, type ReadSet, type RecordedValue } from './read-set.ts'

/** A power of two. */
const commitsMax = 8192
/** Bytes of the ring buffer for the keys: space for a large commit, or for about 2000 ordinary commits. */
const ringBytes = 1 << 20
/** The keys of larger commits (for example, of imports) are not stored, because they would fill the ring. */
const storedWritesMax = 256
/** Bytes of the length before each key in the ring. */
const lengthBytes = 2
/** Slots of the hash table; a power of two. */
const slotsMax = 1 << 20
/** The greatest number that a slot can contain. */
const writesMax = 0xffff_ffff
/** So many comparisons of a key with a range take some tens of milliseconds. */
const comparisonsMax = 100_000
/** So many comparisons for {@link PackedReads} take some milliseconds. */
const packedComparisonsMax = 20_000
/** Decoding 4000 keys from {@link PackedReads} takes some milliseconds. */
const packedKeysMax = 4_000
/** Comparing the keys of 256 commits with a single range takes some tens of microseconds. */
const comparedCommitsMax = 256

/** Recorded in place of the number of keys, if the keys of a commit are not stored. */
const notStored = -1

export class RecentWrites {
  /** Consecutive commits since the last `clear`. */
  #commits = 0
  /** Writes since the slots were last cleared. */
  #writes = 0
  /** The time of the commit before the first remembered commit. `#to`: of the last commit. */
  #from = 0
  #to = 0
  /**
   * By the number of a commit (modulo {@link commitsMax}). `#writesBefore`: the number of all writes before the commit.
   */
  readonly #times = new Float64Array(commitsMax)
  readonly #writesBefore = new Float64Array(commitsMax)
  /** The keys of the last commits, one after the other. */
  #ring = new Uint8Array()
  /** Includes overwritten and skipped bytes. */
  #ringEnd = 0
  /**
   * The number of a commit's keys in the ring, and their start, counted like `#ringEnd`, by the number of the commit.
   */
  readonly #keyCounts = new Int32Array(commitsMax)
  readonly #ringStarts = new Float64Array(commitsMax)
  /** The kinds of keys that a commit wrote ({@link kindBit}), by the number of the commit. */
  readonly #kinds = new Int32Array(commitsMax)
  /** The number of the last write to a key of each slot. Writes are numbered from 1. */
  #writtenAt = new Uint32Array()

  /** `before`: the time of the previous commit. */
  add(time: number, before: number, writes: readonly Write[]): void {
    const number = this.#begin(time, before, writes.length)
    const isStored = writes.length <= storedWritesMax
    let at = isStored ? this.#makeRoom(writes) : 0
    this.#keyCounts[number % commitsMax] = isStored ? writes.length : notStored
    this.#ringStarts[number % commitsMax] = this.#ringEnd
    const ring = this.#ring
    let kinds = 0
    for (const { key } of writes) {
      kinds |= kindBit(key[0] as number)
      const { length } = key
      this.#writtenAt[slotOf(hashBytes(key))] = ++this.#writes
      if (!isStored) continue
      ring[at++] = length >> 8
      ring[at++] = length & 0xff
      ring.set(key, at)
      at += length
    }
    if (isStored) this.#ringEnd += at - (this.#ringEnd % ringBytes)
    this.#kinds[number % commitsMax] = kinds
  }

  /** Returns the start of contiguous space for the keys of `writes`. */
  #makeRoom(writes: readonly Write[]): number {
    let bytes = 0
    for (const { key } of writes) bytes += lengthBytes + key.length
    const left = ringBytes - (this.#ringEnd % ringBytes)
    if (bytes > left) this.#ringEnd += left
    return this.#ringEnd % ringBytes
  }

  /** Allocates the memory at the first commit, because a process that only reads does not need these five megabytes. */
  #allocate(): void {
    this.#ring = new Uint8Array(ringBytes)
    this.#writtenAt = new Uint32Array(slotsMax)
  }

  /** Returns the number of the commit. */
  #begin(time: number, before: number, writes: number): number {
    if (this.#writtenAt.length === 0) this.#allocate()
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
    this.#to = time
    return number
  }

  /**
   * Forgets all commits, for example when a commit has failed, and whenever another process has committed in between.
   * The slots are large, so they are not cleared: the numbers of writes continue to increase, so all later writes have
   * greater numbers.
   */
  clear(): void {
    this.#commits = 0
    this.#from = 0
    this.#to = 0
  }

  /**
   * The part of `reads` that later commits may have changed. `since`: the time of the newest commit in the state that
   * was read. `now`: the time of the newest later commit. Returns undefined if some of these commits are not
   * remembered, or if checking a packed read set would take too long.
   */
  changedReads(reads: ReadSet, since: number, now: number): ReadSet | undefined {
    if (now !== this.#to || since < this.#from) return undefined
    const first = this.#firstAfter(since)
    if (first === this.#commits) return { keys: new Map(), ranges: [] }
    const before = this.#writesBefore[first % commitsMax] as number
    if (reads instanceof PackedReads) return this.#changedPacked(reads, first, before)
    const keys = new Map<string, RecordedValue>()
    for (const [key, found] of reads.keys) {
      if ((this.#writtenAt[slotOf(hashText(key))] as number) > before) keys.set(key, found)
    }
    return { keys, ranges: reads.ranges.length === 0 ? [] : this.#writtenRanges(reads.ranges, first) }
  }

  #changedPacked(reads: PackedReads, first: number, before: number): ReadSet | undefined {
    const isWritten = (hash: number) => (this.#writtenAt[slotOf(hash)] as number) > before
    const keys = reads.select(isWritten, packedKeysMax)
    const ranges = keys && this.#writtenPackedRanges(reads, first)
    return ranges && { keys: reads.keysAt(keys), ranges: Array.from(ranges, index => reads.rangeAt(index)) }
  }

  /**
   * The indexes of the ranges that contain a key written by the commits from number `first` on. Returns undefined if
   * keys of these commits are not stored, or if too many comparisons are needed.
   */
  #writtenPackedRanges(reads: PackedReads, first: number): ReadonlySet<number> | undefined {
    const found = new Set<number>()
    let comparisons = 0
    for (let number = first; number < this.#commits; number++) {
      if (!((this.#kinds[number % commitsMax] as number) & reads.kinds)) continue
      const keys = this.#keysOf(number)
      if (keys === undefined) return undefined
      for (const key of keys)
        if (kindBit(key[0] as number) & reads.kinds) comparisons += reads.addRangesWith(key, found)
      if (comparisons > packedComparisonsMax) return undefined
    }
    return found
  }

  /**
   * Returns whether commits after `since`, up to `now`, may have written a key of the given range, whose keys all have
   * the same first byte. Also considers remembered commits after `now`: the caller may read an earlier snapshot.
   */
  mayHaveWritten({ end, start }: Pick<KeyRange, 'start' | 'end'>, since: number, now: number): boolean {
    if (now > this.#to || since < this.#from) return true
    const first = this.#firstAfter(since)
    if (this.#commits - first > comparedCommitsMax) return true
    const kind = kindBit(start[0] as number)
    for (let number = first; number < this.#commits; number++) {
      if (!((this.#kinds[number % commitsMax] as number) & kind)) continue
      const keys = this.#keysOf(number)
      if (keys === undefined) return true
      for (const key of keys)
        if (key[0] === start[0] && Buffer.compare(key, start) >= 0 && Buffer.compare(key, end) < 0)
          return true
    }
    return false
  }

  /** Returns undefined when the keys were not stored, or have been overwritten. */
  #keysOf(number: number): readonly Bytes[] | undefined {
    const count = this.#keyCounts[number % commitsMax] as number
    const start = this.#ringStarts[number % commitsMax] as number
    if (count === notStored || this.#ringEnd - start > ringBytes) return undefined
    const ring = this.#ring
    const keys: Bytes[] = []
    let at = start % ringBytes
    for (let index = 0; index < count; index++) {
      const begin = at + lengthBytes
      at = begin + ((ring[at] as number) << 8) + (ring[at + 1] as number)
      keys.push(ring.subarray(begin, at))
    }
    return keys
  }

  /** The number of the first commit after the given time. */
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

  /** The ranges in which the commits from number `first` on may have written a key. */
  #writtenRanges(all: readonly ReadRange[], first: number): readonly ReadRange[] {
    const kinds = all.reduce((bits, range) => bits | kindsOf(range), 0)
    const found = new Set<ReadRange>()
    let left = comparisonsMax
    for (let number = first; number < this.#commits; number++) {
      // Fast and usually sufficient: reads and writes usually concern different kinds of rows.
      const both = (this.#kinds[number % commitsMax] as number) & kinds
      if (!both) continue
      const keys = this.#keysOf(number)
      if (keys === undefined) {
        for (const range of all) if (kindsOf(range) & both) found.add(range)
        continue
      }
      left -= keys.length * all.length
      if (left < 0) return all
      for (const bytes of keys) {
        if (!(kindBit(bytes[0] as number) & kinds)) continue
        const key = byteText(bytes)
        for (const range of all) if (range.start <= key && key < range.end) found.add(range)
      }
    }
    return [...found]
  }
}

/** The hash of the key's bytes selects the slot. */
function slotOf(hash: number): number {
  return (hash ^ (hash >>> 20)) & (slotsMax - 1)
}
