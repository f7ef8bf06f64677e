// A view with pending writes: the writes of a transaction over its snapshot, or the writes of a batch over the state
// before the batch. The writes are sorted by key, so point reads, inserts and short range reads take logarithmic time.

import { mergeJoin } from '../../base/merge-join.ts'
import { cachedIfEqual } from './engine-parts.ts'
import type { Bytes, Entry, KeyRange, View, Write } from './kv-contract.ts'
import { SortedEntries } from './sorted-entries.ts'

interface Slot {
  readonly key: Bytes
  value: Bytes | undefined
}

/** The data that `Overlay.revert` needs to undo a sequence of writes, newest last. */
export type Journal = { readonly key: Bytes; readonly before: Slot | undefined }[]

/**
 * Unlike the views of engines, returns the arrays of pending writes without a copy, so the caller must not change the
 * arrays.
 */
export class Overlay implements View {
  readonly base: View
  readonly #slots = new SortedEntries<Slot>()

  constructor(base: View) {
    this.base = base
  }

  get isEmpty(): boolean {
    return this.#slots.isEmpty
  }

  get(key: Bytes, cached?: Bytes): Bytes | undefined {
    const slot = this.#slots.isEmpty ? undefined : this.#slots.get(key)
    return slot === undefined ? this.base.get(key, cached) : cachedIfEqual(slot.value, cached)
  }

  recordAbsence(key: Bytes, range: Pick<KeyRange, 'start' | 'end'>): void {
    this.base.recordAbsence?.(key, range)
  }

  /** Deletes the key if `value` is undefined. `journal` records how to undo the write. */
  set(key: Bytes, value: Bytes | undefined, journal?: Journal): void {
    const before = this.#slots.set({ key, value })
    journal?.push({ key, before })
  }

  /** Undoes the writes and empties the journal. No later write to the same keys may exist. */
  revert(journal: Journal): void {
    for (let step = journal.pop(); step !== undefined; step = journal.pop()) {
      if (step.before === undefined) this.#slots.delete(step.key)
      else this.#slots.set(step.before)
    }
  }

  /** The writes in the order of keys, without deletes of keys that `base` does not contain. */
  writes(): Write[] {
    const writes: Write[] = []
    for (const slot of this.#slots.all()) {
      if (slot.value !== undefined || this.base.get(slot.key) !== undefined) writes.push(slot)
    }
    return writes
  }

  /** The iteration ignores writes after the call of `range`. */
  range(range: KeyRange): Iterable<Entry> {
    if (this.#slots.isEmpty) return this.base.range(range)
    const slots = [...this.#slots.ascending(range.start, range.end)]
    if (slots.length === 0) return this.base.range(range)
    if (range.reverse) slots.reverse()
    return overlayEntries(this.base, range, slots)
  }
}

/** The rows of a range of `base`, with the writes `slots` applied. `slots` must be in the order of the range. */
export function* overlayEntries(
  base: Pick<View, 'range'>,
  range: KeyRange,
  slots: Iterable<Write>,
): Generator<Entry> {
  const { end, limit = Number.POSITIVE_INFINITY, reverse = false, start } = range
  let left = limit
  if (left <= 0) return
  const sign = reverse ? -1 : 1
  const byKey = (entry: Entry, slot: Write) => Buffer.compare(entry.key, slot.key) * sign
  for (const [entry, slot] of mergeJoin(base.range({ start, end, reverse }), slots, byKey)) {
    const { key, value } = slot ?? (entry as Entry)
    if (value === undefined) continue
    yield slot === undefined ? (entry as Entry) : { key, value }
    if (--left === 0) return
  }
}
