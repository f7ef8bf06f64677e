// The log lines about failed requests.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { failureLog } from '../../../src/engine/responses.ts'
import { StoreUnavailableError } from '../../../src/storage/store/store-contract.ts'

test('an unavailable store is logged every five seconds with a count, and other failures each time', () => {
  const lines: unknown[] = []
  let nowMs = 0
  const fail = failureLog(
    { error: (fields, text) => lines.push({ ...fields, text }) },
    { elapsedMs: () => nowMs },
  )
  const away = new StoreUnavailableError('it is away')
  for (let count = 0; count < 100; count++) fail(away)
  const told = { reason: 'it is away', text: 'requests get 503: the store is not available' }
  assert.deepEqual(lines, [{ ...told, requests: 1 }])
  nowMs = 5_000
  fail(away)
  assert.deepEqual(lines.slice(1), [{ ...told, requests: 100 }])
  const bug = new Error('a bug')
  fail(bug)
  fail(bug)
  const failed = { err: bug, text: 'a request failed' }
  assert.deepEqual(lines.slice(2), [failed, failed])
})
