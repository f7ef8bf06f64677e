// What a query reads at a time is what `at` that time returns later: documents, sets, indexes and computed fields, in
// both languages, also after migrations.

import assert from 'node:assert/strict'
import { fc } from '../support/fast-check.ts'
import { serverOfFile } from '../support/server.ts'
import { changes, createItems, items, statementOf, stateText } from './generators/items.ts'
import { documentSets, projections } from './generators/sets10.ts'
import { type LawDatabase, law } from './law.ts'

const server = serverOfFile()

/** The same query of version 10 in the past. */
const at10 = (time: number, text: string) => `at (Time.epoch(${time}, "microseconds")) { ${text} }`

law('a query at a past time of version 10 returns what it returned then', () => server, {
  input: fc.record({ given: items, later: changes, set: documentSets, project: projections }),
  runs: 40,
  async holds(database, { given, later, project, set }) {
    await createItems(database, given)
    const queries = [stateText, `(${project.replace('SET', set)}).toArray()`]
    const seen: { readonly text: string; readonly time: number; readonly value: unknown }[] = []
    const read = async () => {
      for (const text of queries) seen.push({ text, ...(await database.ask10(text)) })
    }
    await read()
    for (const change of later) {
      await database.run10(statementOf(change))
      await read()
    }
    for (const { text, time, value } of seen) {
      assert.deepEqual(await database.run10(at10(time, text)), value)
    }
  },
})

const documents4 = { documents: { collection: 'Item' } }
const page4 = (set: object) => ({
  map: { lambda: 'ref', expr: { get: { var: 'ref' } } },
  collection: { paginate: set, size: 100 },
})

law('a query at a past time of version 4 returns what it returned then', () => server, {
  input: fc.record({ given: items, later: changes }),
  runs: 25,
  async holds(database, { given, later }) {
    await createItems(database, given)
    const source = { collection: 'Item' }
    const byGroup = { name: 'by_g', source, terms: [{ object: { field: ['data', 'g'] } }] }
    await database.run4({ create_index: { object: byGroup } })
    const queries = [
      page4(documents4),
      page4({ match: { index: 'by_g' }, terms: 'x' }),
      { count: { union: [documents4, { match: { index: 'by_g' }, terms: 'y' }] } },
    ]
    const seen: { readonly query: object; readonly time: number; readonly value: unknown }[] = []
    const read = async () => {
      for (const query of queries) seen.push({ query, ...(await database.ask4(query)) })
    }
    await read()
    for (const change of later) {
      await database.run10(statementOf(change))
      await read()
    }
    for (const { query, time, value } of seen) {
      const past = { at: { epoch: time, unit: 'microseconds' }, expr: query }
      assert.deepEqual(await database.run4(past), value)
    }
  },
})

law('the events of a document replay to its present state', () => server, {
  input: fc.record({ given: items, later: changes }),
  runs: 25,
  async holds(database, { given, later }) {
    await createItems(database, given)
    for (const change of later) await database.run10(statementOf(change))
    for (let id = 1; id <= given.length; id++) {
      const ref = { ref: { collection: 'Item' }, id: String(id) }
      const { data: events } = (await database.run4({ paginate: ref, events: true, size: 100 })) as {
        data: readonly { readonly action: string; readonly data?: Readonly<Record<string, unknown>> }[]
      }
      const last = events.at(-1)
      const isThere = await database.run4({ exists: ref })
      assert.equal(isThere, last?.action !== 'delete' && last !== undefined)
      if (isThere) {
        const present = (await database.run4({ select: ['data'], from: { get: ref } })) as object
        assert.deepEqual(replay(events), present)
      }
    }
  },
})

/** Applies the differences of the events in order. A null removes a field. */
function replay(
  events: readonly { readonly action: string; readonly data?: Readonly<Record<string, unknown>> }[],
): object {
  let state: Record<string, unknown> = {}
  for (const { action, data } of events) {
    if (action !== 'update') state = {}
    for (const [name, value] of Object.entries(data ?? {})) {
      if (value === null) delete state[name]
      else state[name] = value
    }
  }
  return state
}

