// Metadata and options of requests: transaction times, metrics, pings, tags, traces, timeouts.

import assert from 'node:assert/strict'
import type faunadb from 'faunadb'
import { type Document, driverTests, errors, pingTimeoutMs, q } from './app.ts'

const driverTest = driverTests()

driverTest('ping responds without a valid secret', async app => {
  const client = app.client('no secret at all')
  for (const scope of ['node', 'write'])
    assert.equal(await client.ping(scope, pingTimeoutMs), `Scope ${scope} is OK`)
})

driverTest('responses have metrics', async app => {
  const server = await app.as('server')
  await server.query(q.CreateCollection({ name: 'things' }))
  const { value, metrics } = await server.queryWithMetrics<Document>(
    q.Create(q.Collection('things'), { data: { n: 1 } }),
  )
  assert.deepEqual(value.data, { n: 1 })
  assert.equal(metrics['x-byte-read-ops'], 0)
  assert.equal(metrics['x-byte-write-ops'], 1)
  assert.equal(metrics['x-compute-ops'], 1)
  assert.equal(metrics['x-txn-retries'], 0)
  assert.ok(Number.isInteger(metrics['x-query-time']))
})

driverTest("the transaction time is the written document's, and never decreases", async app => {
  const observed: { 'x-txn-time'?: string }[] = []
  const server = await app.as('server')
  const options = {
    observer: (result: faunadb.RequestResult) => {
      observed.push(result.responseHeaders)
    },
  }
  await server.query(q.CreateCollection({ name: 'things' }), options)
  const made = await server.query<Document>(q.Create(q.Collection('things')), options)
  await server.query(q.Get(made.ref), options)
  const times = observed.map(headers => Number(headers['x-txn-time']))
  assert.equal(times[1], made.ts)
  const sorted = times.toSorted((a, b) => a - b)
  assert.deepEqual(times, sorted)
})

driverTest('tags are returned, and a trace is continued', async app => {
  const client = await app.as('client')
  const observed: Record<string, string>[] = []
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
  await client.query(q.Add(1, 2), {
    tags: { foo: 'Foo1', bar: 'Bar2' },
    traceparent: `00-${traceId}-00f067aa0ba902b7-01`,
    observer: (result: faunadb.RequestResult) => {
      observed.push(result.responseHeaders as Record<string, string>)
    },
  })
  assert.equal(observed[0]?.['x-fauna-tags'], 'bar=Bar2,foo=Foo1')
  assert.match(observed[0]?.traceparent ?? '', new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`))
})

driverTest('one client can run many queries concurrently', async app => {
  const client = await app.as('client')
  const answers = await Promise.all(Array.from({ length: 100 }, (_, n) => client.query(q.Add(n, 1))))
  const expected = Array.from({ length: 100 }, (_, n) => n + 1)
  assert.deepEqual(answers, expected)
})

driverTest('a closed client rejects queries', async app => {
  const client = await app.as('client')
  await client.query(1)
  await app.closeClient(client)
  await assert.rejects(client.query(1), errors.ClientClosed)
})
