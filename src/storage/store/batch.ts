// How much one transaction of the store's own work does. Others may wait for it, and all that it writes is in memory: so
// what there is to do is done in batches, each of which goes on where the last one ended.

import { systemClock } from '../../base/clock.ts'

/** Rows that a batch removes or writes, about. */
export const batchWritesMax = 256
/** How many rows can be looked at in the time that one takes to be written, about. */
const looksPerWrite = 4
/** Bytes of rows after which a batch ends: documents may be so large that fewer than {@link batchWritesMax} fill the memory. */
const batchBytesMax = 4_194_304

/** Says whether so many milliseconds from now are over; absent: never. */
export function batchEnd(milliseconds: number | undefined): () => boolean {
  if (milliseconds === undefined) return () => false
  const endMs = systemClock.elapsedMs() + milliseconds
  return () => systemClock.elapsedMs() >= endMs
}

/** Counts what a batch has done. The first thing is done in any case. */
export class Batch {
  readonly #isOver: () => boolean
  #looks = 0
  #bytes = 0

  /** `isOver` ends it, be its size what it may; see {@link batchEnd}. */
  constructor(isOver: () => boolean) {
    this.#isOver = isOver
  }

  /** Counts rows that were looked at, and their bytes. */
  look(rows: number, bytes: number): void {
    this.#looks += rows
    this.#bytes += bytes
  }

  /** Counts rows that were removed or written. */
  write(rows: number, bytes = 0): void {
    this.look(rows * looksPerWrite, bytes)
  }

  /** How many more rows may be written. */
  get writesLeft(): number {
    return Math.max(0, Math.ceil(batchWritesMax - this.#looks / looksPerWrite))
  }

  /** Whether the rest has to wait for the next batch; `bytes`: of what would come next. */
  isFull(bytes = 0): boolean {
    if (this.#looks === 0) return false
    return this.writesLeft === 0 || this.#bytes + bytes >= batchBytesMax || this.#isOver()
  }
}
