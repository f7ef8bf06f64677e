// What removal by time costs: superseded versions and expired documents among many that stay, over a folder of LMDB on a
// clock of its own. Counts rows, which no busy machine changes: those read by the sweeper, and those removed.

import { micros } from '../src/base/micros.ts'
import type { KeyValueStore, View } from '../src/kv/contract.ts'
import { openLmdb } from '../src/kv/lmdb.ts'
import { limits } from '../src/limits.ts'
import type { Transaction } from '../src/store/contract.ts'
import { Store } from '../src/store/store.ts'
import { Sweeper } from '../src/store/sweeper.ts'
import { native, type ObjectValue, Ref, rootDatabase, Time } from '../src/values/value.ts'

/** What was counted. */
export interface RemovalResult {
  readonly rowsRead: number
  readonly rowsRemoved: number
  /** Milliseconds of the processor. */
  readonly processorMs: number
  /** Steps of the sweeper, of which there is one a second at least, more while there is more to do. */
  readonly steps: number
  /** Rows read by sixty steps with nothing to do. */
  readonly idleRowsRead: number
}

const second = 1_000_000
const batch = 1000
const removed = 1000

/** Counts what is read of a store, and what is removed. */
function counting(kv: KeyValueStore, counts: { read: number; removed: number }): KeyValueStore {
  const viewOf = (view: View): View => ({
    get: (key, known) => {
      const value = view.get(key, known)
      if (value !== undefined) counts.read++
      return value
    },
    *range(range) {
      for (const row of view.range(range)) {
        counts.read++
        yield row
      }
    },
  })
  return {
    read: read => kv.read(view => read(viewOf(view))),
    transact: work =>
      kv.transact(view => {
        const done = work(viewOf(view))
        for (const { value } of done.writes) if (value === undefined) counts.removed++
        return done
      }),
    watch: listener => kv.watch(listener),
    close: () => kv.close(),
  }
}

function fields(n: number, ttl?: number): ObjectValue {
  const content: ObjectValue = new Map([['n', BigInt(n)]])
  const document: ObjectValue = new Map([['data', content]])
  return ttl === undefined ? document : new Map(document).set('ttl', new Time(BigInt(ttl / second), 0))
}

/** A collection without history beyond the least, with an index. */
function createCollection(transaction: Transaction): Ref {
  const id = transaction.nextSchemaId(rootDatabase, native.collections)
  const collection = new Ref(rootDatabase, native.collections, id)
  transaction.put(
    collection,
    new Map<string, string | bigint>([
      ['name', 'documents'],
      ['history_days', 0n],
    ]),
  )
  const index = new Ref(rootDatabase, native.indexes, transaction.nextSchemaId(rootDatabase, native.indexes))
  transaction.put(
    index,
    new Map<string, string | Ref | boolean | readonly ObjectValue[]>([
      ['name', 'by_n'],
      ['source', collection],
      ['terms', [new Map([['field', ['data', 'n']]])]],
      ['active', true],
    ]),
  )
  return collection
}

/** Removes 1 000 superseded versions and 1 000 expired documents among `documents` in the folder `path`, which is empty. */
export async function measureRemoval(path: string, documents: number): Promise<RemovalResult> {
  const counts = { read: 0, removed: 0 }
  let now = 1_700_000_000 * second
  const store = new Store(counting(openLmdb({ path, durable: false }), counts), {
    clock: () => micros(now),
    hooks: { evaluateBinding: () => undefined },
  })
  const { result: collection } = await store.write(createCollection)
  const ref = (id: number) => new Ref(rootDatabase, Number(collection.id), BigInt(id))
  for (let from = 0; from < documents; from += batch) {
    await store.write(transaction => {
      for (let id = from; id < from + batch; id++) transaction.put(ref(id), fields(id))
    })
  }
  const sweeper = new Sweeper(store)
  const pass = limits.historyGraceMicros + second
  now += pass
  await sweeper.runAll()
  await store.write(transaction => {
    const apart = Math.floor(documents / removed)
    for (let at = 0; at < removed; at++) {
      transaction.put(ref(at * apart), fields(-1))
      transaction.put(ref(documents + at), fields(-2, now + second))
    }
  })
  await sweeper.runAll()
  now += pass + second
  counts.read = 0
  counts.removed = 0
  const before = process.threadCpuUsage()
  let steps = 1
  while (await sweeper.runOnce()) steps++
  const { system, user } = process.threadCpuUsage(before)
  const [rowsRead, rowsRemoved] = [counts.read, counts.removed]
  counts.read = 0
  for (let idle = 0; idle < 60; idle++) {
    now += second
    await sweeper.runOnce()
  }
  const idleRowsRead = counts.read
  await store.close()
  return { rowsRead, rowsRemoved, processorMs: (system + user) / 1000, steps, idleRowsRead }
}
