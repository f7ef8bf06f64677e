// A record has exactly the documented keys, in order, with the documented types.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { micros } from '../../src/base/micros.ts'
import { recordsOf } from '../../src/query-log/segment-blocks.ts'
import { folderOfFile } from '../support/folder.ts'
import { startMs } from './manual-time.ts'
import type { ObservedRequest } from './old-lines.ts'
import { writeSegment } from './records.ts'

const folder = folderOfFile()
let segments = 0

const request: ObservedRequest = {
  method: 'POST',
  headers: {},
  language: '4',
  apiVersion: '4',
  query: '{"add":[1,2]}',
  bytesIn: 13,
  bytesOut: 14,
  status: 200,
  costs: { computeOps: 1, byteReadOps: 2, byteWriteOps: 3, queryTimeMs: 4, txnRetries: 5, rateLimited: [] },
  database: { names: ['parent', 'child "x"'], ids: [1n, 2n] },
  tags: [
    ['a', 'b'],
    ['TS', 'c'],
  ],
  traceId: '0af7651916cd43dd8448eb211c80319c',
  spanId: 'b7ad6b7169203331',
}

async function record(changes: Partial<ObservedRequest> = {}) {
  const path = await writeSegment(folder, String(segments++), [
    { time: micros(startMs * 1000 + 999), request: { ...request, ...changes } },
  ])
  for await (const { records } of recordsOf(path, undefined)) return JSON.parse(records[0]?.line() as string)
}

test('the record of a query', async () => {
  assert.deepEqual(Object.entries(await record()), [
    ['API_VERSION', '4'],
    ['BYTES_IN', 13],
    ['BYTES_OUT', 14],
    ['BYTE_READ_OPS', 2],
    ['BYTE_WRITE_OPS', 3],
    ['COMPUTE_OPS', 1],
    ['DATABASE', ['parent', 'child "x"']],
    ['FQL_SHAPE', '{"add":["?"]}'],
    ['QUERY_TIME_MS', 4],
    ['RATE_LIMITS_HIT', []],
    ['REGION_GROUP', 'us-std'],
    ['REQUEST_HEADERS', '{}'],
    ['REQUEST_METHOD', 'POST'],
    ['RESPONSE_CODE', '200'],
    ['TAGS', { a: 'b', TS: 'c' }],
    ['TRACEPARENT', '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00'],
    ['TS', '2026-03-04 05:06:07.890 Z'],
    ['TXN_RETRIES', 5],
  ])
})

test('a request without query, costs, database and tags', async () => {
  const bare = await record({
    query: undefined,
    costs: undefined,
    database: undefined,
    tags: [],
    status: 401,
  })
  assert.deepEqual(bare.DATABASE, [])
  assert.deepEqual(bare.TAGS, {})
  assert.equal(bare.FQL_SHAPE, '')
  assert.equal(bare.COMPUTE_OPS, 0)
  assert.equal(bare.RESPONSE_CODE, '401')
})

test('request headers: the documented ones, numbers as numbers, never the credential', async () => {
  const headers = {
    authorization: 'Bearer hunter2',
    cookie: 'hunter2',
    'user-agent': 'a "quoted" \\ agent ☃',
    'x-driver-env': 'driver=javascript',
    'x-query-timeout': '1000',
    'x-last-seen-txn': '1700000000000000',
    'x-max-retries-on-contention': 'many',
  }
  assert.deepEqual(JSON.parse((await record({ headers })).REQUEST_HEADERS), {
    user_agent: 'a "quoted" \\ agent ☃',
    driver_env: 'driver=javascript',
    x_max_retries: -1,
    x_query_timeout: 1000,
    last_seen_txn: 1_700_000_000_000_000,
  })
  assert.deepEqual(JSON.parse((await record({ headers: { 'x-query-timeout': '5' } })).REQUEST_HEADERS), {
    x_query_timeout: 5,
  })
})

test('rate limits and later databases', async () => {
  const costs = { ...request.costs, rateLimited: ['compute', 'read'] } as NonNullable<
    ObservedRequest['costs']
  >
  assert.deepEqual((await record({ costs })).RATE_LIMITS_HIT, ['compute', 'read'])
  assert.deepEqual((await record({ database: { names: ['parent'], ids: [1n] } })).DATABASE, ['parent'])
  assert.deepEqual((await record({ database: { names: ['parent', 'other'], ids: [1n, 3n] } })).DATABASE, [
    'parent',
    'other',
  ])
})
