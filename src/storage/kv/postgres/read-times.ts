// The times that snapshots of a copy get. A copy may be read at any time between that of its newest commit and the closed
// one; so they pass as the clock does, a fixed lag behind it, and each is later than the one before, although the closed
// time moves in steps of a tenth of a second.

import { epoch, type Micros, micros } from '../../../base/micros.ts'
import type { SnapshotTimes } from '../../../base/shared-timeline.ts'
import type { RecordClock } from './record-clock.ts'

/** A snapshot's time is at most this far behind the time of day, in microseconds, while the database is there. */
const lagMax = 110_000
/** From this age on, in microseconds, the closed time is to be moved while the node is read. */
const refreshAge = 75_000

export class ReadTimes {
  readonly #clock: RecordClock
  readonly #others: SnapshotTimes | undefined
  #closed = epoch
  #given = epoch

  /** `others`: the times that the processes of the node have given, when there are several. */
  constructor(clock: RecordClock, others?: SnapshotTimes) {
    this.#clock = clock
    this.#others = others
  }

  /** The newest closed time whose batch the copy holds, in microseconds. */
  get closed(): Micros {
    return this.#closed
  }

  /** Whether the times that snapshots get follow the time of day. */
  get areFresh(): boolean {
    return this.#clock.now() - this.#closed < lagMax
  }

  /** The closed time that there has to be for those who read. */
  get wanted(): number {
    return this.#clock.now() - refreshAge
  }

  /** The copy, whose newest commit is of the time `newest`, is complete up to `closed`. */
  note(closed: Micros, newest: Micros): void {
    this.#closed = Math.max(this.#closed, closed)
    this.#given = Math.max(this.#given, newest)
  }

  /**
   * A time that the newest snapshot of the copy is complete up to, in microseconds; later than the last one, and than `after`, if
   * there is one.
   */
  next(after: Micros = epoch): Micros {
    if (this.#others !== undefined) {
      // The processes share the copy: it is complete up to what another of them has found it to be.
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
