// Normalization of texts with long runs of combining marks: the same result as the runtime's, in linear time.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { casefold } from '../../../src/values/casefold.ts'
import { compareStrings } from '../../../src/values/collation.ts'
import { type NormalForm, normalize } from '../../../src/values/normalize.ts'
import { fc } from '../../support/fast-check.ts'

const forms: readonly NormalForm[] = ['NFC', 'NFD', 'NFKC', 'NFKD']

/**
 * Marks of all combining classes, marks that normalization does not treat as such, and characters that decompose into
 * marks.
 */
const marks: string[] = []
for (let point = 0x300; point < 0x1f000; point++) {
  if (point === 0xac00) point = 0xf900
  const character = String.fromCodePoint(point)
  if (/\p{M}/u.test(character)) marks.push(character)
}
const others = '\uff9e \uff9f a é \u1f82 가 \u1100 \u1161 か \u212b \u0f71 \ud800'.split(' ')

test('random runs of marks normalize as in the runtime', () => {
  const character = fc.oneof(
    { weight: 20, arbitrary: fc.constantFrom(...marks) },
    { weight: 1, arbitrary: fc.constantFrom(...others) },
  )
  const texts = fc.array(character, { minLength: 30, maxLength: 150 }).map(parts => parts.join(''))
  fc.assert(
    fc.property(texts, text => {
      for (const form of forms) assert.equal(normalize(text, form), text.normalize(form))
    }),
    { numRuns: 500 },
  )
})

test('every mark is moved correctly after a run of others', () => {
  const run = '\u0301\u0323\u0334\u0345'.repeat(10)
  for (const mark of marks) {
    const text = `x${run}${mark}${run}`
    for (const form of forms) assert.equal(normalize(text, form), text.normalize(form))
  }
})

// Insertion sort takes minutes for these, so a quadratic algorithm shows as a test that does not finish.
const manyMarks = '\u0301\u0323'.repeat(1 << 20)

test('a million consecutive marks are sorted', () => {
  for (const form of forms) {
    const ordered = normalize(`x${manyMarks}`, form)
    assert.equal(ordered, `x${'\u0323'.repeat(1 << 20)}${'\u0301'.repeat(1 << 20)}`)
  }
})

test('a million consecutive marks are folded and compared', () => {
  assert.equal(casefold(`X${manyMarks}`).length, normalize(`x${manyMarks}`, 'NFC').length)
  assert.ok(compareStrings(`x${manyMarks}`, `x${manyMarks}\u0301`) < 0)
})
