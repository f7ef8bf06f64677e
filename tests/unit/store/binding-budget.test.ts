// The time that the bindings of a document may take in a build, with a clock that the test controls.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { step, stepsPerCheck } from '../../../src/base/effort.ts'
import { limits } from '../../../src/base/limits.ts'
import { BindingBudget } from '../../../src/storage/store/binding-budget.ts'
import type { Version } from '../../../src/storage/store/contract.ts'
import type { Code } from '../../../src/values/code.ts'
import { Lambda } from '../../../src/values/value.ts'

const binding: Code = new Lambda('4', 'd', null)
const version = {} as unknown as Version

/** A budget for bindings that take the given time. */
function setUp(micros: () => number) {
  let now = 0
  const evaluateBinding = () => {
    now += micros()
    step(stepsPerCheck)
    return true
  }
  return new BindingBudget({ evaluateBinding }, () => now)
}

test('the bindings of a document share a budget, and the next document has its own', () => {
  const half = (limits.documentBindingsMs * 1000) / 2
  const budget = setUp(() => half)
  for (let document = 0; document < 3; document++) {
    budget.perDocument(() => {
      assert.equal(budget.evaluateBinding(binding, version), true)
      assert.equal(budget.evaluateBinding(binding, version), true)
      assert.throws(() => budget.evaluateBinding(binding, version), { code: 'time out' })
    })
  }
})

test('quick bindings never exceed the budget, however many versions there are', () => {
  const budget = setUp(() => 50)
  budget.perDocument(() => {
    for (let versions = 0; versions < 100_000; versions++) budget.evaluateBinding(binding, version)
  })
})
