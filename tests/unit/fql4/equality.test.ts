// Equality as defined by the function `equals`.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { equalTopLevel } from '../../../src/fql4/functions/comparison.ts'
import { Action } from '../../../src/fql4/values/transient.ts'
import { equalValues } from '../../../src/values/equality.ts'

test('equals compares numbers by value only at the top level', () => {
  assert.ok(equalTopLevel(1n, 1) && equalTopLevel(1, 1n))
  assert.ok(!equalTopLevel([1n], [1]))
  assert.ok(!equalTopLevel(0n, -0) && !equalTopLevel(0, -0))
  assert.ok(equalTopLevel(2n ** 53n + 1n, 2 ** 53), 'the long is turned into a double')
})

test('equals recognizes an action by its name in the oldest API version as well', () => {
  assert.ok(equalTopLevel(new Action('update'), 'create') && equalTopLevel('create', new Action('add')))
  assert.ok(equalTopLevel(new Action('remove'), 'delete') && equalTopLevel(new Action('update'), 'update'))
  assert.ok(!equalTopLevel(new Action('update'), 'delete') && !equalTopLevel(new Action('create'), 'update'))
  assert.ok(!equalValues(new Action('update'), 'create'))
})

test('equals returns true for values that are identical in all parts', () => {
  const object = (...names: string[]) => new Map(names.map(name => [name, 1n]))
  assert.ok(equalTopLevel(Number.NaN, Number.NaN) && equalTopLevel(null, null))
  assert.ok(equalTopLevel(object('a', 'b'), object('b', 'a')) && equalTopLevel(['a'], ['a']))
})
