// A role sees what its predicate lets through, and nothing else: each set that it reads equals the set that an admin
// reads after filtering every source by the predicate.

import assert from 'node:assert/strict'
import { fc } from '../support/fast-check.ts'
import { serverOfFile } from '../support/server.ts'
import { changes, createItems, items, statementOf } from './generators/items.ts'
import { documentSets } from './generators/sets10.ts'
import { law } from './law.ts'

const server = serverOfFile()

const predicates = fc.constantFrom(
  'doc => doc.n >= 3',
  'doc => doc.g == "x"',
  'doc => doc.extra != null',
  'doc => true',
  'doc => false',
)

/** Projections without references, because a reference to a hidden document has no counterpart for an admin. */
const projections = fc.constantFrom(
  'SET.map(.id)',
  '(SET) { id, n, g, double }',
  'SET.map(d => { id: d.id, same: Item.byGroup(d.g).count() })',
)

/** Sets whose predicates follow no references. */
const plainSets = documentSets.filter(set => !set.includes('following'))

/** Every source of documents in a text. */
const sourcePattern = /Item\.(?:all|byGroup|byGroupSorted|byTag|sorted)\([^()]*\)/g

const createReader = (predicate: string) =>
  `Role.create({
    name: "reader",
    privileges: { resource: "Item", actions: { read: ${JSON.stringify(predicate)} } }
  })`

law('a role reads a set as an admin reads it with filtered sources', () => server, {
  input: fc.record({ given: items, predicate: predicates, set: plainSets, project: projections }),
  runs: 60,
  async holds(database, { given, predicate, project, set }) {
    await createItems(database, given)
    await database.run10(createReader(predicate))
    const text = project.replace('SET', set)
    const results = [`(${text}).toArray()`, `(${set}).count()`, `(${set}).first()?.id`, `(${set}).isEmpty()`]
    for (const result of results) {
      const filtered = result.replaceAll(sourcePattern, source => `${source}.where(${predicate})`)
      assert.deepEqual(
        await database.run10(result, {}, '@role/reader'),
        await database.run10(filtered),
        result,
      )
    }
  },
})

law('a role without history_read reads the same documents after others have written', () => server, {
  input: fc.record({ given: items, later: changes, predicate: predicates }),
  runs: 25,
  async holds(database, { given, later, predicate }) {
    await createItems(database, given)
    await database.run10(createReader(predicate))
    for (const change of later) await database.run10(statementOf(change))
    for (let id = 1; id <= given.length; id++) {
      const own = await database.run10(`Item.byId("${id}")?.n`, {}, '@role/reader')
      const all = await database.run10(`Item.all().where(${predicate}).firstWhere(.id == "${id}")?.n`)
      assert.deepEqual(own, all, String(id))
    }
  },
})

law(
  'a role changes only what its predicates of writes let through, by the old and the new document',
  () => server,
  {
    input: fc.record({ given: items, writes: changes }),
    runs: 40,
    async holds(database, { given, writes }) {
      await createItems(database, given)
      await database.run10(
        `Role.create({
        name: "writer",
        privileges: {
          resource: "Item",
          actions: {
            read: true,
            create: "data => data.n >= 2",
            write: "(old, new) => old.n <= 3 && new.g != \\"z\\"",
            delete: "doc => doc.g == \\"x\\""
          }
        }
      })`,
      )
      for (const write of writes) {
        const old = 'id' in write ? await database.run10(`Item.byId("${write.id}")?.data { n, g }`) : null
        const { status } = await database.ask10(statementOf(write), {}, '@role/writer')
        assert.equal(status < 300, isAllowed(write, old as OldData), JSON.stringify(write))
      }
    },
  },
)

type OldData = { readonly n: { readonly '@int': string }; readonly g: string } | null

function isAllowed(write: Parameters<typeof statementOf>[0], old: OldData): boolean {
  if (write.kind === 'create') return write.data.n >= 2
  if (old === null) return true
  if (write.kind === 'delete') return old.g === 'x'
  const group = write.kind === 'replace' ? write.data.g : (write.data.g ?? old.g)
  return Number(old.n['@int']) <= 3 && group !== 'z'
}
