// The times of this process's snapshots and commits, by the rules of base/timeline.ts. Only a caller that claims to have
// seen the future is not covered by them, and only it notices.

import { endOfTime, epoch, type Micros, micros } from '../base/micros.ts'
import { type Announcement, commitDistance, type Timeline } from '../base/timeline.ts'
import type { KeyValueStore, View } from '../kv/contract.ts'
import { type CommitRecord, lastCommit } from './last-commit.ts'

/** How far ahead of the clock a caller may push time, in microseconds: clocks of processes differ by less. */
const clockSkewMax: number = 10_000_000

/** How far snapshots may fall behind the clock, in microseconds, before something is done about it. */
const lagMax: number = 1_000_000

export class SnapshotTimes {
  readonly #kv: KeyValueStore
  readonly #timeline: Timeline
  readonly #onLag: () => void
  /** The newest time this process has given to a snapshot. */
  #newestSnapshot: Micros = epoch
  #newestCommit: Micros = epoch

  /** `onLag` is called when a commit that was announced long ago holds up the time of snapshots. */
  constructor(kv: KeyValueStore, timeline: Timeline, onLag: () => void) {
    this.#kv = kv
    this.#timeline = timeline
    this.#onLag = onLag
  }

  /** The time of day, not before any time this process has given to a snapshot or a commit. */
  now(): Micros {
    return Math.max(this.#timeline.now(), this.#newestSnapshot, this.#newestCommit)
  }

  /** Notes the time of a commit of this process. */
  noteCommit(time: Micros): void {
    this.#newestCommit = Math.max(this.#newestCommit, time)
  }

  /** The time of a commit, under the writer's lock. */
  commitTime(notBefore: Micros, last: CommitRecord): Micros {
    const closed = this.#timeline.closed?.() ?? epoch
    return Math.max(notBefore, micros(last.time + commitDistance), micros(closed + 1))
  }

  /** Announces a commit of which everything is to be later than `notBefore`. */
  announce(notBefore: Micros): Announcement {
    const wanted = Math.min(notBefore, micros(this.#timeline.now() + clockSkewMax))
    return this.#timeline.announce(micros(Math.max(wanted, this.#newestSnapshot) + 1))
  }

  /**
   * Reads a snapshot. It holds every commit up to the time that `read` is given, which is at least `notBefore`, and no
   * later commit has a time up to that. The order of the three questions matters.
   */
  onSnapshot<T>(notBefore: Micros, read: (view: View, last: CommitRecord, time: Micros) => T): T {
    const clock = this.#timeline.now()
    const oldest = this.#timeline.oldestAnnounced()
    return this.#kv.read(view => {
      const last = lastCommit(view)
      const sure = this.#sureTime(clock, oldest, last)
      // A caller who has really seen that time knows that the snapshot holds all up to it.
      const time = Math.max(sure, Math.min(notBefore, micros(clock + clockSkewMax)))
      this.#newestSnapshot = Math.max(this.#newestSnapshot, time)
      return read(view, last, time)
    })
  }

  /** A time for the state under the writer's lock, by the same promise. That state is not visible to others yet. */
  settledTime(last: CommitRecord): Micros {
    return this.#sureTime(this.#timeline.now(), this.#timeline.oldestAnnounced(), last)
  }

  #sureTime(clock: Micros, oldestAnnounced: Micros, last: CommitRecord): Micros {
    const behindLast = micros(last.time + 1)
    if (oldestAnnounced === endOfTime) return Math.max(clock, behindLast, this.#newestSnapshot)
    const sure = Math.max(Math.min(clock, micros(oldestAnnounced - 1)), behindLast, this.#newestSnapshot)
    if (clock - sure > lagMax) this.#onLag()
    return sure
  }
}
