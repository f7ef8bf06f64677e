// The same query gives the same answer through every door: directly, in a function of either language, with arguments
// instead of literals, through `explain`, in another response format, and as another caller with the same rights.

import assert from 'node:assert/strict'
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

const version4 = 'a function that version 4 calls'

const doors: Readonly<Record<string, Door>> = {
  'a function': async (database, text) => {
    await createFunction(database, text)
    return simpleOf(await database.run10('Door()'))
  },
  [version4]: async (database, text) => {
    await createFunction(database, text)
    return withTextIds(await database.run4({ call: { function: 'Door' }, arguments: [] }))
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
  'a lambda': async (database, text) => simpleOf(await database.run10(`(() => { ${text} })()`)),
  'the present as a past time': async (database, text) => {
    const { time } = await database.ask10('null')
    return simpleOf(await database.run10(`at (Time.epoch(${time}, "microseconds")) { ${text} }`))
  },
  'the server role': async (database, text) => simpleOf(await database.run10(text, {}, 'server')),
  explain: async (database, text) => simpleOf(await database.explain10(text)),
  'the format simple': (database, text) => database.run10In('simple', text),
}

for (const [name, door] of Object.entries(doors)) {
  law(`a query gives the same answer through ${name} as directly`, () => server, {
    input: fc.record({ given: items, set: documentSets, project: projections }),
    runs: 12,
    async holds(database, { given, project, set }) {
      await createItems(database, given)
      const text = `(${project.replace('SET', set)}).toArray()`
      const direct = simpleOf(await database.run10(text))
      assert.deepEqual(await door(database, text), name === version4 ? withTextIds(direct) : direct)
    },
  })
}

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
