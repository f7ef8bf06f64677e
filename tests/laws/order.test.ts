// `order` sorts a set by its keys: by the first key, then by the next one among equal elements, each in its direction,
// and keeps the order of elements whose keys are equal.

import assert from 'node:assert/strict'
import { fc } from '../support/fast-check.ts'
import { serverOfFile } from '../support/server.ts'
import { createItems, type Item, items } from './generators/items.ts'
import { law } from './law.ts'

const server = serverOfFile()

const fields = ['n', 'g', 'next'] as const

const keys = fc.uniqueArray(fc.record({ field: fc.constantFrom(...fields), isDescending: fc.boolean() }), {
  minLength: 1,
  maxLength: 3,
  selector: ({ field }) => field,
})

function compare(
  left: Item,
  right: Item,
  { field, isDescending }: { field: keyof Item; isDescending: boolean },
) {
  const [one, other] = [left[field] as string | number, right[field] as string | number]
  const order = one < other ? -1 : one > other ? 1 : 0
  return isDescending ? -order : order
}

law('order sorts by its keys and directions, and is stable', () => server, {
  input: fc.record({ given: items, keys, isReversed: fc.boolean() }),
  runs: 40,
  async holds(database, { given, isReversed, keys }) {
    await createItems(database, given)
    const args = keys.map(({ field, isDescending }) => (isDescending ? `desc(.${field})` : `.${field}`))
    const set = isReversed ? 'Item.all().reverse()' : 'Item.all()'
    const found = await database.run10In('simple', `${set}.order(${args.join(', ')}).map(.id).toArray()`)
    const numbered = given.map((item, at) => ({ item, id: String(at + 1) }))
    if (isReversed) numbered.reverse()
    const expected = numbered.toSorted((left, right) => {
      for (const key of keys) {
        const order = compare(left.item, right.item, key)
        if (order !== 0) return order
      }
      return 0
    })
    assert.deepEqual(
      found,
      expected.map(({ id }) => id),
    )
  },
})
