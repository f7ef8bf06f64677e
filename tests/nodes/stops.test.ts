// Stopping nodes: in time, even if the database hangs, and not before a load balancer has switched to other nodes. The
// file takes more than 20 seconds, because the notice and the grace period of a shutdown take seconds.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { send } from '../support/http.ts'
import { noPostgres, PostgresServer } from '../support/postgres.ts'
import { Cluster, type Node } from './cluster.ts'

describe('stopping', { skip: noPostgres }, () => {
  let postgres: PostgresServer
  let cluster: Cluster
  let a: Node

  before(async () => {
    postgres = await PostgresServer.start()
    cluster = new Cluster(postgres)
    a = await cluster.start()
    await cluster.prepare(a)
  })
  after(async () => {
    await cluster.end()
    await postgres.stop()
  })

  for (const workers of ['1', '2'])
    test(`/ping fails first, and ${workers} workers serve other requests for the configured time`, async () => {
      const node = await cluster.start({ flags: ['--workers', workers, '--shutdown-notice-ms', '3000'] })
      const ping = async (scope: string) =>
        (await send(node, { method: 'GET', path: `/ping?scope=${scope}` })).status
      assert.equal(await ping('read'), 200)
      const stopped = cluster.stop(node)
      await eventually('/ping fails', async () => (await ping('read')) === 503)
      assert.deepEqual(await Promise.all(['node', 'write', 'all'].map(ping)), [503, 503, 503])
      assert.equal(await cluster.write(node), 'acknowledged')
      await stopped
      await assert.rejects(ping('read'))
      await cluster.check(node.data)
    })

  for (const workers of ['1', '2'])
    test(`a database that does not respond does not prevent the exit of ${workers} workers`, async () => {
      const node = await cluster.start({
        flags: ['--workers', workers],
        env: { TERRARIUM_STORE_WRITE_WAIT_MS: '60000' },
      })
      assert.equal(await cluster.write(node), 'acknowledged')
      node.proxy.blackhole(true)
      const waiting = Promise.all([cluster.write(node), cluster.write(node)])
      await eventually('the database is unavailable', () => node.stderr().includes('is unavailable'))
      const beganMs = performance.now()
      await cluster.stop(node)
      const seconds = (performance.now() - beganMs) / 1000
      // The usual time after which operators' tools kill a process.
      assert.ok(seconds < 10, `${seconds} s`)
      assert.deepEqual(await waiting, ['refused', 'refused'])
      assert.equal(await cluster.write(a), 'acknowledged')
    })
})
