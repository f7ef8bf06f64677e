// Names of types, and types of parameters.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as parameters from '../../../src/fql10/library/parameters.ts'
import type * as nodes from '../../../src/fql10/syntax/nodes.ts'
import * as sources from '../../../src/fql10/syntax/source.ts'
import * as values from '../../../src/fql10/value.ts'

const source = new sources.Source('*query*', '(x, ...y) => null\nf()')
const body: nodes.LiteralNode = { kind: 'literal', value: null, start: 13, end: 17 }
const lambda = new values.Lambda(
  { kind: 'lambda', parameters: ['x'], rest: 'y', body, start: 0, end: 17 },
  source,
  undefined,
)

test('values have the type names of error messages', () => {
  const named: readonly (readonly [values.Value, string])[] = [
    [1n, 'Int'],
    [values.asLong(1n), 'Long'],
    [2n ** 40n, 'Long'],
    [1, 'Double'],
    [new Map(), '{ *: Any }'],
    [[], 'Array<Any>'],
    [new values.SetCursor(''), 'SetCursor'],
    [lambda, 'Lambda'],
  ]
  for (const [value, name] of named) assert.equal(values.typeName(value), name)
})

test('only parameters of type Any accept null', () => {
  const takeNull = Object.entries(parameters)
    .filter(([, parameter]) => typeof parameter !== 'function' && parameter.cast(null) !== undefined)
    .map(([name]) => name)
  assert.deepEqual(takeNull, ['any'])
  assert.equal(parameters.id.cast('-7'), -7n)
  assert.equal(parameters.id.cast('7.0'), undefined)
})
