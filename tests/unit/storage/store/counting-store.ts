// A store in memory that counts the read rows, the removed rows, and the removed rows that ranges skip. A store with a
// commit log has to skip removed rows until they are removed from LMDB, too.

import type { Bytes, KeyRange, KeyValueStore, View, Write } from '../../../../src/storage/kv/kv-contract.ts'
import { openMemory } from '../../../../src/storage/kv/memory.ts'
import { SortedEntries } from '../../../../src/storage/kv/sorted-entries.ts'

export class CountingStore implements KeyValueStore {
  readonly #kv = openMemory()
  reads = 0
  removed = 0
  skipped = 0
  readonly #removedKeys = new SortedEntries<{ readonly key: Bytes }>()
  /** The largest number of rows that one call of `read` has read. */
  largestRead = 0
  /** Called with the rows of each commit. */
  onCommit: (writes: readonly Write[]) => void = () => undefined

  read<T>(read: (view: View) => T): T {
    const before = this.reads
    const result = this.#kv.read(view => read(this.#counting(view)))
    this.largestRead = Math.max(this.largestRead, this.reads - before)
    return result
  }

  transact: KeyValueStore['transact'] = work =>
    this.#kv.transact(view => {
      const done = work(this.#counting(view))
      this.onCommit(done.writes)
      for (const { key, value } of done.writes) {
        if (value === undefined) this.removed++
        if (value === undefined) this.#removedKeys.set({ key })
        else this.#removedKeys.delete(key)
      }
      return done
    })

  watch(listener: () => void): () => void {
    return this.#kv.watch(listener)
  }

  close(): Promise<void> {
    return this.#kv.close()
  }

  #counting(view: View): View {
    const count = () => this.reads++
    return {
      get: key => {
        const value = view.get(key)
        if (value !== undefined) count()
        return value
      },
      range: range => this.#counted(view, range),
    }
  }

  *#counted(view: View, range: KeyRange) {
    let { start } = range
    for (const row of view.range(range)) {
      this.reads++
      if (range.reverse !== true) this.#skip(start, row.key)
      start = row.key
      yield row
    }
    if (range.reverse !== true && range.limit === undefined) this.#skip(start, range.end)
  }

  #skip(start: Bytes, end: Bytes): void {
    for (const _ of this.#removedKeys.ascending(start, end)) this.skipped++
  }
}
