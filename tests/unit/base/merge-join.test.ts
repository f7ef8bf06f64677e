// The merge join of two ordered sequences: every element once, in order, equal elements as pairs, and no reading ahead.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mergeJoin } from '../../../src/base/merge-join.ts'
import { fc } from '../../support/fast-check.ts'

const sorted = fc
  .uniqueArray(fc.nat(12), { maxLength: 8 })
  .map(numbers => numbers.toSorted((left, right) => left - right))

const compare = (left: number, right: number) => left - right

test('yields all elements of both sequences in order, equal ones as pairs', () => {
  fc.assert(
    fc.property(sorted, sorted, (left, right) => {
      const all = [...new Set([...left, ...right])].sort(compare)
      const expected = all.map(n =>
        [n, n].map((each, at) => ([left, right][at]?.includes(each) ? n : undefined)),
      )
      assert.deepEqual([...mergeJoin(left, right, compare)], expected)
    }),
  )
})

test('advances a sequence only after its head was used, and closes both at the end', () => {
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
  for (const [left] of mergeJoin(counted('a', [1, 2, 3]), counted('b', [2, 4]), compare))
    if (left === 2) break
  assert.deepEqual(steps, ['a1', 'b2', 'a2', 'a ends', 'b ends'])
})
