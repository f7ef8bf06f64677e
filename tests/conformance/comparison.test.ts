// Tests the comparison of results of conformance cases with the list of expected failures.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CaseResult, caseIds, compare, readExpectedFailures } from './play.ts'

test('the comparison reports new failures and passing cases', () => {
  const result = (id: string, passed: boolean): CaseResult => ({ id, file: 'a.json', passed })
  const results = [
    result('a/works', true),
    result('a/new', false),
    result('a/old', false),
    result('a/fixed', true),
  ]
  const difference = compare(results, ['a/old', 'a/fixed', 'a/elsewhere'])
  const newFailures = difference.newFailures.map(failure => failure.id)
  assert.deepEqual(newFailures, ['a/new'])
  assert.deepEqual(difference.nowPassing, ['a/fixed'])
})

test('every id on the list of expected failures is a case', () => {
  const cases = caseIds()
  assert.ok(cases.size > 4000)
  const unknown = readExpectedFailures().filter(id => !cases.has(id))
  assert.deepEqual(unknown, [], 'node scripts/conformance.ts --update takes unknown cases off the list')
})
