// Ranges of keys, indexed so that those which overlap a span of keys are found quickly.

import type { ReadRange } from './noted-reads.ts'

export class IndexedRanges {
  /** By their starts. */
  readonly #ranges: readonly ReadRange[]
  /** By position: the greatest end up to there. */
  readonly #ends: readonly string[]
  readonly #found = new Set<ReadRange>()
  /** The least and the greatest first character of a key that a range can hold. */
  #low = Number.POSITIVE_INFINITY
  #high = -1

  constructor(ranges: readonly ReadRange[]) {
    this.#ranges = ranges.toSorted((a, b) => (a.start < b.start ? -1 : a.start > b.start ? 1 : 0))
    let end = ''
    this.#ends = this.#ranges.map(range => {
      if (range.end > end) end = range.end
      return end
    })
    for (const { end, start } of ranges) {
      if (start >= end) continue
      this.#low = Math.min(this.#low, start === '' ? 0 : start.charCodeAt(0))
      this.#high = Math.max(this.#high, end.charCodeAt(0))
    }
  }

  /** Whether there can be a range that holds a key with this first byte. */
  mayHold(firstByte: number): boolean {
    return firstByte >= this.#low && firstByte <= this.#high
  }

  /** Finds the ranges that hold some key from `first` to `last`, both included. Keys are `byteText`s. */
  find(first: string, last: string): void {
    for (let at = this.#startingUpTo(last) - 1; at >= 0; at--) {
      if ((this.#ends[at] as string) <= first) return
      const range = this.#ranges[at] as ReadRange
      if (range.end > first) this.#found.add(range)
    }
  }

  /** What has been found so far. */
  found(): ReadRange[] {
    return [...this.#found]
  }

  /** How many ranges start at `key` or before. */
  #startingUpTo(key: string): number {
    let low = 0
    let high = this.#ranges.length
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      if ((this.#ranges[middle] as ReadRange).start <= key) low = middle + 1
      else high = middle
    }
    return low
  }
}
