// Reads of one LMDB transaction: the snapshot of a `read`, or the write transaction in which transaction functions run.
// While the callback of a write transaction runs, lmdb-js itself selects that transaction.

import { assert } from '../../base/assert.ts'
import { isEmptyRange, isImpossibleKey } from './checks.ts'
import { type Bytes, type Entry, type KeyRange, keyBytesMax } from './contract.ts'
import { cachedOrCopy } from './lmdb-codec.ts'
import type { Trees } from './lmdb-trees.ts'
import { merged } from './merged.ts'
import type { PostponedWrite } from './postponed-write.ts'
import type { ComparingView } from './transaction-view.ts'

export class LmdbView implements ComparingView {
  readonly #trees: Trees
  readonly #postponed: PostponedWrite | undefined
  /** Cursors that are not released yet. An open cursor keeps its snapshot and all later pages alive. */
  #open: Set<Entries> | undefined
  #isOver = false

  /** `postponed`: a postponed write of the same transaction, which is not in the database yet. */
  constructor(trees: Trees, postponed?: PostponedWrite) {
    this.#trees = trees
    this.#postponed = postponed
  }

  get(key: Bytes): Bytes | undefined {
    assert(!this.#isOver, 'a view is used after its read')
    if (isImpossibleKey(key)) return undefined
    const postponed = this.#postponed?.of(key)
    // Like any value, it belongs to the caller.
    return postponed === undefined ? this.#trees.of(key).get(key) : postponed.value?.slice()
  }

  getCached(key: Bytes, cached: Bytes): Bytes | undefined {
    assert(!this.#isOver, 'a view is used after its read')
    if (isImpossibleKey(key)) return undefined
    const postponed = this.#postponed?.of(key)
    const found = postponed === undefined ? this.#trees.of(key).getBinaryFast(key) : postponed.value
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
    this.#postponed?.release()
    this.#open ??= new Set()
    const options = rangeOptions(range)
    const sources = this.#trees.within(range).map(tree => tree.getRange(options))
    const [first, second] = sources
    const entries = first && !second ? first : merged(sources, range.reverse === true)
    return new Entries(entries[Symbol.iterator](), range.limit, this.#open)
  }
}

/** An iteration over a range. */
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
    // lmdb-js omits `done` in all results but the last.
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

/** A half-open interval in the terms of lmdb-js, which starts at the (inclusive) end in reverse. */
function rangeOptions(range: KeyRange) {
  const low = bound(range.start)
  const high = bound(range.end)
  if (!range.reverse) return { start: low, end: high }
  // An empty bound means "no bound" to LMDB, as it does here at the lower end.
  return { reverse: true, start: high, exclusiveStart: true, end: low, inclusiveEnd: true }
}

/**
 * A bound that LMDB can store. Truncating it one byte after the longest key changes nothing: every key differs from it
 * before that byte, or is its prefix.
 */
function bound(key: Bytes): Bytes {
  return key.length > keyBytesMax + 1 ? key.subarray(0, keyBytesMax + 1) : key
}
