// Event positions as text: a position survives encoding, and invalid texts are rejected.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { micros } from '../../../../src/base/micros.ts'
import { placeIn, placeText, wholeTransaction } from '../../../../src/fql10/events/token.ts'

test('a position is decoded from its text', () => {
  for (const time of [0, 1, 1_700_000_000_000_000, Number.MAX_SAFE_INTEGER, -5]) {
    for (const ordinal of [0, 1, 63, 70_000, wholeTransaction]) {
      const place = { time: micros(time), ordinal }
      const text = placeText(place)
      assert.match(text, /^[\w-]{20}$/)
      assert.deepEqual(placeIn(text), place)
    }
  }
})

test('invalid texts are not decoded', () => {
  const text = placeText({ time: micros(1_700_000_000_000_000), ordinal: 3 })
  assert.equal(placeIn(''), undefined)
  assert.equal(placeIn('INVALID!'), undefined)
  assert.equal(placeIn(text.slice(0, -1)), undefined)
  assert.equal(placeIn(`${text}AAAA`), undefined)
  for (let at = 0; at < text.length; at++) {
    const other = text[at] === 'A' ? 'B' : 'A'
    assert.equal(placeIn(text.slice(0, at) + other + text.slice(at + 1)), undefined, `changed at ${at}`)
  }
})
