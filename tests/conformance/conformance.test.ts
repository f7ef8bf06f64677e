// Every conformance case against the real service. A case that fails has to be on the list of expected failures,
// and a case on the list has to fail: so progress is recorded and nothing slips back.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type RunningServer, startServer } from '../support/server.ts'
import { type CaseResult, compare, play, readExpectedFailures, table } from './play.ts'

let server: RunningServer
before(async () => {
  server = await startServer()
})
after(() => server?.stop())

test('the conformance cases fail where the list says so, and nowhere else', async t => {
  const results = await play(server)
  t.diagnostic(`conformance cases passed:\n${table(results)}`)
  const difference = compare(results, readExpectedFailures())
  const complaints = [
    ...difference.newFailures.map(
      result => `fails: ${result.id} (step ${result.step})\n    ${result.complaint}`,
    ),
    ...difference.nowPassing.map(id => `passes now: remove it from the list: ${id}`),
    ...difference.unknown.map(id => `is on the list but is no case: ${id}`),
  ]
  assert.equal(
    complaints.length,
    0,
    `${complaints.join('\n')}\n(node scripts/conformance.ts --update takes passing and unknown cases off the list)`,
  )
})

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
