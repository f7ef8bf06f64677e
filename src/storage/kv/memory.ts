// A storage engine for tests: all data is in memory and lost with the process. Reads and transactions are synchronous
// and run one at a time, so a read uses the stored entries without a snapshot.

import { assert } from '../../base/assert.ts'
import { allWrites } from './batch.ts'
import { cachedIfEqual, checkWork, isEmptyRange, Listeners } from './engine-parts.ts'
import type { Bytes, Entry, KeyRange, KeyValueStore, View, Work } from './kv-contract.ts'
import { SortedEntries } from './sorted-entries.ts'
import { StoreUnavailableError } from './store-errors.ts'

export function openMemory(): KeyValueStore {
  return new MemoryStore()
}

/** Returns copies, because the caller may change the returned arrays. */
class MemoryView implements View {
  readonly #entries: SortedEntries<Entry>
  #isOver = false

  constructor(entries: SortedEntries<Entry>) {
    this.#entries = entries
  }

  get(key: Bytes, cached?: Bytes): Bytes | undefined {
    assert(!this.#isOver, 'a view is used after its read')
    const value = this.#entries.get(key)?.value
    return value && cachedIfEqual(new Uint8Array(value), cached)
  }

  range(range: KeyRange): Iterable<Entry> {
    return { [Symbol.iterator]: () => this.#iterate(range) }
  }

  end(): void {
    this.#isOver = true
  }

  *#iterate(range: KeyRange): Generator<Entry> {
    assert(!this.#isOver, 'a view is used after its read')
    if (isEmptyRange(range)) return
    const direction = range.reverse ? 'descending' : 'ascending'
    let left = range.limit ?? Number.POSITIVE_INFINITY
    for (const { key, value } of this.#entries[direction](range.start, range.end)) {
      yield { key: new Uint8Array(key), value: new Uint8Array(value) }
      if (--left <= 0) return
      assert(!this.#isOver, 'a view is used after its read')
    }
  }
}

class MemoryStore implements KeyValueStore {
  readonly #entries = new SortedEntries<Entry>()
  readonly #listeners = new Listeners()
  #isClosed = false
  #isWorking = false
  /** Resolves when the newest transaction with a `prepare` function has run. */
  #prepared: Promise<void> = Promise.resolve()
  /** Resolves when all transactions that have begun so far have run. */
  #last: Promise<unknown> = Promise.resolve()

  read<T>(read: (view: View) => T): T {
    if (this.#isClosed) throw closedError()
    assert(!this.#isWorking, 'a transaction must not read beside its view')
    return this.#withView(read)
  }

  transact<T>(work: (view: View) => Work<T>, prepare?: () => Promise<void>): Promise<T> {
    if (this.#isClosed) return Promise.reject(closedError())
    const before = this.#prepared
    const outcome = before.then(() => (prepare ? prepare().then(() => this.#run(work)) : this.#run(work)))
    if (prepare)
      this.#prepared = outcome.then(
        () => undefined,
        () => undefined,
      )
    this.#last = Promise.allSettled([this.#last, outcome])
    return outcome
  }

  watch(listener: () => void): () => void {
    return this.#listeners.add(listener)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#last
  }

  #run<T>(work: (view: View) => Work<T>): T {
    this.#isWorking = true
    try {
      const done = this.#withView(work)
      checkWork(done)
      if (this.#apply(done)) queueMicrotask(() => this.#listeners.notify())
      return done.result
    } finally {
      this.#isWorking = false
    }
  }

  /** Returns whether there were writes. */
  #apply(work: Work<unknown>): boolean {
    for (const { key, value } of allWrites(work)) {
      if (value) this.#entries.set({ key: new Uint8Array(key), value: new Uint8Array(value) })
      else this.#entries.delete(key)
    }
    return work.writes.length > 0 || work.pieces !== undefined
  }

  #withView<T>(use: (view: View) => T): T {
    const view = new MemoryView(this.#entries)
    try {
      return use(view)
    } finally {
      view.end()
    }
  }
}

function closedError(): StoreUnavailableError {
  return new StoreUnavailableError('the store is closed')
}
