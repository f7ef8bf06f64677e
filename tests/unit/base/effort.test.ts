// The step counter and its watch.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  longCall,
  longCallUnits,
  step,
  stepsPerCheck,
  stepsSoFar,
  withWatch,
} from '../../../src/base/effort.ts'

function counting() {
  const seen = { checks: 0, longCalls: 0 }
  const watch = { check: () => void seen.checks++, beforeLongCall: () => void seen.longCalls++ }
  return { seen, watch }
}

test('the watch is called once for about every stepsPerCheck steps', () => {
  const { seen, watch } = counting()
  withWatch(watch, () => {
    for (let at = 0; at < 10 * stepsPerCheck; at++) step()
  })
  assert.ok(seen.checks >= 9 && seen.checks <= 10, `${seen.checks}`)
})

test('many steps at once cause one check and are all counted', () => {
  const { seen, watch } = counting()
  const before = stepsSoFar()
  withWatch(watch, () => step(100 * stepsPerCheck))
  assert.equal(seen.checks, 1)
  assert.equal(stepsSoFar() - before, 100 * stepsPerCheck)
})

test('an inner watch replaces the outer one until it throws', () => {
  const outer = counting()
  const enough = new Error('enough')
  const inner = {
    check() {
      throw enough
    },
    beforeLongCall: () => undefined,
  }
  withWatch(outer.watch, () => {
    assert.throws(() => withWatch(inner, () => step(2 * stepsPerCheck)), enough)
    assert.equal(outer.seen.checks, 0)
    step(2 * stepsPerCheck)
  })
  assert.equal(outer.seen.checks, 1)
})

test('a long call is announced to the watch, a short one is only counted', () => {
  const { seen, watch } = counting()
  withWatch(watch, () => {
    longCall(longCallUnits - 1)
    assert.equal(seen.longCalls, 0)
    longCall(longCallUnits)
  })
  assert.equal(seen.longCalls, 1)
})

test('without a watch steps are only counted', () => {
  const before = stepsSoFar()
  step(3 * stepsPerCheck)
  longCall(longCallUnits)
  assert.ok(stepsSoFar() - before > 3 * stepsPerCheck)
})
