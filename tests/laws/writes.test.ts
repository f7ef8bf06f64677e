// A query is one transaction: it sees its own writes, a query that fails writes nothing, and concurrent queries have the
// results of consecutive ones. Different ways to write the same thing give the same documents.

import assert from 'node:assert/strict'
import { fc } from '../support/fast-check.ts'
import { serverOfFile } from '../support/server.ts'
import {
  type Change,
  changes,
  createItems,
  expressionOf,
  items,
  statementOf,
  stateText,
} from './generators/items.ts'
import { createIndexes4 } from './generators/sets4.ts'
import { law } from './law.ts'

const server = serverOfFile()

/** Removes what depends on the time of the commit. */
const withoutTimes = (state: unknown): unknown =>
  JSON.parse(JSON.stringify(state, (name, value) => (name === 'ts' ? undefined : value)))

/** The elements of all sets, as version 4 reads them. */
const state4 = {
  map: { lambda: 'ref', expr: { get: { var: 'ref' } } },
  collection: { paginate: { documents: { collection: 'Item' } } },
}
const indexed4 = {
  map: {
    lambda: 'set',
    expr: { select: ['data'], from: { paginate: { var: 'set' } } },
  },
  collection: [
    { match: { index: 'n_ref' } },
    ...['x', 'y', 'z'].map(group => ({ match: { index: 'n_ref_by_g' }, terms: group })),
    ...['a', 'b', 'c'].map(tag => ({ match: { index: 'by_tag' }, terms: tag })),
  ],
}

/** Runs the writes and the query in one query of version 4; returns the result of the query. */
const after4 = (writes: readonly Change[], query: unknown) => ({ do: [...writes.map(expressionOf), query] })

const after10 = (writes: readonly Change[], text: string) => [...writes.map(statementOf), text].join('\n')

law('a query sees its own writes as the next query does', () => server, {
  input: fc.record({ given: items, writes: changes, is4: fc.boolean() }),
  runs: 50,
  async holds(database, { given, is4, writes }) {
    await createItems(database, given)
    // Puts the documents into the cache of the store.
    await database.run10(stateText)
    if (is4) {
      await createIndexes4(database)
      const query = [state4, indexed4]
      const own = await database.run4(after4(writes, query))
      assert.deepEqual(withoutTimes(own), withoutTimes(await database.run4(query)))
      return
    }
    const own = await database.run10(after10(writes, stateText))
    assert.deepEqual(withoutTimes(own), withoutTimes(await database.run10(stateText)))
  },
})

/** Statements that fail: the query, the evaluation, the rules of a document, and an object that exists. */
const failures10 = [
  'abort("undo")',
  '1 / 0',
  'Item.byId("99")!.n',
  'Item.create({ n: "not a number", g: "x" })',
  'Item.create({ id: "50", n: 1, g: "x" })\nItem.create({ id: "50", n: 1, g: "x" })',
  'Collection.create({ name: "Item" })',
]
const failures4 = [
  { abort: 'undo' },
  { divide: [1, 0] },
  { get: { ref: { collection: 'Item' }, id: '99' } },
  { create: { collection: 'Item' }, params: { object: { data: { object: { n: 'not a number' } } } } },
  { create_collection: { object: { name: 'Item' } } },
]

/** The documents, and the names of the objects of the schema. */
const wholeText = `{ items: ${stateText}, names: [Collection, Function].map(each => each.all().map(.name).toArray()) }`

law('a query that fails writes nothing', () => server, {
  input: fc.record({
    given: items,
    writes: changes,
    failure: fc.oneof(
      fc.constantFrom(...failures10).map(text => ({ text })),
      fc.constantFrom(...failures4).map(expression => ({ expression })),
    ),
  }),
  runs: 40,
  async holds(database, { failure, given, writes }) {
    await createItems(database, given)
    const before = await database.run10(wholeText)
    const { status } =
      'text' in failure
        ? await database.ask10(
            after10(writes, `Collection.create({ name: "Other", indexes: {} })\n${failure.text}`),
          )
        : await database.ask4({
            do: [
              { create_function: { object: { name: 'other', body: { query: { lambda: 'x', expr: 1 } } } } },
              after4(writes, failure.expression),
            ],
          })
    assert.ok(status === 400 || status === 404, `${status}`)
    assert.deepEqual(await database.run10(wholeText), before)
  },
})

