// Concatenation of arrays: large results are rejected without measuring all elements each time.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { longCallUnits, stepsSoFar, withWatch } from '../../../src/base/effort.ts'
import { run } from './support.ts'

test('appending an element does not measure the whole array again', () => {
  for (const way of ['x.append(i)', 'x.prepend(i)', 'x.concat([i])']) {
    const before = stepsSoFar()
    run(`Array.sequence(0, 2000).fold([], (x, i) => ${way}).length`)
    assert.ok(stepsSoFar() - before < 500_000, way)
  }
})

test('a concatenated array has the same size as an array literal', () => {
  const text = 'let t = Array.sequence(0, 24).fold("x", (x, _) => x + x)\n'
  const written = run(`${text}[t, t, t, t, [t]]`)
  assert.equal(written.error?.code, 'value_too_large')
  for (const made of ['[t, t, t].concat([t, [t]])', '[t, t].concat([t, t, [t]])']) {
    assert.equal(run(text + made).error?.message, written.error?.message, made)
  }
  const deep = 'Array.sequence(0, 1199).fold([], (x, _) => [x])'
  assert.equal(run(`${deep}.length`).error, undefined)
  assert.match(run(`[].append(${deep}).append(1)`).error?.message ?? '', /nesting exceeds/)
})

test('a very long array is announced before it is created', () => {
  const lengths: number[] = []
  const watch = {
    check: () => {},
    beforeLongCall: () => {
      throw new RangeError('long')
    },
  }
  const doubled = (times: number) => `Array.sequence(0, ${times}).fold([1], (x, _) => x.concat(x)).length`
  withWatch(watch, () => lengths.push(Number((run(doubled(17)).data as { '@int': string })['@int'])))
  assert.deepEqual(lengths, [longCallUnits / 2])
  assert.throws(() => withWatch(watch, () => run(doubled(18))), /long/)
})
