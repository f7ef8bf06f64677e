// The distribution of connections to workers, with workers that only record what they receive.

import assert from 'node:assert/strict'
import type { Worker } from 'node:cluster'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { Distributor } from '../../../src/cli/distributor.ts'

/** A worker that has exited or not. `received` resolves when the worker receives a connection. */
function fakeWorker(isDead: boolean) {
  const { promise: received, resolve } = Promise.withResolvers<Socket>()
  const worker = { isDead: () => isDead, process: { send: (_: unknown, socket: Socket) => resolve(socket) } }
  return { worker: worker as unknown as Worker, received }
}

test('a worker whose report arrives after its exit receives no connection', async () => {
  const distributor = new Distributor()
  const port = await distributor.listen({ host: '127.0.0.1', port: 0 })
  const dead = fakeWorker(true)
  const alive = fakeWorker(false)
  dead.received.then(() => assert.fail('the dead worker received a connection'))
  distributor.withdraw(dead.worker)
  distributor.free(dead.worker)
  distributor.free(alive.worker)
  const client = connect(port, '127.0.0.1')
  await Promise.race([alive.received, dead.received])
  distributor.withdraw(alive.worker)
  await once(client.resume(), 'close')
  distributor.close()
})