law('writes in one query give the same state as the same writes in several queries', () => server, {
  // Without creates: their ids are random.
  input: fc.record({
    given: items,
    writes: changes.map(all => all.filter(({ kind }) => kind !== 'create')),
    is4: fc.boolean(),
  }),
  runs: 35,
  async holds(database, { given, is4, writes }) {
    await createItems(database, given)
    const start = await database.ask10(stateText)
    if (is4) await database.run4(after4(writes, null))
    else await database.run10(after10(writes, 'null'))
    const together = await database.run10(stateText)
    // Restores the documents as of the start, then writes again.
    await database.run10(
      `let then = at (Time.epoch(${start.time}, "microseconds")) {
         Item.all().map(d => { id: d.id, data: d.data { n, g, tags, next, extra } }).toArray()
       }
       Item.all().forEach(d => d.delete())
       then.forEach(d => Item.create(Object.assign({ id: d.id }, d.data)))`,
    )
    for (const write of writes) {
      if (is4) await database.run4(expressionOf(write))
      else await database.run10(statementOf(write))
    }
    assert.deepEqual(withoutTimes(await database.run10(stateText)), withoutTimes(together))
  },
})

law('version 4 reads the documents that version 10 has written, and the reverse', () => server, {
  input: fc.record({ given: items, writes: changes }),
  runs: 25,
  async holds(database, { given, writes }) {
    await createItems(database, given)
    for (const write of writes) await database.run10(statementOf(write))
    const all = { paginate: { documents: { collection: 'Item' } }, size: 100 }
    const read = { lambda: 'ref', expr: { select: ['data'], from: { get: { var: 'ref' } } } }
    const { data } = (await database.run4({ map: read, collection: all })) as { data: readonly object[] }
    const { documents } = (await database.run10(stateText)) as { documents: readonly object[] }
    assert.equal(data.length, documents.length)
    // Writing every document again with the values that version 4 has read changes nothing but the times.
    const replace = {
      lambda: 'ref',
      expr: {
        replace: { var: 'ref' },
        params: { object: { data: { select: ['data'], from: { get: { var: 'ref' } } } } },
      },
    }
    await database.run4({ foreach: replace, collection: all })
    const after = (await database.run10(stateText)) as { documents: readonly object[] }
    assert.deepEqual(withoutTimes(after), withoutTimes({ ...after, documents }))
  },
})

law('of concurrent writers of a unique value one succeeds, and no write is lost or repeated', () => server, {
  input: fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 2, maxLength: 10 }),
  runs: 10,
  async holds(database, wanted) {
    await database.run10('Collection.create({ name: "Counter" })')
    await database.run10(
      'Collection.create({ name: "User", constraints: [{ unique: [{ field: ".name" }] }] })',
    )
    await database.run10('Counter.create({ id: 1, n: 0 })')
    const text = 'User.create({ name: name })\nlet c = Counter.byId("1")!\nc.update({ n: c.n + 1 }).n'
    const answers = await Promise.all(wanted.map(name => database.ask10(text, { name })))
    const numbers = answers.flatMap(({ status, value }) => {
      if (status < 300) return [Number((value as { '@int': string })['@int'])]
      assert.equal((value as { error: { code: string } }).error.code, 'constraint_failure')
      return []
    })
    const names = [...new Set(wanted)].sort()
    assert.deepEqual(
      numbers.sort((a, b) => a - b),
      names.map((_, at) => at + 1),
    )
    const found = (await database.run10('User.all().map(.name).toArray()')) as readonly string[]
    assert.deepEqual(found.toSorted(), names)
  },
})
