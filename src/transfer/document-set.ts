// The documents that a dry run would write: ids by collection, in compact hash tables.

import { upsert } from '../base/upsert.ts'

const initialSlots = 1024

/** A hash table with open addressing. */
class IdSet {
  /** An id plus 1, or 0 if the slot is free. */
  #slots = new BigUint64Array(initialSlots)
  #count = 0

  has(id: bigint): boolean {
    return this.#slots[slotOf(this.#slots, id + 1n)] !== 0n
  }

  add(id: bigint): void {
    const at = slotOf(this.#slots, id + 1n)
    if (this.#slots[at] !== 0n) return
    this.#slots[at] = id + 1n
    if (++this.#count * 2 <= this.#slots.length) return
    const larger = new BigUint64Array(this.#slots.length * 2)
    for (const content of this.#slots) if (content !== 0n) larger[slotOf(larger, content)] = content
    this.#slots = larger
  }
}

/**
 * The index of the slot with `content` (an id plus 1), or of the free slot for it. The number of slots is a power of
 * two, and some are free.
 */
function slotOf(slots: BigUint64Array, content: bigint): number {
  // The multiplier of Fibonacci hashing spreads consecutive ids.
  let at = Number(BigInt.asUintN(64, content * 0x9e3779b97f4a7c15n) >> 32n) & (slots.length - 1)
  while (slots[at] !== 0n && slots[at] !== content) at = (at + 1) & (slots.length - 1)
  return at
}

/** `collection`: the name of a collection, together with the name of its database. */
export class DocumentSet {
  readonly #collections = new Map<string, IdSet>()

  has(collection: string, id: bigint): boolean {
    return this.#collections.get(collection)?.has(id) ?? false
  }

  add(collection: string, id: bigint): void {
    upsert(this.#collections, collection, () => new IdSet()).add(id)
  }
}
