// Global ids: identity providers store their text, so it must never change.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeGlobalId, encodeGlobalId } from '../../../src/values/names.ts'
import { fc } from '../../support/fast-check.ts'

test('known ids have their known texts', () => {
  assert.equal(encodeGlobalId(0n), 'yyyyyyyyyyyyy')
  assert.equal(encodeGlobalId(1n), 'yyyyyyyyyyyyn')
  assert.equal(encodeGlobalId(15n), 'yyyyyyyyyyyy6')
  assert.equal(encodeGlobalId(16n), 'yyyyyyyyyyyby')
  assert.equal(encodeGlobalId(2n ** 64n - 1n), '9999999999996')
})

test('every id survives encoding and decoding', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), id => {
      const text = encodeGlobalId(id)
      assert.match(text, /^[ybndrfg8ejkmcpqxot1uwisza345h769]{13}$/)
      assert.equal(decodeGlobalId(text), id)
    }),
  )
})

test('a text that no id is encoded to is not an id', () => {
  for (const text of [
    '',
    'y',
    'yyyyyyyyyyyy',
    'yyyyyyyyyyyyyy',
    'yyyyyyyyyyyyb',
    'Yyyyyyyyyyyyy',
    'yyyyyy0yyyyyy',
  ])
    assert.equal(decodeGlobalId(text), undefined, text)
})
