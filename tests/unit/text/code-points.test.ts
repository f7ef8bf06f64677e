// Offsets in code points: a surrogate pair counts as one code point, and so does every other UTF-16 unit.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { codePointLength, unitOffset } from '../../../src/text/code-points.ts'

const lengths: readonly (readonly [text: string, codePoints: number])[] = [
  ['', 0],
  ['a\u{10000}b', 3],
  ['\u{103ff}', 1],
  ['\u{10ffff}\u{10fc00}', 2],
  ['\ud800', 1],
  ['\udfff\ud800', 2],
  ['\ud800\ue000', 2],
  ['\ud7ff\udc00', 2],
]

for (const [text, codePoints] of lengths) {
  test(`${JSON.stringify(text)} has ${codePoints} code points`, () => {
    assert.equal(codePointLength(text), codePoints)
    assert.equal(unitOffset(text, codePoints), text.length)
  })
}

test('an offset in code points does not split surrogate pairs', () => {
  const offsets = [0, 1, 2, 3].map(count => unitOffset('\u{103ff}\u{10ffff}a', count))
  assert.deepEqual(offsets, [0, 2, 4, 5])
})
