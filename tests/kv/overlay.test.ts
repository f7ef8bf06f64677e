// The overlay of pending writes against a plain map, with reproducible randomness.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMemory } from '../../src/storage/kv/memory.ts'
import { type Journal, Overlay } from '../../src/storage/kv/overlay.ts'
import { RandomSource } from '../support/random-source.ts'
import { seedsToRun } from '../support/seeded.ts'

const keyOf = (number: number) => Uint8Array.of(number >> 8, number & 255)
const textOf = (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString('hex')

for (const seed of seedsToRun([1, 2, 3])) {
  test(`an overlay reads as if its writes had been applied, and reverts them (seed ${seed})`, async () => {
    const random = new RandomSource(seed)
    const keys = 600
    const kv = openMemory()
    const applied = new Map<number, string>()
    await kv.transact(() => ({
      result: undefined,
      writes: Array.from({ length: 200 }, (_, index) => {
        applied.set(index * 3, '00')
        return { key: keyOf(index * 3), value: Uint8Array.of(0) }
      }),
    }))
    kv.read(view => {
      const overlay = new Overlay(view)
      const change = (journal?: Journal) => {
        const key = random.below(keys)
        const value = random.below(3) === 0 ? undefined : Uint8Array.of(random.below(256))
        overlay.set(keyOf(key), value, journal)
        return { key, value: textOf(value) }
      }
      for (let step = 0; step < 1500; step++) {
        const { key, value } = change()
        if (value === undefined) applied.delete(key)
        else applied.set(key, value)
        if (step % 50 !== 0) continue
        const journal: Journal = []
        for (let count = 0; count < 20; count++) change(journal)
        overlay.revert(journal)
        compare(overlay, applied, random, keys)
      }
    })
    await kv.close()
  })
}

function compare(overlay: Overlay, applied: Map<number, string>, random: RandomSource, keys: number): void {
  for (let key = 0; key < keys; key++) assert.equal(textOf(overlay.get(keyOf(key))), applied.get(key))
  const [start, end] = [random.below(keys), random.below(keys)]
  if (start > end) return
  const limit = 1 + random.below(40)
  for (const reverse of [false, true]) {
    const found = Array.from(
      overlay.range({ start: keyOf(start), end: keyOf(end), reverse, limit }),
      ({ key, value }) => [textOf(key), textOf(value)],
    )
    const expected = [...applied]
      .filter(([key]) => key >= start && key < end)
      .sort(([left], [right]) => (reverse ? right - left : left - right))
      .slice(0, limit)
      .map(([key, value]) => [textOf(keyOf(key)), value])
    assert.deepEqual(found, expected)
  }
}
