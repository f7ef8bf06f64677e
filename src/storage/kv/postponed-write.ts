// Postpones the last write of each transaction in a batch until another write or a read needs it. All transactions of
// src/storage/store end with a write of the row that describes the newest state, which replaces the row of the previous
// transaction. So only one such row is written per batch, and reads get the row from here.

import { areSame } from '../../base/bytes.ts'
import type { Bytes, Write } from './contract.ts'

/** The writes of a batch before they are added to its transaction. */
export class PostponedWrite {
  readonly #apply: (write: Write) => void
  #write: Write | undefined

  /** `apply` adds a write to the transaction of the batch. */
  constructor(apply: (write: Write) => void) {
    this.#apply = apply
  }

  /** The postponed write, if it has this key. */
  of(key: Bytes): Write | undefined {
    return this.#write !== undefined && areSame(this.#write.key, key) ? this.#write : undefined
  }

  /** Adds the writes of a transaction, in their order. */
  add(writes: readonly Write[]): void {
    const last = writes.length - 1
    for (let at = 0; at < last; at++) {
      const write = writes[at] as Write
      if (this.of(write.key)) this.#write = undefined
      this.#apply(write)
    }
    const write = writes[last]
    if (write === undefined) return
    if (!this.of(write.key)) this.release()
    this.#write = write
  }

  /** Applies the postponed write. */
  release(): void {
    if (this.#write === undefined) return
    this.#apply(this.#write)
    this.#write = undefined
  }
}
