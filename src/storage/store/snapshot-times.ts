// The times of this process's snapshots and commits, by the rules of base/timeline.ts. The rules do not cover a caller
// that sends a last seen time in the future; only this caller is affected.

import { epoch, type Micros, micros } from '../../base/micros.ts'
import { type Announcement, commitDistance, type Reach, type Timeline } from '../../base/timeline.ts'
import type { KeyValueStore, View } from '../kv/kv-contract.ts'
import { type CommitRecord, lastCommit } from './last-commit.ts'
import { SnapshotTooEarly } from './store-contract.ts'

/**
 * Maximum microseconds by which a caller may move the time ahead of the clock. Clocks of processes differ by less than
 * this.
 */
const clockSkewMax: number = 10_000_000

/** Maximum lag of snapshots behind the clock, in microseconds, before `onLag` is called. */
const lagMax: number = 1_000_000

export class SnapshotTimes {
  readonly #kv: KeyValueStore
  readonly #timeline: Timeline
  readonly #onLag: () => void
  /** The newest time that this process has used for a snapshot. */
  #newestSnapshot: Micros = epoch
  #newestCommit: Micros = epoch

  /** `onLag` is called when a commit that was announced long ago delays the time of snapshots. */
  constructor(kv: KeyValueStore, timeline: Timeline, onLag: () => void) {
    this.#kv = kv
    this.#timeline = timeline
    this.#onLag = onLag
  }

  /** The time of day, but not before any time of a snapshot or a commit of this process. */
  now(): Micros {
    return Math.max(this.#timeline.now(), this.#newestSnapshot, this.#newestCommit)
  }

  /** Records the time of a commit of this process. */
  recordCommit(time: Micros): void {
    this.#newestCommit = Math.max(this.#newestCommit, time)
  }

  /** The time of a commit, under the writer's lock. */
  commitTime(notBefore: Micros, last: CommitRecord): Micros {
    const closed = this.#timeline.closed?.() ?? epoch
    return Math.max(notBefore, micros(last.time + commitDistance), micros(closed + 1))
  }

  /**
   * Announces a commit at `notBefore` + {@link commitDistance} or later. A transaction without writes gets the time
   * directly before the commit, and this time must also be later than `notBefore`.
   */
  announce(notBefore: Micros): Announcement {
    const wanted = Math.min(notBefore, micros(this.#timeline.now() + clockSkewMax))
    const earliest = Math.max(micros(wanted + commitDistance), micros(this.#newestSnapshot + 1))
    return this.#timeline.announce(earliest)
  }

  /**
   * Announces the commit of an attempt that was evaluated for `commitTime`: at the same time, unless another commit has
   * reached it.
   */
  announceAt(commitTime: Micros): Announcement {
    return this.announce(micros(commitTime - commitDistance))
  }

  /**
   * Reads a snapshot. It contains every commit up to the time that `read` gets, and all later commits have later times.
   * The time is later than `seen`, the last seen time of a client, and later than the times of all earlier snapshots
   * for clients of this machine. Throws {@link SnapshotTooEarly} when there is no such time yet. If `seen` is ahead of
   * the clock, or the timeline is halted ({@link Reach.isHalted}), the time is `seen` itself, but at most {@link
   * clockSkewMax} ahead of the clock. Without `seen` the reader is not a client, and no snapshot is too early.
   */
  onSnapshot<T>(seen: Micros | undefined, read: (view: View, last: CommitRecord, time: Micros) => T): T {
    const reach = this.#timeline.reach(seen)
    return this.#kv.read(view => {
      const last = lastCommit(view)
      const sure = this.#sureTime(reach, last)
      const time = seen === undefined ? sure : timeAfter(seen, reach, sure)
      this.#newestSnapshot = Math.max(this.#newestSnapshot, time)
      return read(view, last, time)
    })
  }

  /**
   * A read timestamp later than `seen` for the state under the writer's lock, with the guarantee of {@link onSnapshot}.
   * Other readers do not see that state yet. Undefined when only a commit can have such a time.
   */
  readTimestamp(last: CommitRecord, seen: Micros): Micros | undefined {
    const reach = this.#timeline.reach(seen)
    if (reach.upTo === undefined) return undefined
    const time = this.#sureTime(reach, last)
    return time > seen || seen > reach.now ? time : undefined
  }

  #sureTime({ now, upTo = epoch }: Reach, last: CommitRecord): Micros {
    const sure = Math.max(upTo, micros(last.time + 1), this.#newestSnapshot)
    if (now - sure > lagMax) this.#onLag()
    return sure
  }
}

/**
 * The time of a snapshot for a client with the last seen time `seen`. `sure`: a time up to which the snapshot is
 * certainly complete.
 */
function timeAfter(seen: Micros, reach: Reach, sure: Micros): Micros {
  if (sure > seen && reach.upTo !== undefined) return sure
  if (seen <= reach.now && !reach.isHalted) throw new SnapshotTooEarly()
  return Math.max(sure, Math.min(seen, micros(reach.now + clockSkewMax)))
}
