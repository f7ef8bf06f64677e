// The driver's browser build in a page of another origin: preflights, queries, errors, metrics and streams.

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type * as driver from 'faunadb'
import { keyOfNewDatabase, query } from '../support/http.ts'
import { pageOfFile, skip } from './chromium.ts'

const opened = pageOfFile()
/** The options of a client in the page. */
let config: Pick<driver.ClientConfig, 'secret' | 'domain' | 'port' | 'scheme'>

before(async () => {
  if (skip) return
  const secret = await keyOfNewDatabase(opened.server, 'app', 'server')
  const { hostname, port } = new URL(opened.server.url)
  config = { secret, domain: hostname, port: Number(port), scheme: 'http' }
  await query(opened.server, secret, { create_collection: { object: { name: 'spells' } } })
})

/** The driver in the page, which its browser build sets as a global. */
declare global {
  var faunadb: typeof driver
}

test('queries, metrics and errors reach the page', { skip }, async () => {
  const seen = await opened.page.evaluate(async options => {
    const { Client, query: q } = globalThis.faunadb
    const client = new Client(options)
    const made = await client.query<{ ref: driver.Expr; ts: number; data: object }>(
      q.Create(q.Collection('spells'), { data: { name: 'Fire' } }),
      { tags: { page: 'one' }, traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' },
    )
    const { value, metrics } = await client.queryWithMetrics<{ data: object }>(q.Get(made.ref))
    const failure = await client.query(q.Get(q.Ref(q.Collection('spells'), '1'))).catch(error => ({
      name: error.name,
      status: error.requestResult.statusCode,
      code: error.message,
      txnTime: error.requestResult.responseHeaders['x-txn-time'],
    }))
    const rejected = await new Client({ ...options, secret: 'wrong' }).query(1).catch(error => error.name)
    return { data: value.data, metrics, failure, rejected, ping: await client.ping('node') }
  }, config)
  assert.deepEqual(seen.data, { name: 'Fire' })
  assert.equal(seen.metrics['x-byte-read-ops'], 1)
  assert.equal(seen.metrics['x-compute-ops'], 1)
  const { txnTime, ...failure } = seen.failure as { txnTime: string }
  assert.deepEqual(failure, { name: 'NotFound', status: 404, code: 'instance not found' })
  assert.match(txnTime, /^\d{16}$/, 'the header is exposed')
  assert.equal(seen.rejected, 'Unauthorized')
  assert.equal(seen.ping, 'Scope node is OK')
})

test('a stream delivers events to the page', { skip }, async () => {
  const events = await opened.page.evaluate(async options => {
    const { Client, query: q } = globalThis.faunadb
    const client = new Client(options)
    const { ref } = await client.query<{ ref: driver.Expr }>(
      q.Create(q.Collection('spells'), { data: { power: 1 } }),
    )
    return new Promise<unknown[]>((resolve, reject) => {
      const seen: unknown[] = []
      const stream = client.stream(ref)
      stream.on('start', () => {
        seen.push('start')
        client.query(q.Update(ref, { data: { power: 2 } })).catch(reject)
      })
      stream.on('version', event => {
        const { action, document } = event as { action: string; document: { data: object } }
        seen.push({ action, data: document.data })
        stream.close()
        resolve(seen)
      })
      stream.on('error', reject)
      stream.start()
    })
  }, config)
  assert.deepEqual(events, ['start', { action: 'update', data: { power: 2 } }])
})
