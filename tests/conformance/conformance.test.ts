// Every conformance case against the service, without a slow lane; the same cases within the slow lane are in
// slow-lane.test.ts. A case that fails has to be on the list of expected failures, and a case on the list has to fail:
// so progress is recorded and nothing slips back. The file takes as long as some four thousand cases take.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type RunningServer, startServer } from '../support/server.ts'
import { assertAsListed, type CaseResult, compare } from './play.ts'

let server: RunningServer
before(async () => {
  server = await startServer()
})
after(() => server?.stop())

/** Needs the stack of the slow lane, which is twice that of the service. */
const deepStackCases = ['own/v10/functions call themselves to the limit, whatever is around the calls']

test('the conformance cases fail where the list says so, and nowhere else', t =>
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
