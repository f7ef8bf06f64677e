// Calls of library functions: argument counts, types, conversions and callbacks, with the exact error messages.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { micros } from '../../../../src/base/micros.ts'
import { Call } from '../../../../src/fql10/call.ts'
import { Interpreter } from '../../../../src/fql10/evaluate/interpreter.ts'
import { parseQuery } from '../../../../src/fql10/syntax/parse-query.ts'
import { Source } from '../../../../src/fql10/syntax/source.ts'
import { emptyWorld } from '../../../../src/fql10/world/stored-code.ts'
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

test('the sort functions of an array keep the stricter limit of the call', () => {
  const source = new Source('*test*', '[1].order(x => newId())')
  const session = { transaction: { snapshotTime: micros(0) }, newId: () => 1n, compute: () => {} }
  const interpreter = new Interpreter(session, emptyWorld)
  const limit = { effect: 'pure', place: 'computed fields' } as const
  const call = new Call(interpreter, undefined, source, undefined, 0, limit)
  const evaluate = () => interpreter.evaluate(parseQuery(source, []).body, undefined, call)
  assert.throws(evaluate, { code: 'invalid_effect' })
})
