// Calls of functions of the library: counts, types, conversions and callbacks, with the exact messages.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Call, type Evaluation } from '../../../../src/v10/call.ts'
import { QueryFailure } from '../../../../src/v10/failure/failure.ts'
import { definitionOf } from '../../../../src/v10/library/definition.ts'
import { invoke } from '../../../../src/v10/library/invoke.ts'
import { memberOf, modules } from '../../../../src/v10/library/tables.ts'
import { Source } from '../../../../src/v10/syntax/source.ts'
import { BoundFunction, isNull, NarrowLong, type Value } from '../../../../src/v10/value.ts'

const evaluation: Evaluation = {
  now: 0,
  apply: (callee, args, call) =>
    callee instanceof BoundFunction ? invoke(definitionOf(callee), callee.receiver, args, call) : null,
  compute: () => {},
  tell: () => {},
  newId: () => 1n,
}

function callMethod(receiver: Value, name: string, ...args: Value[]): Value {
  const member = memberOf(receiver, name)
  assert(member?.kind === 'function')
  return invoke(member, receiver, args, new Call(evaluation, undefined, new Source('*query*', ''), undefined))
}

function bound(receiver: Value, name: string): BoundFunction {
  const member = memberOf(receiver, name)
  assert(member?.kind === 'function')
  return new BoundFunction(receiver, member)
}

function failureOf(work: () => unknown): string {
  try {
    work()
  } catch (failure) {
    assert(failure instanceof QueryFailure)
    return `${failure.code}: ${failure.message}`
  }
  return 'none'
}

const math = modules.get('Math') as Value

test('arguments are counted, then their types are looked at one by one', () => {
  assert.equal(
    failureOf(() => callMethod(math, 'abs')),
    'invalid_function_invocation: callee function expects exactly 1 argument, but 0 were provided.',
  )
  assert.equal(
    failureOf(() => callMethod('a', 'slice')),
    'invalid_function_invocation: callee function expects 1 or 2 arguments, but 0 were provided.',
  )
  assert.equal(
    failureOf(() => callMethod('a', 'concat', 1n)),
    'invalid_argument: expected value for `other` of type String, received Int',
  )
  assert.equal(
    failureOf(() => callMethod('a', 'slice', 'x')),
    'invalid_argument: expected arguments to `slice` of type (Int), received (String)',
  )
  assert.equal(
    failureOf(() => callMethod(math, 'sqrt', -1n)),
    'invalid_argument: invalid argument `x`: x must be nonnegative',
  )
})

test('whole numbers of any width are taken for an Int', () => {
  assert.equal(callMethod('abcd', 'slice', 1, new NarrowLong(3n)), 'bc')
  assert.equal(
    failureOf(() => callMethod('abcd', 'slice', 1.5)),
    'invalid_argument: expected arguments to `slice` of type (Int), received (Double)',
  )
})

test('callbacks take as many arguments as they are given', () => {
  assert.deepEqual(callMethod([-1n, 2n], 'map', bound(math, 'abs')), [1n, 2n])
  assert.equal(
    failureOf(() => callMethod([], 'map', bound([], 'first'))),
    'invalid_argument: `mapper` should accept 1 parameter, provided function requires no parameters.',
  )
  assert.equal(
    failureOf(() => callMethod([], 'map', 1n)),
    'invalid_argument: expected value for `mapper` of type Function, received Int',
  )
  assert.ok(isNull(callMethod([], 'first')))
})
