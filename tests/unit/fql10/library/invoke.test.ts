// Calls of library functions: argument counts, types, conversions and callbacks, with the exact error messages.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { run } from '../support.ts'

function failureOf(query: string): string {
  const { error } = run(query)
  return `${error?.code}: ${error?.message}`
}

test('the number of arguments is checked first, then the types in order', () => {
  assert.equal(
    failureOf('"a".slice()'),
    'invalid_function_invocation: callee function expects 1 or 2 arguments, but 0 were provided.',
  )
  assert.equal(
    failureOf('"a".slice("x")'),
    'invalid_argument: expected arguments to `slice` of type (Int), received (String)',
  )
})

test('whole numbers of any width are accepted as an Int', () => {
  assert.equal(run('"abcd".slice(1.0, long)', { arguments: { long: { '@long': '3' } } }).data, 'bc')
  assert.equal(
    failureOf('"abcd".slice(1.5)'),
    'invalid_argument: expected arguments to `slice` of type (Int), received (Double)',
  )
})

test('callbacks must accept the number of arguments that they receive', () => {
  assert.equal(
    failureOf('[].map([].first)'),
    'invalid_argument: `mapper` should accept 1 parameter, provided function requires no parameters.',
  )
  assert.equal(
    failureOf('[].map(1)'),
    'invalid_argument: expected value for `mapper` of type Function, received Int',
  )
  assert.equal(run('[].first()').data, null)
})
