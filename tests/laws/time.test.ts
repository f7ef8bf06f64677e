// What a query reads at a time is what `at` that time returns later: documents, sets, indexes and computed fields, in
// both languages.

import assert from 'node:assert/strict'
import { fc } from '../support/fast-check.ts'
import { serverOfFile } from '../support/server.ts'
import { changes, createItems, items, statementOf, stateText } from './generators/items.ts'
import { documentSets, projections } from './generators/sets10.ts'
import { law } from './law.ts'

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
