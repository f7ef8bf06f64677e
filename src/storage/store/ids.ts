// An id of a document has three parts: (milliseconds since `idEpochMs`) << 20 | sequence << 10 | worker. The sequence
// is the microsecond within the millisecond, so an id contains a time in microseconds. Before a process evaluates a
// transaction, it announces a commit time, after all commits that the client has seen. The time in an id is the
// announced time, or slightly later. A commit is never earlier than the times in its ids. So after a client has seen a
// commit, each process that has this commit generates ids for the client that are greater than the ids in the commit.
//
// No id may be generated twice, even if the clock is set back while the service is stopped. A process therefore
// generates ids only within ranges of time that it has reserved in the store. For each worker number, the store
// contains the end of the last reserved range. When a process exits, the unused rest of its range is lost. The next
// process uses another worker number, because ids after the lost range would be ahead of the clock.

import { assert } from '../../base/assert.ts'
import { epoch, micros } from '../../base/micros.ts'
import { Pending } from '../../base/pending.ts'
import type { Micros } from '../../values/value.ts'

/** The earliest time that an id can contain, in milliseconds of the Unix epoch. The protocol fixes this time. */
export const idEpochMs = 1_336_258_850_000
/** A worker number has 10 bits. */
export const workersMax = 1024

/**
 * The process that reserved the range may generate ids with the number `worker` and a time in the range, in
 * milliseconds of the Unix epoch. `endMs` is exclusive.
 */
export interface IdRange {
  readonly worker: number
  readonly startMs: number
  readonly endMs: number
}

/**
 * Durably reserves a range that begins about now. If possible, it directly follows `current`, the caller's last range.
 */
export type ReserveIds = (current: IdRange | undefined) => Promise<IdRange>

/** The next range is reserved when half of the current range has passed, so requests under load do not wait for it. */
export const idRangeMs = 4000

/** Returns milliseconds since the Unix epoch. */
export function idMs(id: bigint): number {
  return Number(id >> 20n) + idEpochMs
}

/** Ids never repeat, even if the clock is set back. */
export class IdGenerator {
  readonly #reserve: ReserveIds
  #current: IdRange | undefined
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
   * The id has the time `now`, or the first free time after it. Throws {@link Pending} if a range must be reserved
   * first.
   */
  next(now: Micros): bigint {
    const current = this.#current
    const time = micros(Math.max(now, this.#newest + 1, current === undefined ? 0 : current.startMs * 1000))
    const ms = Math.floor(time / 1000)
    if (current === undefined || ms >= current.endMs) {
      throw new Pending([{ key: 'ids', start: () => this.#renew() }])
    }
    this.#newest = time
    // The reservation is retried. After the end of the range, requests wait for a reservation and report its error.
    if (ms >= current.endMs - idRangeMs / 2) this.#renew().catch(() => {})
    return (BigInt(ms - idEpochMs) << 20n) | BigInt(((time - ms * 1000) << 10) | current.worker)
  }

  #renew(): Promise<void> {
    this.#reserving ??= this.#extend().finally(() => {
      this.#reserving = undefined
    })
    return this.#reserving
  }

  async #extend(): Promise<void> {
    // A separate transaction, which must not begin inside the transaction that generates the ids.
    await Promise.resolve()
    const current = this.#current
    const next = await this.#reserve(current)
    assert(next.worker >= 0 && next.worker < workersMax, 'the worker number has 10 bits')
    const continues = current?.worker === next.worker && current.endMs === next.startMs
    this.#current = continues ? { ...next, startMs: current.startMs } : next
  }
}
