// The rows of numbered transactions. They show whether a state contains a transaction completely or not at all.

import assert from 'node:assert/strict'
import type { KeyValueStore, View, Write } from '../../src/storage/kv/kv-contract.ts'
import { bytes, text } from './bytes.ts'

/** Rows of the transaction with a number: some of its own in several trees, one that it overwrites, one that it deletes. */
export function rowsOf(number: number): Write[] {
  const value = bytes(String(number))
  return [
    { key: bytes(`D${String(number).padStart(8, '0')}`), value },
    { key: bytes(`I${String((number * 7919) % 100_003).padStart(8, '0')}-${number}`), value },
    { key: bytes(`padding ${number % 50}`), value: bytes(`${number} ${'x'.repeat(300)}`) },
    { key: bytes(`gone ${number}`), value },
    { key: bytes(`gone ${number - 1}`), value: undefined },
    { key: bytes('last'), value },
  ]
}

/**
 * The number of the newest transaction in a state, or -1. Asserts that this and all earlier transactions are complete.
 */
function assertWhole(view: View): number {
  const last = Number(text(view.get(bytes('last'))) ?? -1)
  let count = 0
  for (const { key, value } of view.range({ start: bytes('D'), end: bytes('E') })) {
    assert.equal(text(key), `D${String(count).padStart(8, '0')}`)
    assert.equal(text(value), String(count))
    count++
  }
  assert.equal(count, last + 1, 'no transaction is missing')
  const entries = [...view.range({ start: bytes('I'), end: bytes('J') })]
  assert.equal(entries.length, count, 'all rows of a transaction are there')
  const gone = [...view.range({ start: bytes('gone'), end: bytes('gonf') })].map(({ key }) => text(key))
  assert.deepEqual(gone, last < 0 ? [] : [`gone ${last}`])
  const reverse = [...view.range({ start: bytes('I'), end: bytes('J'), reverse: true })]
  assert.deepEqual(reverse.reverse(), entries)
  return last
}

/** {@link newestIn} for the state of a store. */
export function newestWhole(store: KeyValueStore): number {
  return store.read(assertWhole)
}
