// Closed services are garbage-collected in a process that opens and closes many services, as the tests of an
// application do.

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { queryObjects } from 'node:v8'
import { createServer } from '../../src/app/index.ts'
import { Listener } from '../../src/server/http/listener.ts'
import { Store } from '../../src/storage/store/store.ts'
import { sendFql } from '../support/http.ts'

const rounds = 4

/** The objects of a service's main classes that are still in memory after a garbage collection. */
function counts() {
  const count = (of: typeof Store | typeof Listener) => Number(queryObjects(of, { format: 'count' }))
  return { stores: count(Store), listeners: count(Listener) }
}

/** Opens a service, evaluates a query and closes the service. */
async function serveOnce(data?: string): Promise<void> {
  const server = await createServer(data === undefined ? {} : { data })
  const create = 'Collection.create({ name: "Jar" })'
  const answer = await sendFql(server, server.rootSecret, create, {}, { connection: 'close' })
  assert.equal(answer.status, 200, answer.text)
  await server.close()
}

test('closed services in memory are garbage-collected', async () => {
  const before = counts()
  for (let round = 0; round < rounds; round++) await serveOnce()
  assert.deepEqual(counts(), before)
})

test('closed services over data directories are garbage-collected', async t => {
  const folder = await mkdtemp(join(tmpdir(), 'terrarium-closed-'))
  t.after(() => rm(folder, { recursive: true }))
  const before = counts()
  for (let round = 0; round < rounds; round++) await serveOnce(join(folder, `${round}`))
  assert.deepEqual(counts(), before)
})
