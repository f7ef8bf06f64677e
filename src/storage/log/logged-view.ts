// Reads LMDB together with the newer rows that are only in the commit log.

import { assert } from '../../base/assert.ts'
import { isEmptyRange, isImpossibleKey } from '../kv/engine-parts.ts'
import type { Bytes, Entry, KeyRange, View } from '../kv/kv-contract.ts'
import { overlayEntries } from '../kv/overlay.ts'
import type { LmdbView } from '../lmdb/view.ts'
import { hashKey } from './key-hash.ts'
import type { RowTable } from './row-table.ts'

/** A table with the number of its visible rows. */
interface TableSnapshot {
  readonly table: RowTable
  readonly limit: number
}

export class LoggedView implements View {
  readonly state: number | undefined
  readonly #lmdb: LmdbView
  /** The newest table first. */
  readonly #tables: readonly TableSnapshot[]
  #isOver = false

  /** `state`: see {@link View.state}; undefined for a view that also shows rows which are not committed yet. */
  constructor(lmdb: LmdbView, tables: readonly TableSnapshot[], state?: number) {
    this.#lmdb = lmdb
    this.#tables = tables
    this.state = state
  }

  get(key: Bytes, cached?: Bytes): Bytes | undefined {
    assert(!this.#isOver, 'a view is used after its read')
    if (isImpossibleKey(key)) return undefined
    if (this.#tables.length > 0) {
      const hash = hashKey(key, 0, key.length)
      for (const { limit, table } of this.#tables) {
        const row = table.find(key, hash, limit)
        if (row !== 0) return table.value(row, cached)
      }
    }
    return this.#lmdb.get(key, cached)
  }

  range(range: KeyRange): Iterable<Entry> {
    return { [Symbol.iterator]: () => this.#iterate(range) }
  }

  /** Releases all open cursors. The view must not be used afterwards. */
  end(): void {
    this.#isOver = true
    this.#lmdb.end()
  }

  #iterate(range: KeyRange): Iterator<Entry> {
    assert(!this.#isOver, 'a view is used after its read')
    if (isEmptyRange(range)) return [][Symbol.iterator]()
    let merged: Pick<View, 'range'> = this.#lmdb
    // The tables are read from the oldest to the newest, so that newer rows replace older rows.
    for (const { limit, table } of this.#tables.toReversed()) {
      const rows = table.within(range, limit)
      if (rows === undefined) continue
      const base = merged
      merged = { range: wanted => overlayEntries(base, wanted, rows) }
    }
    const iterator = merged.range(range)[Symbol.iterator]()
    return merged === this.#lmdb ? iterator : this.#whileOpen(iterator)
  }

  *#whileOpen(iterator: Iterator<Entry>): Generator<Entry> {
    try {
      for (;;) {
        assert(!this.#isOver, 'a view is used after its read')
        const next = iterator.next()
        if (next.done) return
        yield next.value
      }
    } finally {
      iterator.return?.()
    }
  }
}
