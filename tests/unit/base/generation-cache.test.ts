// The bounded cache: it never exceeds its limit, and keeps entries in use.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GenerationCache } from '../../../src/base/generation-cache.ts'

test('holds at most the maximum of entries, and keeps those in use', () => {
  const cache = new GenerationCache<number, string>(10)
  cache.set(-1, 'used')
  for (let key = 0; key < 1000; key++) {
    cache.set(key, `value ${key}`)
    assert.ok(cache.size <= 10)
    assert.equal(cache.get(-1), 'used')
    assert.equal(cache.get(key), `value ${key}`)
  }
  assert.equal(cache.get(500), undefined)
})

test('the latest value counts, in whichever generation the earlier one is', () => {
  const cache = new GenerationCache<string, number>(4)
  cache.set('a', 1)
  cache.set('b', 1)
  cache.set('a', 2)
  assert.equal(cache.get('a'), 2)
  cache.delete('a')
  assert.equal(cache.get('a'), undefined)
  assert.equal(cache.get('b'), 1)
  assert.equal(cache.size, 1)
})
