// The dashboard compares two texts line by line: changed lines stand side by side, and a page shows a limited number.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compare } from '../../dashboard/src/wire/diff.ts'

const lines = (count: number, word: string) => Array.from({ length: count }, (_, at) => `${word} ${at}`)

test('equal texts have no difference', () => {
  assert.deepEqual(compare('a\nb', 'a\nb'), { isSame: true, pairs: [undefined], more: 0 })
})

test('a changed line stands beside the one that it replaces, with three lines around it', () => {
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

test('lines that are in one text only have nothing beside them', () => {
  assert.deepEqual(compare('a\nb', 'a\nc\nd\nb').pairs, [
    { left: 'a', right: 'a', isSame: true },
    { left: undefined, right: 'c', isSame: false },
    { left: undefined, right: 'd', isSame: false },
    { left: 'b', right: 'b', isSame: true },
  ])
})

test('texts that share too little are replaced as a whole, and of many differences the first are shown', () => {
  const { more, pairs } = compare(lines(3000, 'old').join('\n'), lines(3000, 'new').join('\n'))
  assert.equal(pairs.length, 1000)
  assert.equal(more, 2000)
  assert.deepEqual(pairs[0], { left: 'old 0', right: 'new 0', isSame: false })
})

test('long lines are cut', () => {
  const [pair] = compare('x'.repeat(5000), 'y').pairs
  assert.equal(pair?.left, `${'x'.repeat(400)}… (5,000 characters)`)
})
