// The times of snapshots of a replica. A snapshot may have any time from the time of its newest commit to the closed
// time. The closed time advances in steps of a tenth of a second. Snapshot times follow the clock with a fixed lag
// instead, and each is later than the previous one.

import { epoch, type Micros, micros } from '../../../base/micros.ts'
import type { SnapshotTimes } from '../../../base/shared-timeline.ts'
import type { RecordClock } from './record-clock.ts'

/** Maximum lag of a snapshot's time behind the time of day, in microseconds, while the database is available. */
const lagMax = 110_000
/** Age in microseconds from which on the closed time is advanced while the node has reads. */
const refreshAge = 75_000

export class ReadTimes {
  readonly #clock: RecordClock
  readonly #others: SnapshotTimes | undefined
  #closed = epoch
  #given = epoch

  /** `others`: the times that the processes of the node have used, when there are several. */
  constructor(clock: RecordClock, others?: SnapshotTimes) {
    this.#clock = clock
    this.#others = others
  }

  /** The newest closed time whose batch is in the replica, in microseconds. */
  get closed(): Micros {
    return this.#closed
  }

  /** True while the times of snapshots follow the time of day. */
  get areFresh(): boolean {
    return this.#clock.now() - this.#closed < lagMax
  }

  /** The closed time that reads need. */
  get wanted(): number {
    return this.#clock.now() - refreshAge
  }

  /** Records that the replica, whose newest commit has the time `newest`, is complete up to `closed`. */
  note(closed: Micros, newest: Micros): void {
    this.#closed = Math.max(this.#closed, closed)
    this.#given = Math.max(this.#given, newest)
  }

  /**
   * A time up to which the newest snapshot of the replica is complete, in microseconds; later than the previous result,
   * and later than `after` if possible.
   */
  next(after: Micros = epoch): Micros {
    if (this.#others !== undefined) {
      // All processes share the replica, so the replica is complete up to each time that another process has
      // determined.
      this.#given = Math.max(this.#given, this.#others.newest())
      this.#closed = Math.max(this.#closed, this.#given)
    }
    const wanted = Math.max(this.#given, after)
    const next = Math.max(micros(wanted + 1), micros(this.#clock.now() - lagMax))
    this.#given = Math.max(this.#given, Math.min(this.#closed, next))
    this.#others?.note(this.#given)
    return this.#given
  }
}
