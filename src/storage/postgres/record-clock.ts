// The clock of a node: the database's time of day, advanced by the node's monotonic clock between two readings. So
// all nodes share one clock, even if their own clocks are wrong. The times of snapshots follow this clock, up to the
// closed time. All later commits have times after the closed time (follower.ts).

import { epoch, type Micros, micros } from '../../base/micros.ts'
import type { UsedSnapshotTimes } from '../../base/timeline.ts'

/** Assumed drift between two clocks, in microseconds for each millisecond. Real clocks drift ten times less. */
const driftMax = 1
/**
 * The database's clock was set back if a reading is earlier than expected by more than this number of microseconds, and
 * the delay of the response does not explain the difference.
 */
const stepMin = 1_000_000

/** The time of day from readings of the database's clock, in microseconds. Never goes back. */
export class RecordClock {
  readonly #elapsedMs: () => number
  #offset: number | undefined
  #learnedMs = 0
  #latest = epoch

  /** `elapsedMs`: a monotonic clock. */
  constructor(elapsedMs: () => number) {
    this.#elapsedMs = elapsedMs
  }

  /**
   * Records a reading of the database's clock. A delayed response makes the computed time of day too early, so the
   * reading that gives the latest time of day is the most accurate. `requestedMs`: the time of the request on the
   * monotonic clock. The delay of the response is at most the time since the request, for example if this process was
   * paused.
   */
  learn(time: Micros, requestedMs: number): void {
    const nowMs = this.#elapsedMs()
    const offset = time - nowMs * 1000
    const known = (this.#offset ?? offset) - (nowMs - this.#learnedMs) * driftMax
    const wasSetBack = known - (time - requestedMs * 1000) > stepMin
    this.#offset = wasSetBack ? offset : Math.max(offset, known)
    this.#learnedMs = nowMs
  }

  /** Microseconds since the Unix epoch; `epoch` before the first reading. */
  now(): Micros {
    const extrapolated =
      this.#offset === undefined ? epoch : micros(Math.floor(this.#offset + this.#elapsedMs() * 1000))
    this.#latest = Math.max(this.#latest, extrapolated)
    return this.#latest
  }
}

/** Maximum lag of a snapshot's time behind the time of day, in microseconds, while the database is available. */
const lagMax = 110_000
/** While the node serves reads, a closed time (follower.ts) is advanced at this age, in microseconds. */
const refreshAge = 75_000

/**
 * The times of snapshots of a replica: any time from its newest commit to the closed time (follower.ts). The closed
 * time advances in steps of a tenth of a second. Snapshot times do not have these steps, because they follow the clock
 * with a fixed lag. If possible, each snapshot time is later than the previous one.
 */
export class ReadTimes {
  readonly #clock: RecordClock
  readonly #others: UsedSnapshotTimes | undefined
  #closed = epoch
  /** The latest time of a snapshot or of the newest commit. */
  #latest = epoch

  /** `others`: the snapshot times that the processes of the node have used; undefined if the node has one process. */
  constructor(clock: RecordClock, others?: UsedSnapshotTimes) {
    this.#clock = clock
    this.#others = others
  }

  /** The newest known closed time: the replica is complete up to it. */
  get closed(): Micros {
    return this.#closed
  }

  /** The times of snapshots follow the time of day. */
  get areFresh(): boolean {
    return this.#clock.now() - this.#closed < lagMax
  }

  /** The minimum closed time for reads. If the closed time is earlier, a refresh advances it. */
  get wanted(): number {
    return this.#clock.now() - refreshAge
  }

  /** The replica is complete up to `closed`. `newest`: the time of its newest commit. */
  advance(closed: Micros, newest: Micros): void {
    this.#closed = Math.max(this.#closed, closed)
    this.#latest = Math.max(this.#latest, newest)
  }

  /**
   * A time up to which the newest snapshot of the replica is complete, in microseconds; if possible, later than the
   * previous result and later than `after`.
   */
  next(after: Micros = epoch): Micros {
    if (this.#others !== undefined) {
      // All processes share the replica, so it is complete up to each time that another process has determined.
      this.#latest = Math.max(this.#latest, this.#others.newest())
      this.#closed = Math.max(this.#closed, this.#latest)
    }
    const wanted = Math.max(this.#latest, after)
    const next = Math.max(micros(wanted + 1), micros(this.#clock.now() - lagMax))
    this.#latest = Math.max(this.#latest, Math.min(this.#closed, next))
    this.#others?.note(this.#latest)
    return this.#latest
  }
}
