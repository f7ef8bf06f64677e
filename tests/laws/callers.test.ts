// A role sees what its predicate lets through, and nothing else: each set that it reads equals the set that an admin
// reads after filtering every source by the predicate.

import assert from 'node:assert/strict'
import { fc } from '../support/fast-check.ts'
import { serverOfFile } from '../support/server.ts'
import { changes, createItems, expressionOf, items, statementOf } from './generators/items.ts'
import { documentSets } from './generators/sets10.ts'
import { type LawDatabase, law } from './law.ts'

const server = serverOfFile()

const predicates = fc.constantFrom(
  'doc => doc.n >= 3',
  'doc => doc.g == "x"',
  'doc => doc.extra != null',
  'doc => true',
  'doc => false',
)

/** What a role reads, and what an admin reads instead. `P` is the predicate, which the documents of references pass. */
const projections = fc.constantFrom(
  ['SET.map(.id)'],
  ['(SET) { id, n, g, double }'],
  ['SET.map(d => { id: d.id, same: Item.byGroup(d.g).count() })'],
  [
    'SET.map(d => { id: d.id, next: d.following?.n })',
    `SET.map(d => {
      let next = d.following
      { id: d.id, next: if (next != null && (P)(next!)) next!.n else null }
    })`,
  ],
)

/** Sets whose predicates follow no references. */
const plainSets = documentSets.filter(set => !set.includes('following'))

/** Every source of documents in a text. */
const sourcePattern = /Item\.(?:all|byGroup|byGroupSorted|byGroupTags|byTag|sorted)\([^()]*\)/g

const createReader = (predicate: string) =>
  `Role.create({
    name: "reader",
    privileges: { resource: "Item", actions: { read: ${JSON.stringify(predicate)} } }
  })`

const sizes = fc.integer({ min: 1, max: 4 })

law('a role reads a set as an admin reads it with filtered sources', () => server, {
  input: fc.record({
    given: items,
    predicate: predicates,
    set: plainSets,
    project: projections,
    size: sizes,
  }),
  runs: 60,
  async holds(database, { given, predicate, project: [own = '', admins = own], set, size }) {
    await createItems(database, given)
    await database.run10(createReader(predicate))
    const asAdmin = (text: string) =>
      database.run10(
        text
          .replaceAll(sourcePattern, source => `${source}.where(${predicate})`)
          .replaceAll('(P)', `(${predicate})`),
      )
    const elements = (await asAdmin(`(${admins.replace('SET', set)}).toArray()`)) as readonly unknown[]
    const text = own.replace('SET', set)
    assert.deepEqual(await database.run10(`(${text}).toArray()`, {}, '@role/reader'), elements)
    assert.deepEqual(await pagesOf(database, text, size, elements.length), elements, 'pages')
    for (const result of [`(${set}).count()`, `(${set}).first()?.id`, `(${set}).isEmpty()`]) {
      assert.deepEqual(await database.run10(result, {}, '@role/reader'), await asAdmin(result), result)
    }
  },
})

/** All pages that the role reads. */
async function pagesOf(database: LawDatabase, set: string, size: number, count: number): Promise<unknown[]> {
  const elements: unknown[] = []
  let text = `(${set}).paginate(${size})`
  for (;;) {
    const page = (await database.run10(text, {}, '@role/reader')) as {
      readonly data: readonly unknown[]
      readonly after?: string
    }
    elements.push(...page.data)
    assert.ok(elements.length <= count, 'the pages repeat elements')
    if (page.after === undefined) return elements
    text = `Set.paginate("${page.after}", ${size})`
  }
}

law(
  'a role with history_read reads the past of the documents that its predicate lets through now',
  () => server,
  {
    input: fc.record({ given: items, later: changes, predicate: predicates, set: plainSets }),
    runs: 15,
    async holds(database, { given, later, predicate, set }) {
      await createItems(database, given)
      const action = JSON.stringify(predicate)
      await database.run10(
        `Role.create({
        name: "reader",
        privileges: { resource: "Item", actions: { read: ${action}, history_read: ${action} } }
      })`,
      )
      const { time } = await database.ask10('null')
      for (const change of later) await database.run10(statementOf(change))
      const past = (set: string) =>
        `at (Time.epoch(${time}, "microseconds")) { ${set}.map(d => [d.id, d.n]).toArray() }`
      // A predicate that reads a deleted document fails, and rejects the document.
      const passes = `let now = Item.byId(doc.id)
      if (now.exists()) (${predicate})(now!) else ${predicate === 'doc => true'}`
      const filter = `.where(doc => at (TransactionTime()) { ${passes} })`
      const filtered = set.replaceAll(sourcePattern, source => source + filter)
      assert.deepEqual(
        await database.run10(past(set), {}, '@role/reader'),
        await database.run10(past(filtered)),
      )
    },
  },
)

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

/** Equal roles of both languages. */
const writer10 = `Role.create({
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
})`
const lambda = (parameters: unknown, expr: object) => ({ query: { lambda: parameters, expr } })
const field = (name: string, from: object) => ({ select: ['data', name], from })
const actions = {
  read: true,
  create: lambda('data', { gte: [field('n', { var: 'data' }), 2] }),
  write: lambda(['old', 'new'], {
    and: [{ lte: [field('n', { var: 'old' }), 3] }, { not: { equals: [field('g', { var: 'new' }), 'z'] } }],
  }),
  delete: lambda('ref', { equals: [field('g', { get: { var: 'ref' } }), 'x'] }),
}
const privileges = { object: { resource: { collection: 'Item' }, actions: { object: actions } } }
const writer4 = { create_role: { object: { name: 'writer', privileges } } }

law(
  'a role changes only what its predicates of writes let through, by the old and the new document',
  () => server,
  {
    input: fc.record({ given: items, writes: changes, hasRole4: fc.boolean(), writesIn4: fc.boolean() }),
    runs: 40,
    async holds(database, { given, hasRole4, writes, writesIn4 }) {
      await createItems(database, given)
      await (hasRole4 ? database.run4(writer4) : database.run10(writer10))
      for (const write of writes) {
        const old = 'id' in write ? await database.run10(`Item.byId("${write.id}")?.data { n, g }`) : null
        const { status } = await (writesIn4
          ? database.ask4(expressionOf(write), '@role/writer')
          : database.ask10(statementOf(write), {}, '@role/writer'))
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
