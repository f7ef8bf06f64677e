// Ids of documents: milliseconds since the offset << 20 | sequence << 10 | worker. The sequence is the microsecond within
// the millisecond, so an id is the time at which it was drawn. It is drawn at the time announced for the commit, which lies
// behind all that its client has seen, and no commit is earlier than an id drawn for it: so a client that has seen
// a commit gets greater ids from every process that knows this.
//
// No id may be given twice, and the clock does not promise that: it can be set back, also while the service is
// stopped. So ids are drawn only from stretches of time that were reserved in the store before, which holds how far
// the ids of each worker number are reserved. What was not used up of a stretch is lost when the process ends, and its
// next one takes another number, so that its ids do not run ahead of the clock.

import { assert } from '../../base/assert.ts'
import { epoch, micros } from '../../base/micros.ts'
import { Pending } from '../../base/pending.ts'
import type { Micros } from '../../values/value.ts'

/** Milliseconds of the Unix epoch at which ids begin (a fact of the protocol). */
export const idEpochMs = 1_336_258_850_000
/** How many worker numbers there are: they have 10 bits. */
export const workersMax = 1024

/**
 * Times whose ids with one worker number one generator alone may draw, in milliseconds of the Unix epoch; `endMs` is not
 * one of them.
 */
export interface IdStretch {
  readonly worker: number
  readonly startMs: number
  readonly endMs: number
}

/**
 * Reserves durably a stretch from about now on. It continues `held`, the last one, where that is possible.
 */
export type ReserveIds = (held: IdStretch | undefined) => Promise<IdStretch>

/** Length of a stretch in milliseconds. The next one is reserved when half of it has passed, so under load no request waits. */
export const idStretchMs = 4000

/** The time in an id, in milliseconds of the Unix epoch. */
export function idMs(id: bigint): number {
  return Number(id >> 20n) + idEpochMs
}

/** Makes ids that never repeat, however the clock moves. */
export class IdGenerator {
  readonly #reserve: ReserveIds
  #held: IdStretch | undefined
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
   * The id of that time, or the next one that is left. Throws {@link Pending} when time has to be reserved first.
   */
  next(now: Micros): bigint {
    const held = this.#held
    const time = micros(Math.max(now, this.#newest + 1, held === undefined ? 0 : held.startMs * 1000))
    const ms = Math.floor(time / 1000)
    if (held === undefined || ms >= held.endMs) {
      throw new Pending([{ key: 'ids', start: () => this.#renew() }])
    }
    this.#newest = time
    // What fails here fails again for the request that finds nothing left, and is told there.
    if (ms >= held.endMs - idStretchMs / 2) this.#renew().catch(() => {})
    return (BigInt(ms - idEpochMs) << 20n) | BigInt(((time - ms * 1000) << 10) | held.worker)
  }

  #renew(): Promise<void> {
    this.#reserving ??= this.#extend().finally(() => {
      this.#reserving = undefined
    })
    return this.#reserving
  }

  async #extend(): Promise<void> {
    // Ids are drawn inside of transactions, which must not begin another.
    await Promise.resolve()
    const held = this.#held
    const next = await this.#reserve(held)
    assert(next.worker >= 0 && next.worker < workersMax, 'the worker number has 10 bits')
    const continues = held?.worker === next.worker && held.endMs === next.startMs
    this.#held = continues ? { ...next, startMs: held.startMs } : next
  }
}
