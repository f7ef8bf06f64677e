// A batch of background work has a limited size, because other transactions may wait for it, and because its writes
// need memory. Each batch is one transaction and continues where the previous batch ended.

import { systemClock } from '../../base/clock.ts'
import type { Bytes, Entry } from '../kv/kv-contract.ts'

/** Approximate maximum number of rows that a batch removes or writes. */
export const batchWritesMax = 256
/** Approximate number of rows that can be read in the time of one write. */
const readsPerWrite = 4
/** A batch ends after this many bytes of rows, because {@link batchWritesMax} large documents could fill the memory. */
export const batchBytesMax = 4_194_304

/** The result returns true when `milliseconds` have passed, and never if `milliseconds` is undefined. */
export function batchEnd(milliseconds: number | undefined): () => boolean {
  if (milliseconds === undefined) return () => false
  const endMs = systemClock.elapsedMs() + milliseconds
  return () => systemClock.elapsedMs() >= endMs
}

/** A batch processes at least one item. */
export class Batch {
  readonly #isOver: () => boolean
  #reads = 0
  #bytes = 0
  #isEnded = false

  /** The batch also ends when `isOver` returns true; see {@link batchEnd}. */
  constructor(isOver: () => boolean) {
    this.#isOver = isOver
  }

  read(rows: number, bytes: number): void {
    this.#reads += rows
    this.#bytes += bytes
  }

  write(rows: number, bytes = 0): void {
    this.read(rows * readsPerWrite, bytes)
  }

  /** The last item continues in the next batch. */
  end(): void {
    this.#isEnded = true
  }

  /** Returns whether the next item, of `bytes` bytes, must wait for the next batch. */
  isFull(bytes = 0): boolean {
    if (this.#isEnded) return true
    if (this.#reads === 0) return false
    const isLong = this.#reads >= batchWritesMax * readsPerWrite
    return isLong || this.#bytes + bytes >= batchBytesMax || this.#isOver()
  }
}

/** Returns the keys of the first of `rows` to remove them, as many as `batch` allows, and counts them in `batch`. */
export function takeKeys(batch: Batch, rows: Iterable<Entry>): Bytes[] {
  // Only the keys are collected, because the values of a batch could need much memory.
  const keys: Bytes[] = []
  for (const { key, value } of rows) {
    if (batch.isFull()) break
    // The rows are not decoded, so a removal costs about as much as a read.
    batch.read(1, key.length + value.length)
    keys.push(key)
  }
  return keys
}
