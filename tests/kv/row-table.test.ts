// The rows of a segment in memory, compared with a sorted list of entries.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { hashByte, hashBytes } from '../../src/base/bytes.ts'
import { encodeWrite } from '../../src/storage/kv/batch.ts'
import type { Bytes, Write } from '../../src/storage/kv/kv-contract.ts'
import { hashKey } from '../../src/storage/log/key-hash.ts'
import { RowTable } from '../../src/storage/log/row-table.ts'
import { RandomSource } from '../support/seeded.ts'
import { bytes, put, text } from './bytes.ts'

const hashOf = (key: Bytes) => hashKey(key, 0, key.length)

/** A table, and its expected rows for readers. */
class Tables {
  readonly table: RowTable
  readonly #bytes = new Uint8Array(4_000_000)
  #end = 0
  readonly #added = new Map<string, string | undefined>()
  #published = new Map<string, string | undefined>()
  #publishedEnd = 0

  constructor(rows?: number) {
    this.table = new RowTable(this.#bytes, rows)
  }

  add(write: Write): void {
    const end = encodeWrite(write, this.#bytes, this.#end)
    assert.equal(this.table.add(this.#end), end)
    this.#end = end
    this.#added.set(text(write.key) as string, text(write.value))
  }

  publish(): void {
    this.table.publish()
    this.#published = new Map(this.#added)
    this.#publishedEnd = this.#end
  }

  revert(): void {
    this.table.revert()
    this.#added.clear()
    for (const [key, value] of this.#published) this.#added.set(key, value)
    this.#end = this.#publishedEnd
  }

  /** Readers see the published rows. */
  check(start: string, end: string): void {
    const limit = this.table.published
    const found = [...(this.table.within({ start: bytes(start), end: bytes(end) }, limit) ?? [])]
    const shown = found.map(({ key, value }) => [text(key), text(value)])
    const expected = [...this.#published].filter(([key]) => key >= start && key < end).sort()
    assert.deepEqual(
      shown,
      expected.sort(([left], [right]) => (left < right ? -1 : 1)),
    )
    const backwards = [
      ...(this.table.within({ start: bytes(start), end: bytes(end), reverse: true }, limit) ?? []),
    ]
    assert.deepEqual(
      backwards.map(({ key }) => text(key)),
      expected.map(([key]) => key).reverse(),
    )
    for (const [key, value] of this.#published) {
      const row = this.table.find(bytes(key), hashOf(bytes(key)), limit)
      assert.equal(text(this.table.value(row)), value)
    }
  }
}

describe('rows of a segment', () => {
  for (const seed of [1, 2, 3, 4])
    test(`are the published ones, in the order of keys (seed ${seed})`, () => {
      const source = new RandomSource(seed)
      const tables = new Tables()
      const key = () => `${'abc'[source.below(3)]}${source.below(1500)}`
      for (let batch = 0; batch < 60; batch++) {
        const rows = source.below(source.below(4) === 0 ? 600 : 30)
        for (let row = 0; row < rows; row++)
          tables.add(
            source.below(5) === 0 ? { key: bytes(key()), value: undefined } : put(key(), `${batch} ${row}`),
          )
        if (source.below(3) === 0) tables.check('b', 'b9')
        if (source.below(4) === 0) tables.revert()
        else tables.publish()
        if (source.below(2) === 0) tables.check(key(), key())
      }
      tables.check('a', 'z')
    })

  test('are unchanged when a table grows by rows that are reverted', () => {
    const tables = new Tables()
    for (let row = 0; row < 1000; row++) tables.add(put(`a${row}`, 'old'))
    tables.publish()
    for (let row = 0; row < 5000; row++) tables.add(put(`a${row}`, 'new'))
    tables.revert()
    tables.check('a', 'b')
    tables.add(put('a1', 'newer'))
    tables.publish()
    tables.check('a', 'b')
  })

  test('have space for the expected number, and for more', () => {
    const tables = new Tables(3000)
    for (let row = 0; row < 7000; row++) tables.add(put(`a${row}`, `${row}`))
    tables.publish()
    tables.table.order()
    tables.check('a5', 'a7')
  })
})

/**
 * Returns `2 ** blocks` keys that begin with `prefix` and have the same FNV-1a hash: all combinations of two words with
 * the same hash in each block.
 */
function collidingKeys(prefix: Bytes, blocks: number): Bytes[] {
  const source = new RandomSource(5)
  let keys = [prefix]
  for (let block = 0; block < blocks; block++) {
    const start = hashBytes(keys[0] as Bytes)
    const words = new Map<number, number>()
    for (;;) {
      const word = source.below(2 ** 32)
      const hash = [0, 8, 16, 24].reduce((hash, shift) => hashByte(hash, (word >>> shift) & 0xff), start)
      const other = words.get(hash)
      words.set(hash, word)
      if (other === undefined || other === word) continue
      const ends = [word, other].map(each => new Uint8Array(Uint32Array.of(each).buffer))
      keys = keys.flatMap(key => ends.map(end => Buffer.concat([key, end])))
      break
    }
  }
  return keys
}

describe('the hash of keys', () => {
  test('is spread over the slots for keys that collide in a hash without a secret', () => {
    const keys = collidingKeys(bytes('I'), 10)
    assert.equal(new Set(keys.map(key => hashBytes(key))).size, 1)
    assert.ok(new Set(keys.map(hashOf)).size > 1020, 'almost all hashes of 1024 keys differ')
    // 1024 balls in 1024 bins fill 647 bins on average, with a standard deviation of 10.
    assert.ok(new Set(keys.map(key => hashOf(key) & 1023)).size > 550)
  })

  test('depends on every bit of a key of any length, in its low bits, too', () => {
    for (let length = 1; length < 14; length++)
      for (let bit = 0; bit < 8 * length; bit++) {
        let changed = 0
        for (let number = 0; number < 64; number++) {
          const key = new Uint8Array(length).fill(number)
          const other = key.slice()
          other[bit >> 3] = (other[bit >> 3] as number) ^ (1 << (bit & 7))
          if (((hashOf(key) ^ hashOf(other)) & 15) !== 0) changed++
        }
        // 60 of 64 on average.
        assert.ok(
          changed > 40,
          `bit ${bit} of ${length} bytes changes the low bits of ${changed} of 64 hashes`,
        )
      }
    assert.notEqual(hashOf(bytes([0])), hashOf(bytes([0, 0])))
  })

  test('is another one in each process', async () => {
    const module = new URL('../../src/storage/log/key-hash.ts', import.meta.url)
    const { hashKey: other } = (await import(`${module}?other`)) as { hashKey: typeof hashKey }
    const keys = Array.from({ length: 20 }, (_, number) => bytes([number]))
    assert.ok(keys.some(key => other(key, 0, 1) !== hashOf(key)))
  })
})
