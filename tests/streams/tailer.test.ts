// The tailer: its reads of the change log, and its yields to the event loop.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { epoch, micros } from '../../src/base/micros.ts'
import { Tailer, TurnOver } from '../../src/engine/streams/tailer.ts'
import type { CommittedTransaction } from '../../src/storage/store/store-contract.ts'
import { Bench, data, documentRef } from '../unit/storage/store/support.ts'

/** A tailer over a store. It records its reads of the log and the handled transactions. */
async function tailing(handle: (transaction: CommittedTransaction) => void) {
  const bench = new Bench()
  const collection = await bench.createCollection('things')
  const begin = bench.store.changes(epoch, 100).at(-1)?.time ?? 0
  const reads: number[] = []
  const { store } = bench
  const failures: unknown[] = []
  const tailer = new Tailer({
    store: {
      read: (work, notBefore) => store.read(work, notBefore),
      watch: listener => store.watch(listener),
      changes: (after, limit, changesMax) => {
        const found = store.changes(after, limit, changesMax)
        reads.push(found.length)
        return found
      },
    },
    timers: { after: () => () => {} },
    clock: { elapsedMs: () => 0 },
    handle: transaction => {
      handle(transaction)
      return { events: transaction.changes.length, handOut: () => false }
    },
    onFailure: error => failures.push(error),
  })
  const write = (documents: number) =>
    bench.write(transaction => {
      for (let id = 0; id < documents; id++) transaction.put(documentRef(collection, id), data({ n: 1n }))
    })
  return { bench, begin, failures, reads, tailer, write }
}

const turns = async (count: number) => {
  for (let left = count; left > 0; left--) await turn()
}

test('a transaction that takes several turns is read once', async () => {
  let tries = 0
  const handled: number[] = []
  const { begin, bench, failures, reads, tailer, write } = await tailing(({ changes }) => {
    if (++tries < 5) throw new TurnOver()
    handled.push(changes.length)
  })
  await write(20)
  tailer.start(micros(begin))
  await turns(10)
  assert.deepEqual(handled, [20])
  assert.deepEqual(reads, [1, 0])
  tailer.stop()
  assert.deepEqual(failures, [])
  await bench.close()
})

test('few large transactions are read at a time, and none is skipped', async () => {
  const handled: number[] = []
  const { begin, bench, failures, reads, tailer, write } = await tailing(({ changes }) => {
    handled.push(changes.length)
  })
  for (const documents of [520, 520, 520, 1, 2]) await write(documents)
  tailer.start(micros(begin))
  await turns(20)
  assert.deepEqual(handled, [520, 520, 520, 1, 2])
  assert.deepEqual(reads, [2, 3, 0])
  tailer.stop()
  assert.deepEqual(failures, [])
  await bench.close()
})
