// The same query of version 4 gives the same answer through every door. A function that either language calls can
// contain the query. A client can use the driver, the present as a past time, or another caller with the same rights.

import assert from 'node:assert/strict'
import faunadb from 'faunadb'
import { fc } from '../support/fast-check.ts'
import { serverOfFile } from '../support/server.ts'
import { createItems, items } from './generators/items.ts'
import { createIndexes4, type Expression, sets4 } from './generators/sets4.ts'
import { type LawDatabase, law } from './law.ts'

const server = serverOfFile()

/** An element in either language, with the id of a document in place of the document or reference. */
function withIds(element: unknown): unknown {
  if (Array.isArray(element)) return element.map(withIds)
  if (typeof element !== 'object' || element === null) return element
  const [[tag, value] = ['', undefined]] = Object.entries(element)
  return tag === '@int' ? Number(value) : (value as { readonly id: string }).id
}

type Door = (database: LawDatabase, query: Expression) => Promise<unknown>

const createFunction = (database: LawDatabase, expr: Expression, fields = {}) =>
  database.run4({
    create_function: { object: { name: 'door', body: { query: { lambda: [], expr } }, ...fields } },
  })
const call = { call: { function: 'door' }, arguments: [] }

const doors: Readonly<Record<string, Door>> = {
  'a function': async (database, query) => {
    await createFunction(database, query)
    return database.run4(call)
  },
  'a function that version 10 calls': async (database, query) => {
    await createFunction(database, query)
    return database.run10('door()')
  },
  'a function that a role may call': async (database, query) => {
    await createFunction(database, query, { role: 'server' })
    const privileges = { object: { resource: { function: 'door' }, actions: { object: { call: true } } } }
    await database.run4({ create_role: { object: { name: 'caller', privileges } } })
    return database.run4(call, '@role/caller')
  },
  variables: (database, query) =>
    database.run4({ let: [{ x: query }, { y: { var: 'x' } }], in: { var: 'y' } }),
  'the present as a past time': (database, query) => database.run4({ at: { now: null }, expr: query }),
  'the server role': (database, query) => database.run4(query, 'server'),
  'the driver of version 4': async (database, query) => {
    const { secret, url } = database.access
    const { hostname: domain, port } = new URL(url)
    const client = new faunadb.Client({ scheme: 'http', domain, port: Number(port), secret })
    try {
      return JSON.parse(JSON.stringify(await client.query(new faunadb.Expr(query))))
    } finally {
      await client.close()
    }
  },
}

for (const [name, door] of Object.entries(doors)) {
  law(`a query of version 4 gives the same answer through ${name} as directly`, () => server, {
    input: fc.record({ given: items, set: sets4 }),
    runs: 4,
    async holds(database, { given, set }) {
      await createItems(database, given)
      await createIndexes4(database)
      const query = { select: ['data'], from: { paginate: set, size: 1000 } }
      assert.deepEqual(withIds(await door(database, query)), withIds(await database.run4(query)))
    },
  })
}
