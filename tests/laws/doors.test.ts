// The same query gives the same answer through every door. A function of either language, a check or a computed field
// can contain the query, and arguments can replace its literals. A client can use a driver, `explain`, any response
// format, or another caller with the same rights. Doors of other processes are in processes.test.ts.

import assert from 'node:assert/strict'
import { Client as Driver10, fql as fql10 } from 'fauna'
import faunadb from 'faunadb'
import { Client, fql } from '../../client/src/index.ts'
import { fc } from '../support/fast-check.ts'
import { serverOfFile } from '../support/server.ts'
import { createItems, items } from './generators/items.ts'
import { documentSets, projections } from './generators/sets10.ts'
import { type LawDatabase, law } from './law.ts'

const server = serverOfFile()

/** A value in the format `tagged` as the value in the format `simple`. */
function simpleOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(simpleOf)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value)
  const [[tag, inner] = ['', undefined]] = entries
  if (tag === '@int' || tag === '@long' || tag === '@double') return Number(inner)
  return Object.fromEntries(entries.map(([name, member]) => [name, simpleOf(member)]))
}

/** The value with integers as texts, because version 4 shows an ID of version 10 as an integer. */
function withTextIds(value: unknown): unknown {
  if (typeof value === 'number') return String(value)
  if (Array.isArray(value)) return value.map(withTextIds)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withTextIds(member)]))
}

type Door = (database: LawDatabase, text: string) => Promise<unknown>

const createFunction = (database: LawDatabase, text: string) =>
  database.run10('Function.create({ name: "Door", body: body })', { body: `() => { ${text} }` })

/** A text as a query without values. */
const asTemplate = (text: string) => Object.assign([text], { raw: [text] })

/** Doors behind which a value passes through version 4. */
const doors4: Readonly<Record<string, Door>> = {
  'a function that version 4 calls': async (database, text) => {
    await createFunction(database, text)
    return database.run4({ call: { function: 'Door' }, arguments: [] })
  },
  'a function of version 4 that calls a function': async (database, text) => {
    await createFunction(database, text)
    const body = { query: { lambda: [], expr: { call: { function: 'Door' }, arguments: [] } } }
    await database.run4({ create_function: { object: { name: 'Via4', body } } })
    return simpleOf(await database.run10('Via4()'))
  },
  'a function that the driver of version 4 calls': async (database, text) => {
    await createFunction(database, text)
    const { secret, url } = database.access
    const { hostname: domain, port } = new URL(url)
    const client = new faunadb.Client({ scheme: 'http', domain, port: Number(port), secret })
    try {
      return await client.query(faunadb.Call(faunadb.Function('Door')))
    } finally {
      await client.close()
    }
  },
}

const doors: Readonly<Record<string, Door>> = {
  'a function': async (database, text) => {
    await createFunction(database, text)
    return simpleOf(await database.run10('Door()'))
  },
  'a function that a role may call': async (database, text) => {
    await database.run10('Function.create({ name: "Door", role: "server", body: body })', {
      body: `() => { ${text} }`,
    })
    await database.run10(
      'Role.create({ name: "caller", privileges: { resource: "Door", actions: { call: true } } })',
    )
    return simpleOf(await database.run10('Door()', {}, '@role/caller'))
  },
  'a computed field': async (database, text) => {
    const definition = '{ name: "Holder", computed_fields: { door: { body: body } } }'
    await database.run10(`Collection.create(${definition})`, { body: `_ => ${text}` })
    return simpleOf(await database.run10('Holder.create({}).door'))
  },
  'a check': async (database, text) => {
    const definition = '{ name: "Holder", constraints: [{ check: { name: "door", body: body } }] }'
    await database.run10(`Collection.create(${definition})`, { body: `_ => abort(${text})` })
    const { value } = await database.ask10('Holder.create({})')
    return simpleOf((value as { error: { abort: unknown } }).error.abort)
  },
  'a lambda': async (database, text) => simpleOf(await database.run10(`(() => { ${text} })()`)),
  'the present as a past time': async (database, text) => {
    const { time } = await database.ask10('null')
    return simpleOf(await database.run10(`at (Time.epoch(${time}, "microseconds")) { ${text} }`))
  },
  'the server role': async (database, text) => simpleOf(await database.run10(text, {}, 'server')),
  explain: async (database, text) => simpleOf(await database.explain10(text)),
  'the format simple': (database, text) => database.run10In('simple', text),
  'the format decorated': async (database, text) =>
    simpleOf(await database.run10((await database.run10In('decorated', text)) as string)),
  'the driver of version 10': async ({ access: { secret, url } }, text) => {
    const client = new Driver10({ endpoint: new URL(url), secret, typecheck: false })
    try {
      return (await client.query(fql10(asTemplate(text)))).data
    } finally {
      client.close()
    }
  },
  'the client': async ({ access }, text) =>
    (await new Client({ ...access, typecheck: false }).query(fql(asTemplate(text)))).data,
}

/** `comparable` removes differences of values that the languages allow. */
function lawOfDoor(name: string, door: Door, comparable: (value: unknown) => unknown): void {
  law(`a query gives the same answer through ${name} as directly`, () => server, {
    input: fc.record({ given: items, set: documentSets, project: projections }),
    runs: 5,
    async holds(database, { given, project, set }) {
      await createItems(database, given)
      const text = `(${project.replace('SET', set)}).toArray()`
      const direct = simpleOf(await database.run10(text))
      assert.deepEqual(comparable(await door(database, text)), comparable(direct))
    },
  })
}

for (const [name, door] of Object.entries(doors)) lawOfDoor(name, door, value => value)
for (const [name, door] of Object.entries(doors4)) lawOfDoor(name, door, withTextIds)

law('arguments and template values give the same answer as literals', () => server, {
  input: fc.record({
    given: items,
    n: fc.integer({ min: 0, max: 5 }),
    g: fc.constantFrom('x', 'y', 'z'),
    size: fc.integer({ min: 1, max: 3 }),
  }),
  runs: 25,
  async holds(database, { g, given, n, size }) {
    await createItems(database, given)
    const text = (group: string, least: string, count: string) =>
      `Item.byGroup(${group}).where(.n >= ${least}).map(d => [d.id, d.n + ${least}]).take(${count}).toArray()`
    const literal = await database.run10(text(`"${g}"`, String(n), String(size)))
    assert.deepEqual(await database.run10(text('g', 'n', 'size'), { g, n, size }), literal)
    const [first = '', second = '', third = '', fourth = '', fifth = ''] = text('|', '|', '|').split('|')
    const template = [
      first,
      { value: g },
      second,
      { value: n },
      third,
      { value: n },
      fourth,
      { value: size },
      fifth,
    ]
    assert.deepEqual(await database.runTemplate(template), literal)
  },
})
