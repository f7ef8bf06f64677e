// A query is one transaction: it sees its own writes, a query that fails writes nothing, and concurrent queries have the
// results of consecutive ones. Different ways to write the same thing give the same documents.

import assert from 'node:assert/strict'
import { fc } from '../support/fast-check.ts'
import { serverOfFile } from '../support/server.ts'
import { changes, createItems, items, statementOf, stateText } from './generators/items.ts'
import { law } from './law.ts'

const server = serverOfFile()

const input = fc.record({ given: items, writes: changes })

/** Removes what depends on the time of the commit. */
const withoutTimes = (state: unknown): unknown =>
  JSON.parse(JSON.stringify(state, (name, value) => (name === 'ts' ? undefined : value)))

law('a query sees its own writes as the next query does', () => server, {
  input,
  runs: 40,
  async holds(database, { given, writes }) {
    await createItems(database, given)
    const own = await database.run10([...writes.map(statementOf), stateText].join('\n'))
    assert.deepEqual(withoutTimes(own), withoutTimes(await database.run10(stateText)))
  },
})

law('a query that fails writes nothing', () => server, {
  input,
  runs: 25,
  async holds(database, { given, writes }) {
    await createItems(database, given)
    const before = await database.run10(stateText)
    const { status } = await database.ask10([...writes.map(statementOf), 'abort("undo")'].join('\n'))
    assert.equal(status, 400)
    assert.deepEqual(await database.run10(stateText), before)
  },
})

law('writes in one query give the same state as the same writes in several queries', () => server, {
  // Without creates: their ids are random.
  input: fc.record({ given: items, writes: changes.map(all => all.filter(({ kind }) => kind !== 'create')) }),
  runs: 25,
  async holds(database, { given, writes }) {
    await createItems(database, given)
    const start = await database.ask10(stateText)
    const together = await database.run10([...writes.map(statementOf), stateText].join('\n'))
    // Restores the documents as of the start, then writes again.
    await database.run10(
      `let then = at (Time.epoch(${start.time}, "microseconds")) {
         Item.all().map(d => { id: d.id, data: d.data { n, g, tags, next, extra } }).toArray()
       }
       Item.all().forEach(d => d.delete())
       then.forEach(d => Item.create(Object.assign({ id: d.id }, d.data)))`,
    )
    for (const write of writes) await database.run10(statementOf(write))
    assert.deepEqual(withoutTimes(await database.run10(stateText)), withoutTimes(together))
  },
})

law('version 4 reads the documents that version 10 has written, and the reverse', () => server, {
  input,
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

type Data = number | null | readonly Data[] | { readonly [name: string]: Data }

const names = fc.constantFrom('a', 'b', 'c')
const { object: objects } = fc.letrec<{ data: Data; object: { readonly [name: string]: Data } }>(tie => ({
  data: fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    fc.integer({ min: 0, max: 3 }),
    fc.constant(null),
    fc.array(tie('data'), { maxLength: 2 }),
    tie('object'),
  ),
  object: fc.dictionary(names, tie('data'), { maxKeys: 3 }),
}))

const isObject = (data: Data | undefined): data is { readonly [name: string]: Data } =>
  typeof data === 'object' && data !== null && !Array.isArray(data)

/** The stored form of a value: objects have no fields that are null. Version 4 also removes nulls from arrays. */
function stored(data: Data, is4: boolean): Data {
  if (Array.isArray(data)) {
    const elements = data.filter(each => !is4 || each !== null)
    return elements.map((each: Data) => stored(each, is4))
  }
  if (!isObject(data)) return data
  const fields = Object.entries(data).filter(([, value]) => value !== null)
  return Object.fromEntries(fields.map(([name, value]) => [name, stored(value, is4)]))
}

/** The stored form after an update: objects are merged, everything else is replaced, and null removes a field. */
function merged(old: Data | undefined, update: Data, is4: boolean): Data {
  if (!isObject(old) || !isObject(update)) return stored(update, is4)
  const result = { ...old }
  for (const [name, value] of Object.entries(update)) {
    if (value === null) delete result[name]
    else result[name] = merged(old[name], value, is4)
  }
  return result
}

/** A value as an expression of version 4. */
function expression4(data: Data): unknown {
  if (Array.isArray(data)) return data.map(expression4)
  if (!isObject(data)) return data
  return {
    object: Object.fromEntries(Object.entries(data).map(([name, value]) => [name, expression4(value)])),
  }
}

law('updates merge objects and replaces replace everything, in both languages', () => server, {
  input: fc.record({
    first: objects,
    writes: fc.array(
      fc.record({ kind: fc.constantFrom('update', 'replace'), is4: fc.boolean(), data: objects }),
      { maxLength: 4 },
    ),
  }),
  runs: 30,
  async holds(database, { first, writes }) {
    await database.run10('Collection.create({ name: "C" })')
    const ref = { ref: { collection: 'C' }, id: '1' }
    let expected = stored(first, false)
    await database.run10('C.create(Object.assign({ id: 1 }, first))', { first })
    for (const { data, is4, kind } of writes) {
      if (is4) await database.run4({ [kind]: ref, params: { object: { data: expression4(data) } } })
      else await database.run10(`C.byId("1")!.${kind}Data(data)`, { data })
      expected = kind === 'update' ? merged(expected, data, is4) : stored(data, is4)
      // Version 4 stores no empty data.
      const data4 = await database.run4({ select: ['data'], from: { get: ref }, default: { object: {} } })
      assert.deepEqual(data4, expected)
      assert.deepEqual(await database.run10In('simple', 'C.byId("1")!.data ?? {}'), expected)
    }
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
