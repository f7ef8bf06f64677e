// Ids of documents: milliseconds since the offset << 20 | sequence << 10 | worker, strictly increasing per worker.
//
// No id may be given twice, and the clock does not promise that: it can be set back, also while the service is
// stopped. So ids are drawn only from stretches of time that were reserved in the store before, which holds how far
// each worker has reserved. A stretch that was not used up is lost when the process ends.

import { assert } from '../base/assert.ts'
import { Pending } from '../base/pending.ts'
import type { Micros } from '../values/value.ts'

/** Milliseconds of the Unix epoch at which ids begin (a fact of the protocol). */
export const idEpochMs = 1_336_258_850_000
const sequenceMax = 1023
const workerMax = 1023

/** Times whose ids one generator alone may draw, in milliseconds of the Unix epoch; `endMs` is not one of them. */
export interface IdStretch {
  readonly startMs: number
  readonly endMs: number
}

/**
 * Length of a stretch in milliseconds. The next one is reserved when half of it has passed, so under load nobody waits
 * for it; and after a restart, ids run ahead of the clock by so much at most.
 */
export const idStretchMs = 4000

/** The time in an id, in milliseconds of the Unix epoch. */
export function idMs(id: bigint): number {
  return Number(id >> 20n) + idEpochMs
}

/** Makes ids that never repeat, however the clock moves. */
export class IdGenerator {
  readonly #worker: bigint
  readonly #reserve: () => Promise<IdStretch>
  #endMs = 0
  #ms = 0
  #sequence = sequenceMax
  #reserving: Promise<void> | undefined

  /** `reserve` makes a stretch from about now on durably this generator's own, after all that were reserved before. */
  constructor(worker: number, reserve: () => Promise<IdStretch>) {
    assert(worker >= 0 && worker <= workerMax, 'the worker number has 10 bits')
    this.#worker = BigInt(worker)
    this.#reserve = reserve
  }

  /**
   * The next id at about that time; when a millisecond is used up, the following one is taken. Throws {@link Pending}
   * when time has to be reserved first.
   */
  next(now: Micros): bigint {
    const nowMs = Math.floor(now / 1000)
    const isUsedUp = this.#sequence === sequenceMax
    const ms = Math.max(nowMs, isUsedUp ? this.#ms + 1 : this.#ms)
    if (ms >= this.#endMs) throw new Pending([{ key: 'ids', start: () => this.#renew() }])
    this.#sequence = ms > this.#ms ? 0 : this.#sequence + 1
    this.#ms = ms
    // What fails here fails again for whoever finds nothing left, and is told there.
    if (ms >= this.#endMs - idStretchMs / 2) this.#renew().catch(() => {})
    return (BigInt(ms - idEpochMs) << 20n) | (BigInt(this.#sequence) << 10n) | this.#worker
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
    const { startMs, endMs } = await this.#reserve()
    if (startMs > this.#endMs) {
      this.#ms = startMs
      this.#sequence = -1
    }
    this.#endMs = endMs
  }
}
