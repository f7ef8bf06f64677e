// The times of this process's snapshots and commits, by the rules of base/timeline.ts. A client may send its last seen
// time: the time of the newest transaction that the client has seen. If this time is in the future, the guarantees of
// these rules do not hold for this client. Other clients are not affected.

import { epoch, type Micros, micros } from '../../base/micros.ts'
import { type Announcement, commitDistance, type SnapshotBounds, type Timeline } from '../../base/timeline.ts'
import type { KeyValueStore, View } from '../kv/kv-contract.ts'
import { type CommitRecord, lastCommit } from './last-commit.ts'
import { SnapshotTooEarly } from './store-contract.ts'

/**
 * How far, in microseconds, a client's last seen time can move the times of snapshots and commits ahead of the clock.
 * No larger difference between the clocks of processes is expected.
 */
const clockSkewMax: number = 10_000_000

/** `onLag` is called if the time of a snapshot is further behind the clock, in microseconds. */
const lagMax: number = 1_000_000

export class SnapshotTimes {
  readonly #kv: KeyValueStore
  readonly #timeline: Timeline
  readonly #onLag: () => void
  /** The newest time of a snapshot of this process. */
  #newestSnapshot: Micros = epoch
  #newestCommit: Micros = epoch
  /** The newest commit in a state of the store ({@link View.state}), because most reads follow no new commit. */
  #lastCommit: { readonly state: number; readonly commit: CommitRecord } | undefined

  /** `onLag`: a running commit that was announced long ago delays the times of snapshots. */
  constructor(kv: KeyValueStore, timeline: Timeline, onLag: () => void) {
    this.#kv = kv
    this.#timeline = timeline
    this.#onLag = onLag
  }

  /** The time of day, or a later time of a snapshot or commit of this process. */
  now(): Micros {
    return Math.max(this.#timeline.now(), this.#newestSnapshot, this.#newestCommit)
  }

  /** Must be called for each commit of this process. */
  recordCommit(time: Micros): void {
    this.#newestCommit = Math.max(this.#newestCommit, time)
  }

  /** Returns a time after the commit `last`, and not before `notBefore`. Must be called under the writer lock. */
  commitTime(notBefore: Micros, last: CommitRecord): Micros {
    const closed = this.#timeline.closed?.() ?? epoch
    return Math.max(notBefore, micros(last.time + commitDistance), micros(closed + 1))
  }

  /**
   * Announces a commit at `notBefore` + {@link commitDistance} or later; `notBefore` is first reduced to at most
   * {@link clockSkewMax} ahead of the clock. A transaction that writes nothing gets a time one microsecond before the
   * planned commit time, which is then also later than `notBefore`.
   */
  announce(notBefore: Micros): Announcement {
    const wanted = Math.min(notBefore, micros(this.#timeline.now() + clockSkewMax))
    const earliest = Math.max(micros(wanted + commitDistance), micros(this.#newestSnapshot + 1))
    return this.#timeline.announce(earliest)
  }

  /**
   * Calls `read` with a snapshot and its time. The snapshot contains every commit up to this time, and all later
   * commits have later times. `seen`: the last seen time of a client, or {@link epoch} if this time is unknown. Without
   * `seen`, never throws {@link SnapshotTooEarly}; another process may have used a later snapshot time.
   *
   * The time of the snapshot is later than `seen`, and not earlier than the times of earlier snapshots of this machine.
   * Throws {@link SnapshotTooEarly} if no such time is available yet. In two cases, the time may equal `seen`: `seen`
   * is ahead of the clock, or the timeline is halted ({@link SnapshotBounds.isHalted}). If `seen` is more than
   * {@link clockSkewMax} ahead of the clock, it is first reduced to this limit.
   */
  onSnapshot<T>(seen: Micros | undefined, read: (view: View, last: CommitRecord, time: Micros) => T): T {
    const reach = this.#timeline.reach(seen)
    return this.#kv.read(view => {
      const last = this.#lastCommitIn(view)
      const complete = this.#completeTime(reach, last)
      const time = seen === undefined ? complete : timeAfter(seen, reach, complete)
      this.#newestSnapshot = Math.max(this.#newestSnapshot, time)
      return read(view, last, time)
    })
  }

  #lastCommitIn(view: View): CommitRecord {
    const { state } = view
    if (state === undefined) return lastCommit(view)
    const cached = this.#lastCommit
    if (cached?.state === state) return cached.commit
    const commit = lastCommit(view)
    this.#lastCommit = { state, commit }
    return commit
  }

  /**
   * A read timestamp for the newest state, which is visible only under the writer lock. The state contains every commit
   * up to this time, and all later commits have later times. The timestamp is later than `seen`, unless `seen` is ahead
   * of the clock. Undefined if no such timestamp is available yet: the caller must make a commit to get a time later
   * than `seen`.
   */
  readTimestamp(last: CommitRecord, seen: Micros): Micros | undefined {
    const reach = this.#timeline.reach(seen)
    if (reach.upTo === undefined) return undefined
    const time = this.#completeTime(reach, last)
    return time > seen || seen > reach.now ? time : undefined
  }

  #completeTime({ now, upTo = epoch }: SnapshotBounds, last: CommitRecord): Micros {
    const complete = Math.max(upTo, micros(last.time + 1), this.#newestSnapshot)
    if (now - complete > lagMax) this.#onLag()
    return complete
  }
}

/**
 * The time of a snapshot for a client with the last seen time `seen`. `complete`: the snapshot contains all commits up
 * to this time.
 */
function timeAfter(seen: Micros, reach: SnapshotBounds, complete: Micros): Micros {
  if (complete > seen && reach.upTo !== undefined) return complete
  if (seen <= reach.now && !reach.isHalted) throw new SnapshotTooEarly()
  return Math.max(complete, Math.min(seen, micros(reach.now + clockSkewMax)))
}
