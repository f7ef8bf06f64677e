// A store in memory that counts the read rows and the removed rows.

import type { KeyValueStore, View, Write } from '../../../../src/storage/kv/kv-contract.ts'
import { openMemory } from '../../../../src/storage/kv/memory.ts'

export class CountingStore implements KeyValueStore {
  readonly #kv = openMemory()
  reads = 0
  removed = 0
  /** Called with the rows of each commit. */
  onCommit: (writes: readonly Write[]) => void = () => undefined

  read<T>(read: (view: View) => T): T {
    return this.#kv.read(view => read(this.#counting(view)))
  }

  transact: KeyValueStore['transact'] = work =>
    this.#kv.transact(view => {
      const done = work(this.#counting(view))
      this.onCommit(done.writes)
      for (const { value } of done.writes) if (value === undefined) this.removed++
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
      range: range => counted(view.range(range), count),
    }
  }
}

function* counted<T>(rows: Iterable<T>, count: () => void): Generator<T> {
  for (const row of rows) {
    count()
    yield row
  }
}
