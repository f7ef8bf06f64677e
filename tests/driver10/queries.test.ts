// Queries, templates, arguments, pages and options in the driver `fauna`.

import assert from 'node:assert/strict'
import {
  type Client,
  DateStub,
  fql,
  LONG_MAX,
  LONG_MIN,
  Module,
  Page,
  type QueryArgument,
  type QueryValue,
  TimeStub,
} from 'fauna'
import { driver10Tests } from './app.ts'

const driverTest = driver10Tests()

/** Sends a value to the service, and returns the result. */
async function echoed(client: Client, value: QueryArgument): Promise<QueryValue> {
  return (await client.query(fql`${value}`)).data
}

driverTest('a response has data and metadata', async app => {
  const client = app.client({ query_tags: { app: 'shop' } })
  const answer = await client.query<number>(fql`log("seen"); 1 + 2`)
  assert.equal(answer.data, 3)
  assert.equal(answer.summary, 'info at *query*:1: seen')
  assert.deepEqual(answer.query_tags, { app: 'shop' })
  assert.ok(answer.txn_ts !== undefined && answer.txn_ts > 1_600_000_000_000_000)
  assert.ok(answer.schema_version !== undefined)
  const { compute_ops, read_ops, write_ops, contention_retries, attempts } = answer.stats ?? {}
  assert.deepEqual([compute_ops, read_ops, write_ops, contention_retries, attempts], [1, 0, 0, 0, 1])
  assert.equal(client.lastTxnTs, answer.txn_ts)
})

driverTest('arguments of every type are returned unchanged', async app => {
  const client = app.client({ long_type: 'bigint' })
  const values: readonly QueryValue[] = [
    null,
    true,
    'text with "quotes", \\ and \u{1f331}',
    0,
    -2147483648,
    2147483647,
    1.5,
    Number.MAX_VALUE,
    5_000_000_000n,
    LONG_MAX,
    LONG_MIN,
    [],
    [1, [2, ['three']]],
    {},
    { a: 1, 'b c': { d: [null, false] } },
    { '@name': 'no tag', plain: { '@x': 1 } },
    TimeStub.from('2024-01-02T03:04:05.678901Z'),
    DateStub.from('2024-02-29'),
    new Uint8Array([0, 127, 255]),
    new Module('Math'),
  ]
  for (const value of values) assert.deepEqual(await echoed(client, value), value)
  // The driver cannot send these numbers, but reads them.
  const { data } = await client.query(fql`[Math.NaN, Math.Infinity, -Math.Infinity]`)
  assert.deepEqual(data, [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])
  // A value without a type of its own is returned in the type that was sent.
  assert.deepEqual(await echoed(client, new Date(0)), TimeStub.from('1970-01-01T00:00:00Z'))
  const { buffer } = new Uint8Array([1, 2])
  assert.deepEqual(await echoed(client, buffer), new Uint8Array([1, 2]))
})

driverTest('templates can be nested, as queries and inside objects and arrays', async app => {
  const client = app.client()
  const doubled = (argument: QueryArgument) => fql`${argument} * 2`
  const sum = fql`${doubled(4)} + ${doubled(fql`1 + 1`)}`
  assert.equal((await client.query(sum)).data, 11)
  const made = fql`{ let n = ${3}; ${{ plain: 1, query: fql`n + 1`, list: [fql`n`, 'text'] }} }`
  assert.deepEqual((await client.query(made)).data, { plain: 1, query: 4, list: [3, 'text'] })
  // A text in a template is a value, never source code.
  assert.equal((await client.query(fql`${'1 + 1'}`)).data, '1 + 1')
  const predicate = fql`n => n > ${1}`
  assert.deepEqual((await client.query(fql`[1, 2, 3].where(${predicate})`)).data, [2, 3])
})

driverTest('named arguments are variables', async app => {
  const answer = await app.client().query(fql`a.length + b`, { arguments: { a: 'four', b: 2 } })
  assert.equal(answer.data, 6)
})

driverTest('sets are returned page by page', async app => {
  const client = app.client()
  const set = fql<Page<number>>`Set.sequence(0, 40).map(n => n * 10)`
  const { data: first } = await client.query(set)
  assert.ok(first instanceof Page)
  assert.equal(first.data.length, 16)
  const pages: number[] = []
  for await (const page of client.paginate<number>(set)) pages.push(page.length)
  assert.deepEqual(pages, [16, 16, 8])
  const all: number[] = []
  for await (const item of client.paginate<number>(first).flatten()) all.push(item)
  const numbers = Array.from({ length: 40 }, (_, n) => n * 10)
  assert.deepEqual(all, numbers)
  const sized: number[] = []
  for await (const page of client.paginate<number>(fql`Set.sequence(0, 5).pageSize(2)`))
    sized.push(page.length)
  assert.deepEqual(sized, [2, 2, 1])
  // Any other value is a single page with one element.
  assert.deepEqual(await client.paginate<number>(fql`1 + 1`).next(), { done: false, value: [2] })
})

driverTest('the driver supports all formats', async app => {
  const client = app.client()
  const query = fql`{ n: 9007199254740993, time: Time("2024-01-02T03:04:05Z") }`
  const plain = await client.query(query, { format: 'simple' })
  assert.equal((plain.data as { time: string }).time, '2024-01-02T03:04:05Z')
  const text = await client.query<string>(query, { format: 'decorated' })
  assert.equal(text.data, '{\n  n: 9007199254740993,\n  time: Time("2024-01-02T03:04:05Z")\n}')
})

driverTest('all options of queries are accepted', async app => {
  const client = app.client()
  const answer = await client.query(fql`1`, {
    linearized: true,
    max_contention_retries: 2,
    query_tags: { kind: 'report' },
    query_timeout_ms: 4000,
    traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    typecheck: true,
    performance_hints: true,
  })
  assert.deepEqual(answer.query_tags, { kind: 'report' })
  assert.equal(answer.static_type, '1')
})
