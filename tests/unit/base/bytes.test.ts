// Hashes of byte strings are signed numbers of 32 bits, also the hash of no bytes. Copies share no memory.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { byteText, hashText } from '../../../src/base/byte-text.ts'
import { copyOf, hashBytes } from '../../../src/base/bytes.ts'

test('the hash of every byte string is a signed number of 32 bits', () => {
  for (const bytes of [[], [0], [1, 2, 3], [255]].map(each => Uint8Array.from(each))) {
    const hash = hashBytes(bytes)
    assert.equal(hash, hash | 0)
    assert.equal(hashText(byteText(bytes)), hash)
  }
})

test('a copy of any size does not change with its source, also if the source is a buffer', () => {
  for (const size of [1, 64, 65, 2048, 2049]) {
    for (const source of [new Uint8Array(size + 2), Buffer.alloc(size + 2)]) {
      const copy = copyOf(source, 1, size + 1)
      source.fill(7)
      assert.deepEqual([copy.length, copy.findIndex(byte => byte !== 0)], [size, -1])
    }
  }
})
