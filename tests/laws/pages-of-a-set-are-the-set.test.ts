// Law of version 4: the pages of a set, of any size and in both directions, together contain exactly the elements of the
// set. The sets are random unions, intersections, differences, joins, distinct and reversed sets whose members have
// different numbers of values. The elements are also compared with a model that knows only arrays.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openTestEngine, type TestEngine } from '../support/engine.ts'
import { fc } from '../support/fast-check.ts'
import { sharedLaw } from './law.ts'

interface Page {
  readonly data: readonly unknown[]
  readonly before?: unknown
  readonly after?: unknown
}

const object = (fields: Readonly<Record<string, unknown>>) => ({ object: fields })
const collectionRef = (name: string) => ({
  '@ref': { id: name, collection: { '@ref': { id: 'collections' } } },
})
const ref = (id: number) => ({ '@ref': { id: String(id), collection: collectionRef('things') } })

/** A document. `link` is the id of a document. */
interface Thing {
  readonly id: number
  readonly name: string
  readonly n: number
  readonly link: number
}

const things: readonly Thing[] = [
  { id: 1, name: 'a', n: 1, link: 1 },
  { id: 2, name: 'b', n: 1, link: 2 },
  { id: 3, name: 'b', n: 2, link: 2 },
  { id: 4, name: 'c', n: 3, link: 9 },
  { id: 5, name: 'd', n: 1, link: 1 },
  { id: 6, name: 'b', n: 2, link: 5 },
]

/** Numbers of things by their names: long runs of equal values, which a scan skips by seeking, between single things. */
const runs = { a: 1, b: 11, c: 1, d: 11 }
const many: readonly Thing[] = Object.entries(runs)
  .flatMap(([name, count]) => Array<string>(count).fill(name))
  .map((name, at) => ({ id: at + 1, name, n: 1, link: 1 }))

/** An element as the model knows it: the values and the document. */
interface Item {
  readonly values: readonly unknown[]
  readonly id: number
}

/** The fields of index values. */
const fields = {
  name: (thing: Thing): unknown => thing.name,
  n: (thing: Thing): unknown => thing.n,
  link: (thing: Thing): unknown => ref(thing.link),
  ref: (thing: Thing): unknown => ref(thing.id),
} as const

/** The stored sets, by index: the values of the entries. `Documents` has none. */
const ascending = {
  names: ['name'],
  name_ref: ['name', 'ref'],
  name_n_ref: ['name', 'n', 'ref'],
  links: ['link'],
  link_name: ['link', 'name'],
  documents: [],
} as const
const descending = { names_down: ['name'], name_ref_down: ['name', 'ref'] } as const
const long = { many_names: ['name'] } as const
const stored: Readonly<Record<string, readonly (keyof typeof fields)[]>> = {
  ...ascending,
  ...descending,
  ...long,
}
const collectionOf = (index: string) => (index in long ? 'many' : 'things')
const collections = { things, many }

/** A random set: how a query writes it, and its elements in the model, in any order. */
interface RandomSet {
  readonly query: object
  readonly items: readonly Item[]
  readonly isReversed?: boolean
}

const keyOf = ({ values, id }: Item) => JSON.stringify(values.length === 0 ? [ref(id)] : values)
const shown = ({ values, id }: Item): unknown =>
  values.length === 0 ? ref(id) : values.length === 1 ? values[0] : values

function leaf(name: string): RandomSet {
  const paths = stored[name] as readonly (keyof typeof fields)[]
  const items = collections[collectionOf(name)].map(thing => ({
    id: thing.id,
    values: paths.map(path => fields[path](thing)),
  }))
  if (name === 'documents') return { query: { documents: { collection: 'things' } }, items }
  return { query: { match: { index: name } }, items }
}

type Groups = ReadonlyMap<string, readonly Item[]>
const groupsOf = ({ items }: RandomSet): Groups => Map.groupBy(items, keyOf)

function union(sets: readonly RandomSet[]): RandomSet {
  const groups = sets.map(groupsOf)
  const keys = new Set(groups.flatMap(each => [...each.keys()]))
  const longest = (key: string) =>
    groups.map(each => each.get(key) ?? []).reduce((best, each) => (each.length > best.length ? each : best))
  return { query: { union: sets.map(set => set.query) }, items: [...keys].flatMap(longest) }
}

function intersection(sets: readonly RandomSet[]): RandomSet {
  const [first, ...others] = sets.map(groupsOf) as [Groups, ...Groups[]]
  const items = [...first].flatMap(([key, group]) =>
    others
      .map(each => each.get(key) ?? [])
      .reduce((best, each) => (each.length < best.length ? each : best), group),
  )
  return { query: { intersection: sets.map(set => set.query) }, items }
}

