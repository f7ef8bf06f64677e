// The events of document streams, compared as exact texts.

import assert from 'node:assert/strict'
import { type Doc, streamTests } from './streams-app.ts'

const streamTest = streamTests()

const allFields = 'action,document,diff,prev,index'

/** The document of the tests, as an expression and on the wire. */
const target = { ref: { collection: 'things' }, id: '7' }
const ref = {
  '@ref': {
    id: '7',
    collection: { '@ref': { id: 'things', collection: { '@ref': { id: 'collections' } } } },
  },
}

streamTest('create, update and delete events have all requested members', async app => {
  const reader = await app.stream(target, { fields: allFields })
  const { ts: made } = await app.create({ a: 1, b: { c: 2, d: 3 }, list: [1] }, '7')
  const created = { ref, ts: made, data: { a: 1, b: { c: 2, d: 3 }, list: [1] } }
  const before = { ref, ts: made }
  await reader.expect('version', made, { action: 'create', document: created, diff: created, prev: before })
  const { ts: changed } = await app.update(target, { a: null, b: { c: 20 }, e: 'new' })
  const updated = { ref, ts: changed, data: { b: { c: 20, d: 3 }, list: [1], e: 'new' } }
  const diff = { ref, ts: changed, data: { b: { c: 20 }, e: 'new', a: null } }
  await reader.expect('version', changed, { action: 'update', document: updated, diff, prev: created })
  await app.delete(target)
  const { text, txn } = await reader.next()
  assert.ok(txn > changed)
  const event = { action: 'delete', document: updated, diff: { ref, ts: txn }, prev: updated }
  assert.equal(text, JSON.stringify({ type: 'version', txn, event }))
  const { ts: again } = await app.create({}, '7')
  const empty = { ref, ts: again }
  await reader.expect('version', again, { action: 'create', document: empty, diff: empty, prev: empty })
})

streamTest('events have action and document by default; the order of members is fixed', async app => {
  const made = await app.create({ n: 1 }, '7')
  const plain = await app.stream(target)
  const chosen = await app.stream(target, { fields: 'prev,action' })
  const { ts } = await app.update(target, { n: 2 })
  await plain.expect('version', ts, { action: 'update', document: { ref, ts, data: { n: 2 } } })
  await chosen.expect('version', ts, { action: 'update', prev: { ref, ts: made.ts, data: { n: 1 } } })
})

streamTest('events contain fields outside of data, and values in their wire form', async app => {
  const reader = await app.stream(target)
  const ttl = { time: '2999-01-01T00:00:00Z' }
  const data = { object: { at: { date: '2020-02-29' }, '@key': { object: {} } } }
  const made = (await app.query({ create: target, params: { object: { data, ttl } } })) as Doc
  const { event } = await reader.next()
  assert.deepEqual(event, { action: 'create', document: made })
  assert.deepEqual(Object.entries(made).at(-1), ['ttl', { '@ts': '2999-01-01T00:00:00Z' }])
})

streamTest('older versions of the API get their own names for members', async app => {
  const reader = await app.stream(target, { apiVersion: '2.1' })
  await app.create({}, '7')
  const { text } = await reader.next()
  const old = '"ref":{"@ref":{"id":"7","class":{"@ref":{"id":"things","class":{"@ref":{"id":"classes"}}}}}}'
  assert.ok(text.includes(old), text)
})

streamTest('all changes of a document in one transaction are one event', async app => {
  const made = await app.create({ n: 1 }, '7')
  const reader = await app.stream(target)
  const step = (n: number) => ({ update: target, params: { object: { data: { object: { n } } } } })
  await app.query({ do: [step(2), step(3), step(4)] })
  await app.query({ do: [{ delete: target }, { create: target, params: { object: {} } }] })
  const first = (await reader.next()).event as { action: string; document: Doc }
  assert.deepEqual([first.action, first.document.data], ['update', { n: 4 }])
  assert.ok(first.document.ts > made.ts)
  const second = (await reader.next()).event as { action: string; document: Doc }
  assert.deepEqual([second.action, second.document.data], ['update', undefined])
})

streamTest('inserting a version before the first one rewrites the first one', async app => {
  const made = await app.create({ n: 1 }, '7')
  const reader = await app.stream(target, { fields: 'action,document,diff' })
  const ts = made.ts - 1000
  const params = { object: { data: { object: { n: 0 } } } }
  await app.query({ insert: target, ts, action: 'create', params })
  const { text, txn } = await reader.next()
  assert.ok(txn > made.ts)
  const later = { ref, ts: made.ts, data: { n: 1 } }
  const event = { action: 'update', document: later, diff: later }
  assert.equal(text, JSON.stringify({ type: 'history_rewrite', txn, event }))
  const inserted = { ref, ts, data: { n: 0 } }
  await reader.expect('history_rewrite', txn, { action: 'create', document: inserted, diff: inserted })
})

streamTest('removing the inserted version restores the version after it', async app => {
  const made = await app.create({ n: 1 }, '7')
  const ts = made.ts - 1000
  const params = { object: { data: { object: { n: 0 } } } }
  await app.query({ insert: target, ts, action: 'create', params })
  const reader = await app.stream(target)
  await app.query({ remove: target, ts, action: 'create' })
  const { text, txn } = await reader.next()
  const event = { action: 'create', document: { ref, ts } }
  assert.equal(text, JSON.stringify({ type: 'history_rewrite', txn, event }))
  const restored = { ref, ts: made.ts, data: { n: 1 } }
  await reader.expect('history_rewrite', txn, { action: 'create', document: restored })
})

streamTest('changes of other documents and databases cause no events', async app => {
  await app.create({ n: 1 }, '7')
  const reader = await app.stream(target)
  await app.create({ n: 1 }, '8')
  await app.query({ create_collection: { object: { name: 'others' } } })
  await app.create({ n: 1 }, '7', 'others')
  const { ts } = await app.update(target, { n: 2 })
  assert.equal((await reader.next()).txn, ts)
})

streamTest('deleting a collection closes the streams of its documents', async app => {
  await app.create({ n: 1 }, '7')
  const reader = await app.stream(target)
  await app.query({ delete: { collection: 'things' } })
  assert.equal(
    (await reader.nextEnd()).text,
    '{"type":"error","txn":0,"event":{"code":"time out","description":"Stream was unexpectedly closed by its source."}}',
  )
})
