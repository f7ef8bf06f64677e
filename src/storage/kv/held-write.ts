// The last write of each transaction in a batch is held back until something reads or writes past it. Those that say at
// their end what the newest state is, as all of src/storage/store do, replace what the one before has said: of a whole batch
// only one such row is written, and it is read from here.

import { areSame } from '../../base/bytes.ts'
import type { Bytes, Write } from './contract.ts'

/** The writes of a batch on their way to its transaction. */
export class HeldWrite {
  readonly #apply: (write: Write) => void
  #write: Write | undefined

  /** `apply` writes to the transaction of the batch. */
  constructor(apply: (write: Write) => void) {
    this.#apply = apply
  }

  /** The write that is held, if it is one of this key. */
  of(key: Bytes): Write | undefined {
    return this.#write !== undefined && areSame(this.#write.key, key) ? this.#write : undefined
  }

  /** Takes the writes of a transaction, in their order. */
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

  /** Writes what is held. */
  release(): void {
    if (this.#write === undefined) return
    this.#apply(this.#write)
    this.#write = undefined
  }
}
