// The keys that this process's last commits have written. An attempt that was evaluated on an earlier state is compared
// with them under the writer's lock, which costs less than reading everything again. Commits of other processes
// are missing here; whoever asks notices, because a commit names the one before it.

import { byteText } from '../base/byte-text.ts'
import type { Write } from './contract.ts'
import type { ReadRange, ReadSet } from './noted-reads.ts'

interface Commit {
  readonly time: number
  /** `byteText` of the keys written. */
  readonly keys: readonly string[]
}

/** What is known of a set of reads: `unknown` when commits since are not remembered. */
export type Verdict = 'unchanged' | 'changed' | 'unknown'

/** Keys of commits that are remembered at a time. */
const keysMax = 50_000
/** Commits forgotten at the front of the list before it is made shorter. */
const slackMax = 1000
/** Comparisons of ranges with keys that are cheaper than reading the ranges again. */
const comparisonsMax = 20_000

export class RecentWrites {
  /** Without a gap, oldest first; those before `#first` are forgotten. */
  readonly #commits: Commit[] = []
  #first = 0
  /** The time of the last commit that wrote a key. */
  readonly #writtenAt = new Map<string, number>()
  #keys = 0
  /** The time of the commit before the first one remembered, and of the last one. */
  #from = 0
  #to = 0

  /** Remembers the commit at `time`, which followed the one at `before`. */
  add(time: number, before: number, writes: readonly Write[]): void {
    if (before !== this.#to) {
      this.clear()
      this.#from = before
    }
    const keys = writes.map(({ key }) => byteText(key))
    this.#commits.push({ time, keys })
    this.#to = time
    this.#keys += keys.length
    for (const key of keys) this.#writtenAt.set(key, time)
    while (this.#keys > keysMax) this.#forgetOldest()
  }

  /** Forgets everything, as when a commit did not come about. */
  clear(): void {
    this.#commits.length = 0
    this.#first = 0
    this.#writtenAt.clear()
    this.#keys = 0
    this.#from = 0
    this.#to = 0
  }

  /** Whether something of `reads`, made of the state after the commit `since`, was written up to the commit `now`. */
  compare(reads: ReadSet, since: number, now: number): Verdict {
    if (now !== this.#to || since < this.#from) return 'unknown'
    for (const key of reads.keys.keys()) if ((this.#writtenAt.get(key) ?? 0) > since) return 'changed'
    return reads.ranges.length === 0 ? 'unchanged' : this.#compareRanges(reads.ranges, since)
  }

  #compareRanges(ranges: readonly ReadRange[], since: number): Verdict {
    let left = comparisonsMax
    for (let at = this.#commits.length - 1; at >= this.#first; at--) {
      const { keys, time } = this.#commits[at] as Commit
      if (time <= since) break
      left -= keys.length * ranges.length
      if (left < 0) return 'unknown'
      // Texts of bytes compare as the bytes do.
      if (ranges.some(({ end, start }) => keys.some(key => key >= start && key < end))) return 'changed'
    }
    return 'unchanged'
  }

  #forgetOldest(): void {
    const { keys, time } = this.#commits[this.#first] as Commit
    this.#first++
    this.#from = time
    this.#keys -= keys.length
    for (const key of keys) if (this.#writtenAt.get(key) === time) this.#writtenAt.delete(key)
    if (this.#first > slackMax) {
      this.#commits.splice(0, this.#first)
      this.#first = 0
    }
  }
}
