// What a transaction has written, laid over the snapshot it reads: reads see the writes at once, and nothing
// reaches the store before the commit. Slots are kept in order in buckets, so that point reads, inserts and
// narrow range reads stay logarithmic however much a transaction writes.

import type { Bytes, Entry, KeyRange, View, Write } from '../kv/contract.ts'

interface Slot {
  readonly key: Bytes
  value: Bytes | undefined
}

/** What `Overlay.revert` needs to take back a run of writes, newest last. */
export type Journal = { readonly key: Bytes; readonly before: Slot | undefined }[]

const bucketSlotsMax = 128

/** Pending writes over a view; itself a view. */
export class Overlay implements View {
  readonly base: View
  readonly #buckets: Slot[][] = []

  constructor(base: View) {
    this.base = base
  }

  get isEmpty(): boolean {
    return this.#buckets.length === 0
  }

  get(key: Bytes): Bytes | undefined {
    const slot = this.#find(key)
    return slot === undefined ? this.base.get(key) : slot.value
  }

  /** Sets (or, with undefined, deletes) a key and notes in `journal` how to take that back. */
  set(key: Bytes, value: Bytes | undefined, journal?: Journal): void {
    const before = this.#replace(key, { key, value })
    journal?.push({ key, before })
  }

  /** Takes back the writes of a journal and empties it. Nothing else may have written the same keys since. */
  revert(journal: Journal): void {
    for (let step = journal.pop(); step !== undefined; step = journal.pop()) {
      if (step.before === undefined) this.#remove(step.key)
      else this.#replace(step.key, step.before)
    }
  }

  /** The writes in key order, without deletes of keys that never existed. */
  writes(): Write[] {
    const writes: Write[] = []
    for (const bucket of this.#buckets) {
      for (const slot of bucket) {
        if (slot.value !== undefined || this.base.get(slot.key) !== undefined) writes.push(slot)
      }
    }
    return writes
  }

  /** Sees the writes made before the iteration began. */
  range(range: KeyRange): Iterable<Entry> {
    if (this.#buckets.length === 0) return this.base.range(range)
    const slots = this.#slice(range.start, range.end)
    if (slots.length === 0) return this.base.range(range)
    if (range.reverse) slots.reverse()
    return merge(this.base, range, slots)
  }

  #find(key: Bytes): Slot | undefined {
    const bucket = this.#buckets[this.#bucketOf(key)]
    if (bucket === undefined) return undefined
    const slot = bucket[lowerBound(bucket, key)]
    return slot !== undefined && Buffer.compare(slot.key, key) === 0 ? slot : undefined
  }

  #replace(key: Bytes, slot: Slot): Slot | undefined {
    const at = this.#bucketOf(key)
    const bucket = this.#buckets[at]
    if (bucket === undefined) {
      this.#buckets.push([slot])
      return undefined
    }
    const index = lowerBound(bucket, key)
    const old = bucket[index]
    if (old !== undefined && Buffer.compare(old.key, key) === 0) {
      bucket[index] = slot
      return old
    }
    bucket.splice(index, 0, slot)
    if (bucket.length > bucketSlotsMax) this.#buckets.splice(at + 1, 0, bucket.splice(bucketSlotsMax / 2))
    return undefined
  }

  #remove(key: Bytes): void {
    const at = this.#bucketOf(key)
    const bucket = this.#buckets[at] as Slot[]
    bucket.splice(lowerBound(bucket, key), 1)
    if (bucket.length === 0) this.#buckets.splice(at, 1)
  }

  /** The bucket whose span holds the key: the last one that does not begin after it, else the first. */
  #bucketOf(key: Bytes): number {
    let low = 0
    let high = this.#buckets.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const [first] = this.#buckets[middle] as [Slot, ...Slot[]]
      if (Buffer.compare(first.key, key) <= 0) low = middle + 1
      else high = middle
    }
    return low === 0 ? 0 : low - 1
  }

  #slice(start: Bytes, end: Bytes): Slot[] {
    const slots: Slot[] = []
    for (let at = this.#bucketOf(start); at < this.#buckets.length; at++) {
      const bucket = this.#buckets[at] as Slot[]
      const from = slots.length === 0 ? lowerBound(bucket, start) : 0
      for (let index = from; index < bucket.length; index++) {
        const slot = bucket[index] as Slot
        if (Buffer.compare(slot.key, end) >= 0) return slots
        slots.push(slot)
      }
    }
    return slots
  }
}

function lowerBound(bucket: readonly Slot[], key: Bytes): number {
  let low = 0
  let high = bucket.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (Buffer.compare((bucket[middle] as Slot).key, key) < 0) low = middle + 1
    else high = middle
  }
  return low
}

function* merge(base: View, range: KeyRange, slots: readonly Slot[]): Generator<Entry> {
  let left = range.limit ?? Number.POSITIVE_INFINITY
  if (left <= 0) return
  const sign = range.reverse ? -1 : 1
  let next = 0
  const { start, end, reverse = false } = range
  for (const entry of base.range({ start, end, reverse })) {
    let shadowed = false
    for (; next < slots.length; next++) {
      const slot = slots[next] as Slot
      const order = Buffer.compare(slot.key, entry.key) * sign
      if (order > 0) break
      if (order === 0) shadowed = true
      if (slot.value === undefined) continue
      yield { key: slot.key, value: slot.value }
      if (--left === 0) return
    }
    if (shadowed) continue
    yield entry
    if (--left === 0) return
  }
  for (; next < slots.length; next++) {
    const slot = slots[next] as Slot
    if (slot.value === undefined) continue
    yield { key: slot.key, value: slot.value }
    if (--left === 0) return
  }
}
