// The same query gives the same answer in the slow lane and with several workers as in a single process.

import assert from 'node:assert/strict'
import { fc } from '../support/fast-check.ts'
import { serverOfFile } from '../support/server.ts'
import { startProcess, withoutSlowLane } from '../support/server-process.ts'
import { serviceOfFile } from '../support/service-of-file.ts'
import { changes, createItems, items, statementOf, stateText } from './generators/items.ts'
import { documentSets, projections } from './generators/sets10.ts'
import { LawDatabase, law } from './law.ts'

const server = serverOfFile()
const others = {
  'in the slow lane': serviceOfFile(() => startProcess({ flags: ['--slow-lane-after-ms', '0'] })),
  'with two workers': serviceOfFile(() => startProcess({ flags: ['--workers', '2', ...withoutSlowLane] })),
}

/** The state without times and without the documents that got random ids. */
const comparable = (state: unknown): unknown =>
  JSON.parse(JSON.stringify(state, (name, value) => (name === 'ts' ? undefined : value)))

for (const [where, other] of Object.entries(others)) {
  law(`queries and writes have the same results ${where} as in one process`, () => server, {
    input: fc.record({
      given: items,
      set: documentSets,
      project: projections,
      // Without creates: their ids are random.
      writes: changes.map(all => all.filter(({ kind }) => kind !== 'create')),
    }),
    runs: 10,
    async holds(database, { given, project, set, writes }) {
      const twin = await LawDatabase.create(other)
      try {
        const text = `(${project.replace('SET', set)}).toArray()`
        const results: unknown[] = []
        for (const each of [database, twin]) {
          await createItems(each, given)
          const read = await each.run10(text)
          for (const write of writes) await each.run10(statementOf(write))
          results.push([read, await each.run10(text), comparable(await each.run10(stateText))])
        }
        assert.deepEqual(results[1], results[0], twin.transcript())
      } finally {
        await twin.remove()
      }
    },
  })
}
