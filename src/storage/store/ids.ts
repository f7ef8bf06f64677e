// Ids of documents: milliseconds since the offset << 20 | sequence << 10 | worker. The sequence is the microsecond
// within the millisecond, so an id is the time of its generation. An id is generated for the announced time of the
// commit, which is after all times that the client has seen. No commit has an earlier time than its ids. So a client
// that has seen a commit gets greater ids from every process that knows this commit.
//
// No id may be generated twice, but the clock does not guarantee this: the clock can be set back, also while the
// service is stopped. So ids are generated only within ranges of time that were reserved in the store before. For each
// worker number, the store contains the end of the reserved ids. The unused rest of a range is lost when the process
// exits. The process that replaces it takes another worker number, so that its ids are not ahead of the clock.

import { assert } from '../../base/assert.ts'
import { epoch, micros } from '../../base/micros.ts'
import { Pending } from '../../base/pending.ts'
import type { Micros } from '../../values/value.ts'

/** Milliseconds of the Unix epoch at which ids begin (a fact of the protocol). */
export const idEpochMs = 1_336_258_850_000
/** The number of worker numbers, which have 10 bits. */
export const workersMax = 1024

/**
 * A range of times whose ids with one worker number are reserved for one generator, in milliseconds of the Unix epoch;
 * `endMs` is exclusive.
 */
export interface IdStretch {
  readonly worker: number
  readonly startMs: number
  readonly endMs: number
}

/** Reserves a range from about now on, durably. It continues `current`, the last range, if possible. */
export type ReserveIds = (current: IdStretch | undefined) => Promise<IdStretch>

/**
 * Length of a range in milliseconds. The next range is reserved when half of it has passed, so requests do not wait for
 * a reservation under load.
 */
export const idStretchMs = 4000

/** The time in an id, in milliseconds of the Unix epoch. */
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

  /** The id for the time `now`, or the next free id. Throws {@link Pending} when a range must be reserved first. */
  next(now: Micros): bigint {
    const current = this.#current
    const time = micros(Math.max(now, this.#newest + 1, current === undefined ? 0 : current.startMs * 1000))
    const ms = Math.floor(time / 1000)
    if (current === undefined || ms >= current.endMs) {
      throw new Pending([{ key: 'ids', start: () => this.#renew() }])
    }
    this.#newest = time
    // A failure is ignored here: it occurs again, and is reported, when a request has no ids left.
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
    // Ids are generated within a transaction, and no other transaction may begin inside of it.
    await Promise.resolve()
    const current = this.#current
    const next = await this.#reserve(current)
    assert(next.worker >= 0 && next.worker < workersMax, 'the worker number has 10 bits')
    const continues = current?.worker === next.worker && current.endMs === next.startMs
    this.#current = continues ? { ...next, startMs: current.startMs } : next
  }
}
