// The keys that this process's last commits have written. An attempt that was evaluated on an earlier state is compared
// with them under the writer's lock, which costs less than reading everything again. Commits of other processes
// are missing here; whoever asks notices, because a commit names the one before it.
//
// Every commit passes through here, so little is kept that the garbage collector would have to follow: the place of a
// key in a table of fixed size says which write was the last to it. Two keys may share a place; then what was not
// written looks as if it had been, and the attempt is made again in vain.

import type { Bytes, Write } from './contract.ts'
import type { ReadRange, ReadSet } from './noted-reads.ts'

/** What is known of a set of reads: `unknown` when commits since are not remembered. */
export type Verdict = 'unchanged' | 'changed' | 'unknown'

/** Commits that are remembered; a power of two. */
const commitsMax = 8192
/** Commits of which the keys themselves are kept, to compare ranges with; a power of two. */
const keptMax = 512
/** Writes of such a commit: the keys of larger ones, as of an import, would fill the memory. */
const keptWritesMax = 256
/** Places of the table; a power of two. */
const placesMax = 1 << 20
/** Writes since, from which on so many places are taken that the table says little. */
const writesMax = placesMax / 16
/** Comparisons of ranges with keys that are cheaper than reading the ranges again. */
const comparisonsMax = 20_000

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
  /** By the number of a commit: its keys; undefined when there are too many. */
  readonly #keys: (readonly Bytes[] | undefined)[] = new Array(keptMax).fill([])
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
    this.#keys[number % keptMax] = writes.length > keptWritesMax ? undefined : writes.map(({ key }) => key)
    for (const { key } of writes) this.#writtenAt[placeOfKey(key)] = ++this.#writes
    this.#to = time
  }

  /** Forgets everything, as when a commit did not come about. */
  clear(): void {
    if (this.#writes > 0) this.#writtenAt.fill(0)
    this.#commits = 0
    this.#writes = 0
    this.#keys.fill([])
    this.#from = 0
    this.#to = 0
  }

  /** Whether something of `reads`, made of the state after the commit `since`, was written up to the commit `now`. */
  compare(reads: ReadSet, since: number, now: number): Verdict {
    if (now !== this.#to || since < this.#from) return 'unknown'
    const first = this.#firstAfter(since)
    if (first === this.#commits) return 'unchanged'
    const before = this.#writesBefore[first % commitsMax] as number
    if (this.#writes - before > writesMax) return 'unknown'
    for (const key of reads.keys.keys())
      if ((this.#writtenAt[placeOfText(key)] as number) > before) return 'changed'
    return reads.ranges.length === 0 ? 'unchanged' : this.#compareRanges(reads.ranges, first)
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

  #compareRanges(ranges: readonly ReadRange[], first: number): Verdict {
    if (this.#commits - first > keptMax) return 'unknown'
    const bounds = ranges.map(({ end, start }) => ({
      start: Buffer.from(start, 'latin1'),
      end: Buffer.from(end, 'latin1'),
    }))
    let left = comparisonsMax
    for (let number = first; number < this.#commits; number++) {
      const keys = this.#keys[number % keptMax]
      if (keys === undefined) return 'unknown'
      left -= keys.length * ranges.length
      if (left < 0) return 'unknown'
      for (const key of keys) if (bounds.some(bound => isWithin(key, bound))) return 'changed'
    }
    return 'unchanged'
  }
}

/** Most keys differ from most bounds in the first byte: their kind. */
function isWithin(key: Bytes, { end, start }: { readonly start: Bytes; readonly end: Bytes }): boolean {
  const kind = key[0] as number
  if (kind < (start[0] ?? 0) || kind > (end[0] ?? 0)) return false
  return Buffer.compare(key, start) >= 0 && Buffer.compare(key, end) < 0
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
