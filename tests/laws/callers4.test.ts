// A role of version 4 reads the elements of a set whose documents it may read. However a set is combined, the role reads
// the elements that an admin reads, without elements of hidden documents.

import assert from 'node:assert/strict'
import { fc } from '../support/fast-check.ts'
import { serverOfFile } from '../support/server.ts'
import { createItems, items } from './generators/items.ts'
import { createIndexes4, type Expression, readIndexes, sets4 } from './generators/sets4.ts'
import { type LawDatabase, law } from './law.ts'

const server = serverOfFile()

const fieldOf = (name: string) => ({ select: ['data', name], from: { get: { var: 'ref' } }, default: null })
const predicates = fc.constantFrom<unknown>(
  { gte: [fieldOf('n'), 3] },
  { equals: [fieldOf('g'), 'x'] },
  { not: { equals: [fieldOf('extra'), null] } },
  true,
  false,
)

interface Page {
  readonly data: readonly unknown[]
  readonly after?: unknown
  readonly before?: unknown
}

async function createReader(database: LawDatabase, predicate: unknown): Promise<void> {
  const read = { query: { lambda: 'ref', expr: predicate } }
  const documents = { object: { resource: { collection: 'Item' }, actions: { object: { read } } } }
  await database.run4({
    create_role: { object: { name: 'reader', privileges: [documents, ...readIndexes] } },
  })
}

/** The ids of the documents that the predicate lets through, as an admin computes them. */
async function readableIds(database: LawDatabase, predicate: unknown): Promise<ReadonlySet<string>> {
  const all = { paginate: { documents: { collection: 'Item' } }, size: 100 }
  const { data } = (await database.run4({
    map: { lambda: 'ref', expr: [{ select: ['id'], from: { var: 'ref' } }, predicate] },
    collection: all,
  })) as { data: readonly (readonly [string, boolean])[] }
  return new Set(data.filter(([, isReadable]) => isReadable).map(([id]) => id))
}

/** The id of an element's document. */
function idOf(element: unknown): string {
  const reference = Array.isArray(element) ? element.at(-1) : element
  return (reference as { '@ref': { id: string } })['@ref'].id
}

/** No random set has more elements. */
const elementsMax = 1000

/** All pages of a set, from its start. */
async function pagesOf(database: LawDatabase, set: Expression, caller: string): Promise<readonly unknown[]> {
  const elements: unknown[] = []
  let cursor: object = {}
  for (;;) {
    const { after, data } = (await database.run4({ paginate: set, size: 2, ...cursor }, caller)) as Page
    elements.push(...data)
    assert.ok(elements.length <= elementsMax, 'the pages do not end')
    if (after === undefined) return elements
    cursor = { after }
  }
}

const reader = '@role/reader'

law('a role of version 4 reads the elements whose documents it may read', () => server, {
  input: fc.record({ given: items, predicate: predicates, set: sets4 }),
  runs: 60,
  async holds(database, { given, predicate, set }) {
    await createItems(database, given)
    await createIndexes4(database)
    await createReader(database, predicate)
    const readable = await readableIds(database, predicate)
    const { data } = (await database.run4({ paginate: set, size: 1000 })) as Page
    const expected = data.filter(element => readable.has(idOf(element)))
    const all = (await database.run4({ paginate: set, size: 1000 }, reader)) as Page
    assert.deepEqual(all.data, expected, 'the whole set')
    assert.deepEqual(await pagesOf(database, set, reader), expected, 'pages')
    assert.equal(await database.run4({ count: set }, reader), expected.length, 'count')
    assert.equal(await database.run4({ exists: set }, reader), expected.length > 0, 'exists')
    const [first] = expected
    if (first === undefined) return
    const got = await database.run4({ select: ['ref', 'id'], from: { get: set } }, reader)
    assert.equal(got, idOf(first), 'get')
  },
})

const few = fc.uniqueArray(fc.integer({ min: 1, max: 8 }), { maxLength: 6 })

law('members of a combined set take part with the elements that the role may not read', () => server, {
  input: fc.record({
    numbers: few,
    links: fc.array(few, { minLength: 1, maxLength: 3 }),
    least: fc.integer({ min: 1, max: 8 }),
    kind: fc.constantFrom('difference', 'intersection'),
  }),
  runs: 40,
  async holds(database, { kind, least, links, numbers }) {
    // Equal values of different documents: those of `numbers` are readable from `least` on, those of `links` never.
    const names = ['numbers', ...links.map((_, at) => `links${at}`)]
    for (const [at, values] of [numbers, ...links].entries()) {
      const name = names[at] as string
      await database.run10(`Collection.create({ name: "${name}" })`)
      await database.run10(`values.forEach(n => ${name}.create({ n: n }))`, { values })
      const index = {
        name: `of_${name}`,
        source: { collection: name },
        values: [{ object: { field: ['data', 'n'] } }],
      }
      await database.run4({ create_index: { object: index } })
    }
    const n = { select: ['data', 'n'], from: { get: { var: 'ref' } } }
    const read = { query: { lambda: 'ref', expr: { gte: [n, least] } } }
    const privileges = [
      { object: { resource: { collection: 'numbers' }, actions: { object: { read } } } },
      ...names.map(name => ({
        object: { resource: { index: `of_${name}` }, actions: { object: { read: true } } },
      })),
    ]
    await database.run4({ create_role: { object: { name: 'reader', privileges } } })
    const set = { [kind]: names.map(name => ({ match: { index: `of_${name}` } })) }
    const expected = numbers
      .filter(value => value >= least)
      .filter(value =>
        kind === 'difference'
          ? !links.some(each => each.includes(value))
          : links.every(each => each.includes(value)),
      )
      .sort()
    assert.deepEqual(((await database.run4({ paginate: set, size: 100 }, reader)) as Page).data, expected)
    assert.deepEqual(await pagesOf(database, set, reader), expected)
    assert.equal(await database.run4({ count: set }, reader), expected.length)
  },
})
