// A query is one transaction: it sees its own writes, and a query that fails writes nothing. Different ways to write the
// same thing give the same documents.

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
