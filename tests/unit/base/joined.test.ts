// Two ordered sequences side by side: everything once, in order, equals together, and no step further than was asked for.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { joined } from '../../../src/base/joined.ts'

const sorted = fc
  .uniqueArray(fc.nat(12), { maxLength: 8 })
  .map(numbers => numbers.toSorted((left, right) => left - right))

const compare = (left: number, right: number) => left - right

test('all of both in one order, with what is equal as a pair', () => {
  fc.assert(
    fc.property(sorted, sorted, (left, right) => {
      const all = [...new Set([...left, ...right])].sort(compare)
      const expected = all.map(n =>
        [n, n].map((each, at) => ([left, right][at]?.includes(each) ? n : undefined)),
      )
      assert.deepEqual([...joined(left, right, compare)], expected)
    }),
  )
})

test('a sequence is advanced when its head has been used, and returned at the end', () => {
  const steps: string[] = []
  function* counted(name: string, numbers: readonly number[]) {
    try {
      for (const n of numbers) {
        steps.push(`${name}${n}`)
        yield n
      }
    } finally {
      steps.push(`${name} ends`)
    }
  }
  for (const [left] of joined(counted('a', [1, 2, 3]), counted('b', [2, 4]), compare)) if (left === 2) break
  assert.deepEqual(steps, ['a1', 'b2', 'a2', 'a ends', 'b ends'])
})
