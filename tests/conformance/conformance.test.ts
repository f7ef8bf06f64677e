// Plays every conformance case against the service without a slow lane; slow-lane.test.ts plays them in the slow lane.
// A failing case must be on the list of expected failures, and a case on the list must fail. So progress is recorded
// and regressions are noticed. There are about four thousand cases.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type RunningServer, startServer } from '../support/server.ts'
import { assertAsListed, type CaseResult, compare } from './play.ts'

let server: RunningServer
before(async () => {
  server = await startServer()
})
after(() => server?.stop())

/** Cases that need the stack size of the slow lane, which is twice that of the service. */
const deepStackCases = ['own/v10/functions call themselves to the limit, whatever is around the calls']

test('exactly the cases on the list of expected failures fail', t =>
  assertAsListed(server, t, deepStackCases))

test('the comparison reports new failures, passing cases and unknown ids', () => {
  const result = (id: string, passed: boolean): CaseResult => ({ id, file: 'a.json', passed })
  const results = [
    result('a/works', true),
    result('a/new', false),
    result('a/old', false),
    result('a/fixed', true),
  ]
  const difference = compare(results, ['a/old', 'a/fixed', 'a/gone'])
  assert.deepEqual(
    difference.newFailures.map(failure => failure.id),
    ['a/new'],
  )
  assert.deepEqual(difference.nowPassing, ['a/fixed'])
  assert.deepEqual(difference.unknown, ['a/gone'])
})
