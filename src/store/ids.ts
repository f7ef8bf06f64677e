// Ids of documents: milliseconds since the offset << 20 | sequence << 10 | worker, strictly increasing per worker.

import { assert } from '../base/assert.ts'
import type { Micros } from '../values/value.ts'

/** Milliseconds of the Unix epoch at which ids begin (a fact of the protocol). */
const idEpochMs = 1_336_258_850_000
const sequenceMax = 1023
const workerMax = 1023

/** Makes ids that never repeat within a worker, however the clock moves. */
export class IdGenerator {
  readonly #worker: bigint
  #ms = 0
  #sequence = 0

  constructor(worker: number) {
    assert(worker >= 0 && worker <= workerMax, 'the worker number has 10 bits')
    this.#worker = BigInt(worker)
  }

  /** The next id at about that time; when a millisecond is used up, the following one is taken. */
  next(now: Micros): bigint {
    const ms = Math.max(0, Math.floor(now / 1000) - idEpochMs)
    if (ms > this.#ms) {
      this.#ms = ms
      this.#sequence = 0
    } else if (this.#sequence < sequenceMax) {
      this.#sequence++
    } else {
      this.#ms++
      this.#sequence = 0
    }
    return (BigInt(this.#ms) << 20n) | (BigInt(this.#sequence) << 10n) | this.#worker
  }
}
