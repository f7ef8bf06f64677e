// Reads from the snapshot of a `read`, or from the write transaction in which transaction functions run. While the
// callback of a write transaction runs, lmdb-js automatically reads from this transaction.

import { assert } from '../../base/assert.ts'
import { isEmptyRange, isImpossibleKey } from '../kv/engine-parts.ts'
import { type Bytes, type Entry, type KeyRange, keyBytesMax, type View } from '../kv/kv-contract.ts'
import { cachedOrCopy } from './codec.ts'
import type { Trees } from './trees.ts'

export class LmdbView implements View {
  readonly #trees: Trees
  /** While a cursor is open, LMDB cannot reuse the pages of its snapshot and of later commits. */
  #open: Set<Entries> | undefined
  #isOver = false

  constructor(trees: Trees) {
    this.#trees = trees
  }

  get(key: Bytes, cached?: Bytes): Bytes | undefined {
    assert(!this.#isOver, 'a view is used after its read')
    if (isImpossibleKey(key)) return undefined
    const tree = this.#trees.of(key)
    if (cached === undefined) return tree.get(key)
    const found = tree.getBinaryFast(key)
    return found && cachedOrCopy(found, cached)
  }

  range(range: KeyRange): Iterable<Entry> {
    return { [Symbol.iterator]: () => this.#iterate(range) }
  }

  /** Releases all open cursors. The view must not be used afterwards. */
  end(): void {
    this.#isOver = true
    if (this.#open !== undefined) for (const entries of this.#open) entries.return()
  }

  #iterate(range: KeyRange): Iterator<Entry> {
    assert(!this.#isOver, 'a view is used after its read')
    if (isEmptyRange(range)) return [][Symbol.iterator]()
    this.#open ??= new Set()
    const options = rangeOptions(range)
    const inputs = this.#trees.within(range).map(tree => tree.getRange(options))
    const [first, second] = inputs
    const entries = first && !second ? first : merged(inputs, range.reverse === true)
    return new Entries(entries[Symbol.iterator](), range.limit, this.#open)
  }
}

class Entries implements Iterator<Entry> {
  readonly #cursor: Iterator<Entry>
  readonly #open: Set<Entries>
  #left: number
  #isDone = false

  constructor(cursor: Iterator<Entry>, limit: number | undefined, open: Set<Entries>) {
    this.#cursor = cursor
    this.#left = limit ?? Number.POSITIVE_INFINITY
    this.#open = open
    open.add(this)
  }

  next(): IteratorResult<Entry, undefined> {
    if (this.#isDone) return { done: true, value: undefined }
    if (this.#left-- === 0) return this.return()
    const result = this.#cursor.next()
    // lmdb-js omits `done` in all results except the last.
    return result.done ? this.return() : result
  }

  return(): IteratorResult<Entry, undefined> {
    if (!this.#isDone) {
      this.#isDone = true
      this.#open.delete(this)
      this.#cursor.return?.()
    }
    return { done: true, value: undefined }
  }
}

/** For a reverse range, lmdb-js expects the upper bound as `start`, and includes `start` by default. */
function rangeOptions(range: KeyRange) {
  const low = bound(range.start)
  const high = bound(range.end)
  if (!range.reverse) return { start: low, end: high }
  // LMDB treats an empty bound as no bound, which is correct for the lower bound.
  return { reverse: true, start: high, exclusiveStart: true, end: low, inclusiveEnd: true }
}

/** Truncates a bound that is longer than every key, which changes no comparison. */
function bound(key: Bytes): Bytes {
  return key.length > keyBytesMax + 1 ? key.subarray(0, keyBytesMax + 1) : key
}

interface SortedInput {
  readonly entries: Iterator<Entry>
  head: Entry
}

/**
 * Merges iterables of rows in the order of keys. No key is in two of them, and all have the same order. Closes the
 * iterators at the end.
 */
function* merged(all: readonly Iterable<Entry>[], reverse: boolean): Generator<Entry> {
  const sign = reverse ? -1 : 1
  const compare = (left: SortedInput, right: SortedInput) =>
    Buffer.compare(left.head.key, right.head.key) * sign
  const begun: Iterator<Entry>[] = []
  try {
    /** The inputs with remaining rows; the input with the next row is last. */
    const inputs: SortedInput[] = []
    for (const each of all) {
      const entries = each[Symbol.iterator]()
      begun.push(entries)
      const first = entries.next()
      if (!first.done) inputs.push({ entries, head: first.value })
    }
    inputs.sort((left, right) => compare(right, left))
    for (let input = inputs.at(-1); input !== undefined; input = inputs.at(-1)) {
      yield input.head
      const following = input.entries.next()
      if (following.done) {
        inputs.pop()
        continue
      }
      input.head = following.value
      // Usually the inputs are still sorted.
      let at = inputs.length - 1
      for (let before = inputs[at - 1]; before && compare(input, before) > 0; before = inputs[at - 1])
        inputs[at--] = before
      inputs[at] = input
    }
  } finally {
    for (const entries of begun) entries.return?.()
  }
}
