// The time in a timeout error counts from the arrival of the query, also if the query moved to another process.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sendFql } from '../support/http.ts'
import { startProcess } from '../support/server-process.ts'

const endless =
  'let t = Array.sequence(0, 15).fold("😀é", (x, _) => x + x)\nArray.sequence(0, 15000).map(i => t.slice(5, 60000).length).length'

test('a query that waited for its turn in the slow lane does not fail with a deadline that was too short', async () => {
  await using server = await startProcess({ flags: ['--slow-lane-processes', '1'] })
  const ask = (timeoutMs: number) =>
    sendFql(server, server.rootSecret, endless, {}, { 'x-query-timeout-ms': String(timeoutMs) })
  const [first, second] = await Promise.all([ask(1500), ask(2200)])
  assert.deepEqual([first.status, second.status], [503, 503])
})
