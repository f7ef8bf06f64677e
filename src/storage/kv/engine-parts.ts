// Code that storage engines share: checks of keys, ranges and transactions, so that all engines reject the same
// transactions, comparisons with cached values, and a list of listeners.

import { assert } from '../../base/assert.ts'
import { bytesEqual } from '../../base/bytes.ts'
import { type Bytes, type KeyRange, keyBytesMax, type Work } from './kv-contract.ts'

/** The key is empty or too long, so no row can have it. */
export function isImpossibleKey(key: Bytes): boolean {
  return key.length === 0 || key.length > keyBytesMax
}

/** No row can be in `range`, regardless of the stored data. */
export function isEmptyRange(range: KeyRange): boolean {
  return range.limit === 0 || Buffer.compare(range.start, range.end) >= 0
}

/**
 * Throws if a key or value in `work.writes` is invalid. Engines call this function before they write anything, because
 * a transaction must never be written partially.
 */
export function checkWork(work: Work<unknown>): void {
  for (const { key, value } of work.writes) {
    assert(key instanceof Uint8Array && !isImpossibleKey(key), 'a key has 1 to 1900 bytes')
    assert(value === undefined || value instanceof Uint8Array, 'a value is bytes')
  }
}

/** Returns `cached` if it has the same bytes as `value`, otherwise `value`. */
export function cachedIfEqual(value: Bytes | undefined, cached: Bytes | undefined): Bytes | undefined {
  return value !== undefined && cached !== undefined && bytesEqual(value, cached) ? cached : value
}

export class Listeners {
  readonly #listeners = new Set<{ readonly call: () => void }>()

  get isEmpty(): boolean {
    return this.#listeners.size === 0
  }

  /** Returns a function that removes `call`. The same function may be added twice. */
  add(call: () => void): () => void {
    const listener = { call }
    this.#listeners.add(listener)
    return () => {
      this.#listeners.delete(listener)
    }
  }

  notify(): void {
    for (const listener of [...this.#listeners]) listener.call()
  }
}
