// The events of set streams: documents that enter or leave the set of an index or a collection.

import assert from 'node:assert/strict'
import { type App, type Doc, streamTests, wire } from './streams-app.ts'

const streamTest = streamTests()

/** The document of the tests, as an expression and on the wire. */
const target = { ref: { collection: 'things' }, id: '7' }
const thing = {
  '@ref': {
    id: '7',
    collection: { '@ref': { id: 'things', collection: { '@ref': { id: 'collections' } } } },
  },
}
const indexRef = (name: string) => ({ '@ref': { id: name, collection: { '@ref': { id: 'indexes' } } } })

async function createByTeam(app: App): Promise<void> {
  const terms = wire([{ field: ['data', 'team'] }])
  const values = wire([{ field: ['data', 'score'] }])
  await app.query({
    create_index: { object: { name: 'by_team', source: { collection: 'things' }, terms, values } },
  })
}

const team = (name: string) => ({ match: { index: 'by_team' }, terms: name })

function setEvent(txn: number, action: string, term: string, value: number): object {
  const index = { ref: indexRef('by_team'), terms: [term], values: [value] }
  return { action, document: { ref: thing, ts: txn }, index }
}

streamTest('entries are added, moved between sets and removed', async app => {
  await createByTeam(app)
  const red = await app.stream(team('red'), { fields: 'index,action,document' })
  const blue = await app.stream(team('blue'), { fields: 'action,document,index,diff,prev' })
  const made = await app.create({ team: 'red', score: 1 }, '7')
  await red.expect('set', made.ts, setEvent(made.ts, 'add', 'red', 1))
  const scored = await app.update(target, { score: 2 })
  await red.expect('set', scored.ts, setEvent(scored.ts, 'remove', 'red', 1))
  await red.expect('set', scored.ts, setEvent(scored.ts, 'add', 'red', 2))
  await app.update(target, { unrelated: true })
  const moved = await app.update(target, { team: 'blue' })
  await red.expect('set', moved.ts, setEvent(moved.ts, 'remove', 'red', 2))
  await blue.expect('set', moved.ts, setEvent(moved.ts, 'add', 'blue', 2))
  await app.delete(target)
  const gone = await blue.next()
  assert.ok(gone.txn > moved.ts)
  const event = setEvent(gone.txn, 'remove', 'blue', 2)
  assert.equal(gone.text, JSON.stringify({ type: 'set', txn: gone.txn, event }))
})

streamTest('events contain the index only if the field is requested', async app => {
  await createByTeam(app)
  const reader = await app.stream(team('red'))
  const { ts } = await app.create({ team: 'red', score: 1 }, '7')
  await reader.expect('set', ts, { action: 'add', document: { ref: thing, ts } })
})

streamTest('each entry has its own event, and the events of a transaction are adjacent', async app => {
  await createByTeam(app)
  const reader = await app.stream(team('red'), { fields: 'action,index' })
  const made = await app.create({ team: ['red', 'blue'], score: [1, 2, 3] })
  const events = [await reader.next(), await reader.next(), await reader.next()]
  const times = events.map(({ txn }) => txn)
  assert.deepEqual(times, [made.ts, made.ts, made.ts])
  const values = events.map(({ event }) => (event as { index: { values: number[] } }).index.values[0])
  assert.deepEqual(values.toSorted(), [1, 2, 3])
})

streamTest('an index without terms and values has empty ones', async app => {
  await app.query({ create_index: { object: { name: 'everything', source: { collection: 'things' } } } })
  const reader = await app.stream({ match: { index: 'everything' } }, { fields: 'index' })
  const { ts } = await app.create({}, '7')
  await reader.expect('set', ts, { index: { ref: indexRef('everything'), terms: [], values: [] } })
})

streamTest('computed fields cause events', async app => {
  const compute = {
    query: { lambda: 'doc', expr: { casefold: { select: ['data', 'name'], from: { var: 'doc' } } } },
  }
  await app.query({
    create_index: {
      object: {
        name: 'by_folded',
        source: { object: { collection: { collection: 'things' }, fields: { object: { folded: compute } } } },
        terms: [{ object: { binding: 'folded' } }],
      },
    },
  })
  const reader = await app.stream({ match: { index: 'by_folded' }, terms: 'anna' })
  const { ts } = await app.create({ name: 'ANNA' }, '7')
  assert.equal((await reader.next()).txn, ts)
})

streamTest('creating and deleting documents of a collection are events, updates are not', async app => {
  const reader = await app.stream({ documents: { collection: 'things' } })
  const made = await app.create({ n: 1 }, '7')
  await app.update(target, { n: 2 })
  await app.delete(target)
  await reader.expect('set', made.ts, { action: 'add', document: { ref: thing, ts: made.ts } })
  const removed = await reader.next()
  assert.equal((removed.event as { action: string }).action, 'remove')
})

streamTest('streams of the set of tokens can be opened', async app => {
  const user = await app.create({ name: 'anna' })
  const reader = await app.stream({ documents: { tokens: null } })
  const token = (await app.query({
    create: { tokens: null },
    params: { object: { instance: user.ref } },
  })) as Doc
  const { event } = await reader.next()
  assert.deepEqual(event, { action: 'add', document: { ref: token.ref, ts: token.ts } })
})

streamTest('inserting the newest version changes the set, inserting older ones does not', async app => {
  await createByTeam(app)
  const made = await app.create({ team: 'red', score: 1 }, '7')
  const reader = await app.stream(team('red'), { fields: 'action,document' })
  const insert = (ts: unknown, score: number) =>
    app.query({ insert: target, ts, action: 'create', params: wire({ data: { team: 'red', score } }) })
  await insert(made.ts - 1000, 5)
  await insert(made.ts + 1, 6)
  const first = await reader.next()
  const second = await reader.next()
  assert.equal(first.txn, second.txn)
  assert.deepEqual(
    [first, second].map(({ event }) => event),
    ['remove', 'add'].map(action => ({ action, document: { ref: made.ref, ts: made.ts + 1 } })),
  )
})

streamTest('deleting an index closes the streams of its sets', async app => {
  await createByTeam(app)
  const reader = await app.stream(team('red'))
  await app.query({ delete: { index: 'by_team' } })
  const { event } = await reader.nextEnd()
  assert.deepEqual(event, {
    code: 'time out',
    description: 'Stream was unexpectedly closed by its source.',
  })
})
