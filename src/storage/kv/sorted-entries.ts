// A sorted list of entries. The entries are in chunks of bounded size, so an insertion moves only the pointers of one
// chunk. The memory engine stores its entries in such a list, and a transaction its pending writes.

import type { Bytes } from './kv-contract.ts'

/** A chunk with more entries is split. */
const chunkMax = 256

interface Keyed {
  readonly key: Bytes
}

/** Contains entries in bytewise order of the keys. Stores the given entries themselves, not copies. */
export class SortedEntries<T extends Keyed> {
  /** Contains no empty chunk. */
  readonly #chunks: T[][] = []

  get isEmpty(): boolean {
    return this.#chunks.length === 0
  }

  get(key: Bytes): T | undefined {
    const chunk = this.#chunks[this.#chunkOf(key)]
    const entry = chunk?.[lowerBound(chunk, key)]
    return entry !== undefined && hasKey(entry, key) ? entry : undefined
  }

  /** Returns the entry that it replaces. */
  set(entry: T): T | undefined {
    const at = this.#chunkOf(entry.key)
    const chunk = this.#chunks[at]
    if (chunk === undefined) {
      this.#chunks.push([entry])
      return undefined
    }
    const index = lowerBound(chunk, entry.key)
    const old = chunk[index]
    if (old !== undefined && hasKey(old, entry.key)) {
      chunk[index] = entry
      return old
    }
    chunk.splice(index, 0, entry)
    if (chunk.length > chunkMax) this.#chunks.splice(at + 1, 0, chunk.splice(chunkMax >> 1))
    return undefined
  }

  delete(key: Bytes): void {
    const at = this.#chunkOf(key)
    const chunk = this.#chunks[at]
    if (chunk === undefined) return
    const index = lowerBound(chunk, key)
    const entry = chunk[index]
    if (entry === undefined || !hasKey(entry, key)) return
    chunk.splice(index, 1)
    if (chunk.length === 0) this.#chunks.splice(at, 1)
  }

  /** The result may be a part of the list, so the list must not be changed while the result is in use. */
  all(): readonly T[] {
    const [first] = this.#chunks
    return this.#chunks.length === 1 ? (first as T[]) : this.#chunks.flat()
  }

  /** From `start` (inclusive) to `end` (exclusive). The list must not be changed during the iteration. */
  *ascending(start: Bytes, end: Bytes): Generator<T> {
    for (let at = this.#chunkOf(start), isFirst = true; at < this.#chunks.length; at++, isFirst = false) {
      const chunk = this.#chunks[at] as T[]
      for (const entry of chunk.slice(isFirst ? lowerBound(chunk, start) : 0)) {
        if (compareKeys(entry.key, end) >= 0) return
        yield entry
      }
    }
  }

  /** The same entries as {@link ascending}, in reverse order. The list must not be changed during the iteration. */
  *descending(start: Bytes, end: Bytes): Generator<T> {
    for (let at = this.#chunkOf(end), isFirst = true; at >= 0; at--, isFirst = false) {
      const chunk = this.#chunks[at] ?? []
      for (const entry of chunk.slice(0, isFirst ? lowerBound(chunk, end) : undefined).reverse()) {
        if (compareKeys(entry.key, start) < 0) return
        yield entry
      }
    }
  }

  /** The index of the last chunk whose first key is not after the key, or of the first chunk. */
  #chunkOf(key: Bytes): number {
    let low = 0
    let high = this.#chunks.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const [first] = this.#chunks[middle] as [T, ...T[]]
      if (compareKeys(first.key, key) <= 0) low = middle + 1
      else high = middle
    }
    return low === 0 ? 0 : low - 1
  }
}

/** Keys are short and usually differ in their first bytes, so a native call would cost more than the loop. */
function compareKeys(left: Bytes, right: Bytes): number {
  const length = Math.min(left.length, right.length)
  for (let index = 0; index < length; index++) {
    const difference = (left[index] as number) - (right[index] as number)
    if (difference !== 0) return difference
  }
  return left.length - right.length
}

function hasKey(entry: Keyed, key: Bytes): boolean {
  return compareKeys(entry.key, key) === 0
}

/** The index of the first entry whose key is not less than `key`; `chunk.length` if there is none. */
function lowerBound(chunk: readonly Keyed[], key: Bytes): number {
  let low = 0
  let high = chunk.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compareKeys((chunk[middle] as Keyed).key, key) < 0) low = middle + 1
    else high = middle
  }
  return low
}
