// The writes of a batch laid over the view it is built on, so that each transaction of the batch sees those before it.

import type { Bytes, Entry, KeyRange, View, Write } from '../contract.ts'
import { areSame } from '../held-write.ts'
import { SortedEntries } from '../sorted-entries.ts'

/** What stands for a deleted key. Compared by identity: an empty value is not it. */
const deleted: Bytes = new Uint8Array(0)

export class OverlayView implements View {
  readonly #base: View
  readonly #written = new SortedEntries<Entry>()
  #isEmpty = true

  constructor(base: View) {
    this.#base = base
  }

  /** Lays writes over what the view shows. No range may be under way. */
  add(writes: readonly Write[]): void {
    for (const { key, value } of writes) {
      this.#isEmpty = false
      this.#written.set({ key, value: value ?? deleted })
    }
  }

  get(key: Bytes, known?: Bytes): Bytes | undefined {
    const written = this.#isEmpty ? undefined : this.#written.get(key)?.value
    if (written === undefined) return this.#base.get(key, known)
    if (written === deleted) return undefined
    // A copy: what a view returns belongs to the caller.
    return known !== undefined && areSame(written, known) ? known : new Uint8Array(written)
  }

  range(range: KeyRange): Iterable<Entry> {
    return this.#isEmpty ? this.#base.range(range) : { [Symbol.iterator]: () => this.#merge(range) }
  }

  *#merge({ start, end, reverse = false, limit }: KeyRange): Generator<Entry> {
    let left = limit ?? Number.POSITIVE_INFINITY
    if (left <= 0 || Buffer.compare(start, end) >= 0) return
    const sign = reverse ? -1 : 1
    const written = reverse ? this.#written.descending(start, end) : this.#written.ascending(start, end)
    let next = written.next()
    for (const entry of this.#base.range({ start, end, reverse })) {
      let isReplaced = false
      for (; !next.done; next = written.next()) {
        const order = Buffer.compare(next.value.key, entry.key) * sign
        if (order > 0) break
        if (order === 0) isReplaced = true
        if (next.value.value === deleted) continue
        yield copyOf(next.value)
        if (--left === 0) return
      }
      if (isReplaced) continue
      yield entry
      if (--left === 0) return
    }
    for (; !next.done; next = written.next()) {
      if (next.value.value === deleted) continue
      yield copyOf(next.value)
      if (--left === 0) return
    }
  }
}

function copyOf({ key, value }: Entry): Entry {
  return { key: new Uint8Array(key), value: new Uint8Array(value) }
}
