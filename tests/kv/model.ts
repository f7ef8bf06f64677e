// Compares random transactions and reads with the simplest store, a sorted array.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Bytes, Entry, KeyValueStore, View, Work } from '../../src/storage/kv/kv-contract.ts'
import { fc } from '../support/fast-check.ts'

type Model = Entry[]

/** Few letters, so that keys are often equal or prefixes of each other, and include both ends of the byte range. */
const letters = (minLength: number, maxLength: number) =>
  fc
    .uint8Array({ minLength, maxLength })
    .map(bytes => bytes.map(byte => [0, 1, 97, 254, 255][byte % 5] as number))
/** Like the most frequent keys of the store, which engines may place in separate trees: a tag, a database, a number, more. */
const storeKey = fc
  .tuple(fc.constantFrom(0x43, 0x44, 0x49, 0x4a), fc.constantFrom(8, 9), letters(1, 2), letters(0, 3))
  .map(([tag, zeros, number, rest]) => Uint8Array.of(tag, ...new Uint8Array(zeros), ...number, 0, ...rest))
const key = fc.oneof(letters(1, 4), storeKey)
const bound = fc.oneof(
  key,
  // Also prefixes of these keys.
  fc.tuple(storeKey, fc.nat(13)).map(([bytes, length]) => bytes.subarray(0, length)),
  fc.constant(new Uint8Array(0)),
  fc.constant(Uint8Array.of(255, 255, 255, 255, 255)),
)
const value = fc.uint8Array({ maxLength: 100 })
const range = fc.record(
  { start: bound, end: bound, reverse: fc.boolean(), limit: fc.nat(5) },
  { requiredKeys: ['start', 'end'] },
)
const work = fc.record({
  writes: fc.array(fc.record({ key, value: fc.option(value, { nil: undefined }) }), { maxLength: 12 }),
  fails: fc.boolean(),
  /** The range that the transaction reads. */
  looksAt: range,
})
type ModelWork = typeof work extends fc.Arbitrary<infer T> ? T : never
const step = fc.record({
  works: fc.array(work, { minLength: 1, maxLength: 4 }),
  looksAt: fc.array(range),
  gets: fc.array(key),
})

/** Declares the property test for stores that `open` opens. */
export function modelTest(open: () => KeyValueStore | Promise<KeyValueStore>): void {
  test('agrees with a sorted array', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 8 }), async steps => {
        const store = await open()
        let model: Model = []
        try {
          for (const { works, looksAt, gets } of steps) {
            const outcomes = works.map(work => store.transact(view => run(view, work)))
            for (const [index, work] of works.entries()) {
              const expected = modelRange(model, work.looksAt)
              if (work.fails) await assert.rejects(outcomes[index] as Promise<Entry[]>, { message: 'fails' })
              else assert.deepEqual(await outcomes[index], expected)
              if (!work.fails) model = modelApply(model, work)
            }
            store.read(view => {
              for (const range of looksAt) assert.deepEqual([...view.range(range)], modelRange(model, range))
              for (const key of gets) assert.deepEqual(view.get(key), modelGet(model, key))
            })
          }
        } finally {
          await store.close()
        }
      }),
      { numRuns: 60 },
    )
  })
}

function run(view: View, work: ModelWork): Work<Entry[]> {
  const result = [...view.range(work.looksAt)]
  if (work.fails) throw new Error('fails')
  return { result, writes: work.writes }
}

function modelApply(model: Model, work: ModelWork): Model {
  let entries = model
  for (const { key, value } of work.writes) {
    entries = entries.filter(entry => Buffer.compare(entry.key, key) !== 0)
    if (value) entries = [...entries, { key, value }]
  }
  return entries.toSorted((a, b) => Buffer.compare(a.key, b.key))
}

function modelRange(model: Model, range: ModelWork['looksAt']): Entry[] {
  const inside = model.filter(
    entry => Buffer.compare(entry.key, range.start) >= 0 && Buffer.compare(entry.key, range.end) < 0,
  )
  return (range.reverse ? inside.toReversed() : inside).slice(0, range.limit)
}

function modelGet(model: Model, key: Bytes): Bytes | undefined {
  return model.find(entry => Buffer.compare(entry.key, key) === 0)?.value
}
