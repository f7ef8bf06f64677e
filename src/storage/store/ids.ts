// Generates ids of documents. An id has three parts: (milliseconds since `idEpochMs`) << 20 | sequence << 10 | worker.
// The sequence is the microsecond within the millisecond, so an id contains a time in microseconds. This is the
// announced time of the commit, or slightly later. The announced time is after all times that the client has seen, and
// no commit has an earlier time than its ids. A client that has seen a commit therefore gets greater ids from every
// process that knows this commit.
//
// No id may be generated twice, although the clock can be set back, even while the service is stopped. A process
// therefore generates ids only within ranges of time that it has reserved in the store. For each worker number, the
// store contains the end of the last reserved range. When a process exits, the unused rest of its range is lost. The
// next process takes another worker number, so that its ids are not ahead of the clock.

import { assert } from '../../base/assert.ts'
import { epoch, micros } from '../../base/micros.ts'
import { Pending } from '../../base/pending.ts'
import type { Micros } from '../../values/value.ts'

/** The time at which ids begin, in milliseconds of the Unix epoch. The protocol fixes this time. */
export const idEpochMs = 1_336_258_850_000
/** The number of different worker numbers. A worker number has 10 bits. */
export const workersMax = 1024

/**
 * A reserved range of ids. One generator may generate the ids with the number `worker` and a time in this range. The
 * times are in milliseconds of the Unix epoch, and `endMs` is exclusive.
 */
export interface IdStretch {
  readonly worker: number
  readonly startMs: number
  readonly endMs: number
}

/**
 * Durably reserves a range that begins about now. `current`: the caller's last range; the new range continues it if
 * possible.
 */
export type ReserveIds = (current: IdStretch | undefined) => Promise<IdStretch>

/**
 * Length of a range in milliseconds. The next range is reserved when half of the current range has passed. Under load,
 * requests therefore do not wait for a reservation.
 */
export const idStretchMs = 4000

/** Returns the time in an id, in milliseconds of the Unix epoch. */
export function idMs(id: bigint): number {
  return Number(id >> 20n) + idEpochMs
}

/** Generates ids that never repeat, even if the clock is set back. */
export class IdGenerator {
  readonly #reserve: ReserveIds
  #current: IdStretch | undefined
  #newest: Micros = epoch
  #reserving: Promise<void> | undefined

  constructor(reserve: ReserveIds) {
    this.#reserve = reserve
  }

  /** The time of the newest id, in microseconds. */
  get newest(): Micros {
    return this.#newest
  }

  /**
   * Returns the id for the time `now`, or the next free id. Throws {@link Pending} if a range must be reserved first.
   */
  next(now: Micros): bigint {
    const current = this.#current
    const time = micros(Math.max(now, this.#newest + 1, current === undefined ? 0 : current.startMs * 1000))
    const ms = Math.floor(time / 1000)
    if (current === undefined || ms >= current.endMs) {
      throw new Pending([{ key: 'ids', start: () => this.#renew() }])
    }
    this.#newest = time
    // A failure is ignored here. If the next reservation fails, too, a request without ids reports the failure.
    if (ms >= current.endMs - idStretchMs / 2) this.#renew().catch(() => {})
    return (BigInt(ms - idEpochMs) << 20n) | BigInt(((time - ms * 1000) << 10) | current.worker)
  }

  #renew(): Promise<void> {
    this.#reserving ??= this.#extend().finally(() => {
      this.#reserving = undefined
    })
    return this.#reserving
  }

  async #extend(): Promise<void> {
    // Ids are generated within a transaction, and the reservation is another transaction. It must not begin within the
    // first transaction.
    await Promise.resolve()
    const current = this.#current
    const next = await this.#reserve(current)
    assert(next.worker >= 0 && next.worker < workersMax, 'the worker number has 10 bits')
    const continues = current?.worker === next.worker && current.endMs === next.startMs
    this.#current = continues ? { ...next, startMs: current.startMs } : next
  }
}