type Fields = Readonly<Record<string, unknown>>

/** A migration of the collection `Row`: its statement, its effect on the declared fields, and on a document. */
interface Migration {
  readonly statement: string
  readonly fields: (fields: Fields) => Fields
  readonly document: (document: Fields) => Fields
}

const without = (name: string, { [name]: _, ...others }: Fields): Fields => others
const renamed = (from: string, to: string, fields: Fields): Fields =>
  from in fields ? { ...without(from, fields), [to]: fields[from] } : fields

const migrations: readonly Migration[] = [
  {
    statement: 'add .added',
    fields: fields => ({ ...fields, added: 'Int = 7' }),
    document: document => ({ ...document, added: 7 }),
  },
  {
    statement: 'move .n -> .moved',
    fields: fields => renamed('n', 'moved', fields),
    document: document => renamed('n', 'moved', document),
  },
  {
    statement: 'drop .g',
    fields: fields => without('g', fields),
    document: document => without('g', document),
  },
]

const original = { n: 'Int', g: 'String?', v: 'Int' }

async function migrate(database: LawDatabase, done: readonly Migration[]): Promise<void> {
  const fields = Object.entries(done.reduce((fields, each) => each.fields(fields), original as Fields))
  const declarations = fields.map(([name, type]) => `  ${name}: ${type}`).join('\n')
  const statements = done.map(({ statement }) => `    ${statement}`).join('\n')
  const block = done.length === 0 ? '' : `  migrations {\n${statements}\n  }\n`
  const text = `collection Row {\n  history_days 30\n${declarations}\n  index byV { terms [.v] }\n${block}}\n`
  await database.schema('POST', 'update?force=true', { 'main.fsl': text })
}

interface State {
  readonly documents: readonly Fields[]
  readonly byV: unknown
}

const migratedState =
  '{ documents: Row.all().toArray(), byV: [0, 1, 2].map(v => Row.byV(v).map(.id).toArray()) }'
const v = fc.integer({ min: 0, max: 2 })
const docId = fc.integer({ min: 1, max: 4 })

law('a past time shows what was read then, after later migrations', () => server, {
  input: fc.record({
    given: fc.array(fc.record({ n: v, v, g: fc.constantFrom('x', null) }), { minLength: 1, maxLength: 4 }),
    order: fc.shuffledSubarray([...migrations]),
    /** The writes before each migration, and after the last one: without a value, a write deletes. */
    writes: fc.array(fc.array(fc.record({ id: docId, v: fc.option(v) }), { maxLength: 2 }), {
      minLength: 4,
      maxLength: 4,
    }),
  }),
  runs: 20,
  async holds(database, { given, order, writes }) {
    await migrate(database, [])
    await database.run10('given.forEach(each => Row.create(each))', {
      given: given.map((each, at) => ({ id: String(at + 1), ...each })),
    })
    const seen: { readonly time: number; readonly state: State; readonly done: number }[] = []
    for (let done = 0; done <= order.length; done++) {
      if (done > 0) await migrate(database, order.slice(0, done))
      for (const { id, v } of writes[done] ?? []) {
        const write = v === null ? 'delete()' : `update({ v: ${v} })`
        await database.run10(`Row.byId("${id}")?.${write}`)
      }
      const { time } = await database.ask10('null')
      seen.push({ time, done, state: (await database.run10In('simple', migratedState)) as State })
    }
    for (const { done, state, time } of seen) {
      const documents = state.documents.map(document =>
        order.slice(done).reduce((document, each) => each.document(document), document),
      )
      const past = await database.run10In('simple', at10(time, migratedState))
      assert.deepEqual(past, { ...state, documents })
    }
  },
})
