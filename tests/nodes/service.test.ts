// What an operator and the clients see of nodes besides the data: how they start, what they count and do together.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Client } from 'pg'
import { send } from '../support/http.ts'
import { noPostgres, PostgresServer } from '../support/postgres.ts'
import { Cluster, eventually, type Node } from './cluster.ts'

describe('nodes as a service', { skip: noPostgres }, () => {
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

  for (const workers of ['1', '2']) {
    test(`a new node that copies responds with 503 and how far it is, with ${workers} workers`, async () => {
      const lock = new Client({ connectionString: postgres.url() })
      await lock.connect()
      // Nobody can copy the state meanwhile.
      await lock.query('BEGIN')
      await lock.query(`LOCK TABLE "${cluster.schema}".kv IN ACCESS EXCLUSIVE MODE`)
      let url: string | undefined
      const starting = cluster.start({
        flags: ['--workers', workers, '--store-hold-ms', '60000'],
        onStderr: text => {
          url ??= /(http:\/\/\S+)\/ping tells/.exec(text)?.[1]
        },
      })
      await eventually('it says where it will serve', () => url !== undefined)
      const early = { url: url as string }
      for (const path of ['/ping', '/ping?scope=node', '/']) {
        const { status, text, headers } = await send(early, { method: 'GET', path })
        assert.equal(status, 503, text)
        assert.match(text, /The service is starting: it (catches up|copies)/)
        assert.equal(headers.get('retry-after'), '1')
      }
      await lock.query('ROLLBACK')
      await lock.end()
      const node = await starting
      assert.equal(node.url, url)
      assert.equal((await send(node, { method: 'GET', path: '/ping' })).status, 200)
      assert.match(node.stderr(), /copying the state of the store/)
      await cluster.stop(node)
    })
  }
})
