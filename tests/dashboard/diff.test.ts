// The dashboard compares two texts line by line. It shows changed lines side by side, and a limited number of them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compare } from '../../dashboard/src/wire/diff.ts'

const lines = (count: number, word: string) => Array.from({ length: count }, (_, at) => `${word} ${at}`)

test('equal texts have no differences', () => {
  assert.deepEqual(compare('a\nb', 'a\nb'), { isSame: true, pairs: [undefined], more: 0 })
})

test('a changed line is beside the line that it replaces, with three lines of context', () => {
  const left = [...lines(5, 'head'), 'old', ...lines(5, 'tail')]
  const { isSame, pairs } = compare(left.join('\n'), left.with(5, 'new').join('\n'))
  assert.equal(isSame, false)
  assert.deepEqual(
    pairs.map(pair => pair && [pair.left, pair.right]),
    [
      undefined,
      ...['head 2', 'head 3', 'head 4'].map(each => [each, each]),
      ['old', 'new'],
      ...['tail 0', 'tail 1', 'tail 2'].map(each => [each, each]),
      undefined,
    ],
  )
})

test('lines of only one text have no line beside them', () => {
  assert.deepEqual(compare('a\nb', 'a\nc\nd\nb').pairs, [
    { left: 'a', right: 'a', isSame: true },
    { left: undefined, right: 'c', isSame: false },
    { left: undefined, right: 'd', isSame: false },
    { left: 'b', right: 'b', isSame: true },
  ])
})

test('texts with too many changes are shown as replaced, and long lists of differences are truncated', () => {
  const { more, pairs } = compare(lines(3000, 'old').join('\n'), lines(3000, 'new').join('\n'))
  assert.equal(pairs.length, 1000)
  assert.equal(more, 2000)
  assert.deepEqual(pairs[0], { left: 'old 0', right: 'new 0', isSame: false })
})

test('long lines are truncated', () => {
  const [pair] = compare('x'.repeat(5000), 'y').pairs
  assert.equal(pair?.left, `${'x'.repeat(400)}… (5,000 characters)`)
})
