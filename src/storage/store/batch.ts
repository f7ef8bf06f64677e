// Limits the size of one transaction of background work. Other transactions may wait for such a transaction, and all
// its writes are in memory. So the work is done in batches, each of which continues where the previous batch ended.

import { systemClock } from '../../base/clock.ts'

/** Approximate number of rows that a batch removes or writes. */
export const batchWritesMax = 256
/** Approximate number of rows that can be read in the time in which one row is written. */
const readsPerWrite = 4
/**
 * Bytes of rows after which a batch ends. Without this limit, {@link batchWritesMax} large documents could fill the
 * memory.
 */
const batchBytesMax = 4_194_304

/** Returns a function that returns true after this number of milliseconds; absent: never. */
export function batchEnd(milliseconds: number | undefined): () => boolean {
  if (milliseconds === undefined) return () => false
  const endMs = systemClock.elapsedMs() + milliseconds
  return () => systemClock.elapsedMs() >= endMs
}

/** Counts the work of a batch. The first item is always processed. */
export class Batch {
  readonly #isOver: () => boolean
  #reads = 0
  #bytes = 0

  /** The batch ends when `isOver` returns true, whatever its size; see {@link batchEnd}. */
  constructor(isOver: () => boolean) {
    this.#isOver = isOver
  }

  /** Counts rows that were read, and their bytes. */
  read(rows: number, bytes: number): void {
    this.#reads += rows
    this.#bytes += bytes
  }

  /** Counts rows that were removed or written. */
  write(rows: number, bytes = 0): void {
    this.read(rows * readsPerWrite, bytes)
  }

  /** The number of rows that may still be written. */
  get writesLeft(): number {
    return Math.max(0, Math.ceil(batchWritesMax - this.#reads / readsPerWrite))
  }

  /** Returns whether the rest must wait for the next batch; `bytes`: of the next item. */
  isFull(bytes = 0): boolean {
    if (this.#reads === 0) return false
    return this.writesLeft === 0 || this.#bytes + bytes >= batchBytesMax || this.#isOver()
  }
}
