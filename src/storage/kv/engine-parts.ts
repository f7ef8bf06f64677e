// Contains the code that all storage engines share: checks of transactions, and the listeners for commits. Because of
// the checks, all engines reject the same transactions.

import { assert } from '../../base/assert.ts'
import { type Bytes, type KeyRange, keyBytesMax, type Work } from './kv-contract.ts'

/** True when no entry can have the key, because the key is empty or too long. */
export function isImpossibleKey(key: Bytes): boolean {
  return key.length === 0 || key.length > keyBytesMax
}

/** True when no entry can be in `range`, regardless of the stored data. */
export function isEmptyRange(range: KeyRange): boolean {
  return range.limit === 0 || Buffer.compare(range.start, range.end) >= 0
}

/**
 * Throws if `work` contains an invalid key or value. The check precedes all writes, because a transaction must never be
 * written partially.
 */
export function checkWork(work: Work<unknown>): void {
  for (const { key, value } of work.writes) {
    assert(key instanceof Uint8Array && !isImpossibleKey(key), 'a key has 1 to 1900 bytes')
    assert(value === undefined || value instanceof Uint8Array, 'a value is bytes')
  }
}

/** The listeners for commits, shared by the engines. */
export class Listeners {
  readonly #listeners = new Set<{ readonly call: () => void }>()

  get isEmpty(): boolean {
    return this.#listeners.size === 0
  }

  /** Adds `call`; returns a function that removes `call`. The same function may be added twice. */
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
