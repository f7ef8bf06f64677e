// The waits of a query on a node whose replica may lag behind other nodes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Micros, micros } from '../../../src/base/micros.ts'
import { openMemory } from '../../../src/storage/kv/memory.ts'
import type { ReplicatedStore } from '../../../src/storage/kv/replicated-store.ts'
import { openTestEngine } from '../../support/engine.ts'

test('a read waits for a fresh state, and a write only for the state that its client has seen', async () => {
  const memory = openMemory()
  const asked: number[] = []
  const kv: ReplicatedStore = {
    read: read => memory.read(read),
    transact: work => memory.transact(work),
    watch: listener => memory.watch(listener),
    close: () => memory.close(),
    ready: notBefore => {
      asked.push(notBefore)
      return undefined
    },
    watchForeign: () => undefined,
  }
  await using engine = openTestEngine({ kv })
  const ask = async (query: object, lastSeenTxn?: Micros) => {
    asked.length = 0
    const { status } = await engine.send(query, lastSeenTxn && { lastSeenTxn })
    assert.ok(status < 300, `status ${status}`)
    return [...asked]
  }
  const create = (name: string) => ({ create_collection: { object: { name } } })
  assert.deepEqual(await ask({ collections: null }), [0])
  assert.deepEqual(await ask({ collections: null }, micros(5)), [5])
  assert.deepEqual(await ask(create('first')), [])
  assert.deepEqual(await ask(create('second'), micros(5)), [5])
})
