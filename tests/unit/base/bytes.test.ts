// Hashes of byte strings are signed numbers of 32 bits, also the hash of no bytes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { byteText, hashText } from '../../../src/base/byte-text.ts'
import { hashBytes } from '../../../src/base/bytes.ts'

test('the hash of every byte string is a signed number of 32 bits', () => {
  for (const bytes of [[], [0], [1, 2, 3], [255]].map(each => Uint8Array.from(each))) {
    const hash = hashBytes(bytes)
    assert.equal(hash, hash | 0)
    assert.equal(hashText(byteText(bytes)), hash)
  }
})