function difference(sets: readonly RandomSet[]): RandomSet {
  const [first, ...others] = sets.map(groupsOf) as [Groups, ...Groups[]]
  const items = [...first].flatMap(([key, group]) => (others.some(each => each.has(key)) ? [] : group))
  return { query: { difference: sets.map(set => set.query) }, items }
}

function distinct(set: RandomSet): RandomSet {
  const items = [...groupsOf(set).values()].map(group => group[0] as Item)
  return { query: { distinct: set.query }, items }
}

/** A join whose target sets have different numbers of values: `one` for the name b, and `other` for all other names. */
function join(one: RandomSet, other: RandomSet): RandomSet {
  const expr = { if: { equals: [{ var: 'name' }, 'b'] }, then: one.query, else: other.query }
  const query = { join: { match: { index: 'names' } }, with: { lambda: 'name', expr } }
  return { query, items: distinct(union([one, other])).items }
}

function setsOf(names: readonly string[]): fc.Arbitrary<RandomSet> {
  const { set } = fc.letrec<{ set: RandomSet; sets: RandomSet[] }>(tie => ({
    sets: fc.array(tie('set'), { minLength: 1, maxLength: 3 }),
    set: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom(...names).map(leaf),
      tie('sets').map(union),
      tie('sets').map(intersection),
      tie('sets').map(difference),
      tie('set').map(distinct),
      fc.tuple(tie('set'), tie('set')).map(([one, other]) => join(one, other)),
    ),
  }))
  const reversed = ({ items, query }: RandomSet) => ({ query: { reverse: query }, items, isReversed: true })
  return fc.tuple(set, fc.boolean()).map(([each, isReversed]) => (isReversed ? reversed(each) : each))
}

let engine: TestEngine

before(async () => {
  engine = openTestEngine()
  for (const [collection, documents] of Object.entries(collections)) {
    await engine.query({ create_collection: object({ name: collection }) })
    for (const { id, link, n, name } of documents) {
      const params = object({ data: object({ name, n, link: { ref: { collection: 'things' }, id: link } }) })
      await engine.query({ create: { ref: { collection }, id }, params })
    }
  }
  for (const [name, values] of Object.entries(stored)) {
    if (name === 'documents') continue
    const value = (field: string, place: number) =>
      object({
        field: field === 'ref' ? ['ref'] : ['data', field],
        ...(name in descending && place === 0 && { reverse: true }),
      })
    await engine.query({
      create_index: object({ name, source: { collection: collectionOf(name) }, values: values.map(value) }),
    })
  }
})

after(() => engine.close())

/** Reads all pages from `start` in one direction. Fails if the pages do not end. */
async function pagesOf(
  query: object,
  size: number,
  direction: 'after' | 'before',
  start: object,
  count: number,
) {
  const elements: unknown[] = []
  let cursor = start
  for (let pages = 0; pages <= count + 1; pages++) {
    const page = (await engine.query({ paginate: query, size, ...cursor })) as Page
    if (direction === 'after') elements.push(...page.data)
    else elements.unshift(...page.data)
    if (!(direction in page)) return elements
    cursor = { [direction]: page[direction] }
  }
  throw new Error(`the pages ${direction} do not end: ${JSON.stringify(elements)}`)
}

const counted = (values: readonly unknown[]) => values.map(value => JSON.stringify(value)).sort()

async function checkPages({ isReversed, items, query }: RandomSet, isDescending: boolean): Promise<void> {
  const { data } = (await engine.query({ paginate: query, size: 1000 })) as Page
  assert.deepEqual(counted(data), counted(items.map(shown)), 'the elements')
  assert.equal(await engine.query({ count: query }), items.length)
  // Null is the greatest value and 0 is the least, so one of both is after the last element.
  const end = { before: (isReversed === true) === isDescending ? null : 0 }
  for (const size of [1, 2]) {
    const { length } = data
    assert.deepEqual(await pagesOf(query, size, 'after', {}, length), data, `pages of ${size}, forwards`)
    assert.deepEqual(await pagesOf(query, size, 'before', end, length), data, `pages of ${size}, backwards`)
  }
}

for (const [order, family] of Object.entries({ ascending, descending })) {
  sharedLaw(`pages of ${order} sets with different numbers of values`, {
    input: setsOf(Object.keys(family)),
    runs: 75,
    holds: set => checkPages(set, family === descending),
  })
}

sharedLaw('pages of sets with long runs of equal values', {
  input: setsOf(Object.keys(long)),
  runs: 15,
  holds: set => checkPages(set, false),
})

test('elements are equal if all values are equal', async () => {
  const names = { match: { index: 'names' } }
  const pairs = { match: { index: 'name_ref' } }
  const both = { union: [names, pairs] }
  assert.equal(await engine.query({ count: { distinct: both } }), 10)
  assert.deepEqual(
    ((await engine.query({ paginate: { difference: [both, names] } })) as Page).data,
    things.map(({ id, name }) => [name, ref(id)]).sort(),
  )
})
