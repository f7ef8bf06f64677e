// Equality as the function `equals` has it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { equalTopLevel } from '../../../src/v4/equality.ts'
import { Action } from '../../../src/v4/values/event.ts'
import { equalValues } from '../../../src/values/equality.ts'

test('the function equals compares numbers by value, at the top only', () => {
  assert.ok(equalTopLevel(1n, 1) && equalTopLevel(1, 1n))
  assert.ok(!equalTopLevel([1n], [1]))
  assert.ok(!equalTopLevel(0n, -0) && !equalTopLevel(0, -0))
  assert.ok(equalTopLevel(2n ** 53n + 1n, 2 ** 53), 'the long is turned into a double')
})

test('the function equals knows an action by the words of the oldest API version, too', () => {
  assert.ok(equalTopLevel(new Action('update'), 'create') && equalTopLevel('create', new Action('add')))
  assert.ok(equalTopLevel(new Action('remove'), 'delete') && equalTopLevel(new Action('update'), 'update'))
  assert.ok(!equalTopLevel(new Action('update'), 'delete') && !equalTopLevel(new Action('create'), 'update'))
  assert.ok(!equalValues(new Action('update'), 'create'))
})

test('the function equals finds equal what is the same through and through', () => {
  const object = (...names: string[]) => new Map(names.map(name => [name, 1n]))
  assert.ok(equalTopLevel(Number.NaN, Number.NaN) && equalTopLevel(null, null))
  assert.ok(equalTopLevel(object('a', 'b'), object('b', 'a')) && equalTopLevel(['a'], ['a']))
})
