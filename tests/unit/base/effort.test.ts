// The count of steps, and the watch that looks.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { longCall, longCallUnits, step, stepsPerLook, stepsSoFar, watched } from '../../../src/base/effort.ts'

function counting() {
  const seen = { looks: 0, longCalls: 0 }
  const watch = { look: () => void seen.looks++, beforeLongCall: () => void seen.longCalls++ }
  return { seen, watch }
}

test('the watch looks about as often as steps are counted for it', () => {
  const { seen, watch } = counting()
  watched(watch, () => {
    for (let at = 0; at < 10 * stepsPerLook; at++) step()
  })
  assert.ok(seen.looks >= 9 && seen.looks <= 10, `${seen.looks}`)
})

test('many steps at once are one look, and all are counted', () => {
  const { seen, watch } = counting()
  const before = stepsSoFar()
  watched(watch, () => step(100 * stepsPerLook))
  assert.equal(seen.looks, 1)
  assert.equal(stepsSoFar() - before, 100 * stepsPerLook)
})

test('a watch inside another takes its place, and gives it back when it throws', () => {
  const outer = counting()
  const enough = new Error('enough')
  const inner = {
    look() {
      throw enough
    },
    beforeLongCall: () => undefined,
  }
  watched(outer.watch, () => {
    assert.throws(() => watched(inner, () => step(2 * stepsPerLook)), enough)
    assert.equal(outer.seen.looks, 0)
    step(2 * stepsPerLook)
  })
  assert.equal(outer.seen.looks, 1)
})

test('a long call is announced, a short one is only counted', () => {
  const { seen, watch } = counting()
  watched(watch, () => {
    longCall(longCallUnits - 1)
    assert.equal(seen.longCalls, 0)
    longCall(longCallUnits)
  })
  assert.equal(seen.longCalls, 1)
})

test('without a watch steps are only counted', () => {
  const before = stepsSoFar()
  step(3 * stepsPerLook)
  longCall(longCallUnits)
  assert.ok(stepsSoFar() - before > 3 * stepsPerLook)
})
