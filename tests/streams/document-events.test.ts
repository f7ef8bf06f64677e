// The events of document streams, compared as exact texts.

import assert from 'node:assert/strict'
import { type Doc, streamTests } from './streams-app.ts'

const streamTest = streamTests()

const allFields = 'action,document,diff,prev,index'

/** The wire form of a reference to a document in the collection `things`. */
const refText = (id: string) =>
  `{"@ref":{"id":"${id}","collection":{"@ref":{"id":"things","collection":{"@ref":{"id":"collections"}}}}}}`

const target = (id: string) => ({ ref: { collection: 'things' }, id })

streamTest('create, update and delete events have all requested members', async app => {
  const reader = await app.stream(target('7'), { fields: allFields })
  const ref = refText('7')
  const { ts: made } = await app.create({ a: 1, b: { c: 2, d: 3 }, list: [1] }, '7')
  const created = `{"ref":${ref},"ts":${made},"data":{"a":1,"b":{"c":2,"d":3},"list":[1]}}`
  assert.equal(
    (await reader.next()).text,
    `{"type":"version","txn":${made},"event":{"action":"create","document":${created},"diff":${created},"prev":{"ref":${ref},"ts":${made}}}}`,
  )
  const { ts: changed } = await app.update(target('7'), { a: null, b: { c: 20 }, e: 'new' })
  const updated = `{"ref":${ref},"ts":${changed},"data":{"b":{"c":20,"d":3},"list":[1],"e":"new"}}`
  assert.equal(
    (await reader.next()).text,
    `{"type":"version","txn":${changed},"event":{"action":"update","document":${updated},"diff":{"ref":${ref},"ts":${changed},"data":{"b":{"c":20},"e":"new","a":null}},"prev":${created}}}`,
  )
  await app.delete(target('7'))
  const { text, txn } = await reader.next()
  assert.ok(txn > changed)
  assert.equal(
    text,
    `{"type":"version","txn":${txn},"event":{"action":"delete","document":${updated},"diff":{"ref":${ref},"ts":${txn}},"prev":${updated}}}`,
  )
  const { ts: again } = await app.create({}, '7')
  const empty = `{"ref":${ref},"ts":${again}}`
  assert.equal(
    (await reader.next()).text,
    `{"type":"version","txn":${again},"event":{"action":"create","document":${empty},"diff":${empty},"prev":${empty}}}`,
  )
})

streamTest('events have action and document by default; the order of members is fixed', async app => {
  const made = await app.create({ n: 1 }, '7')
  const plain = await app.stream(target('7'))
  const chosen = await app.stream(target('7'), { fields: 'prev,action' })
  const { ts } = await app.update(target('7'), { n: 2 })
  const ref = refText('7')
  assert.equal(
    (await plain.next()).text,
    `{"type":"version","txn":${ts},"event":{"action":"update","document":{"ref":${ref},"ts":${ts},"data":{"n":2}}}}`,
  )
  assert.equal(
    (await chosen.next()).text,
    `{"type":"version","txn":${ts},"event":{"action":"update","prev":{"ref":${ref},"ts":${made.ts},"data":{"n":1}}}}`,
  )
})

streamTest('events contain fields outside of data, and values in their wire form', async app => {
  const reader = await app.stream(target('7'))
  const ttl = { time: '2999-01-01T00:00:00Z' }
  const data = { object: { at: { date: '2020-02-29' }, '@key': { object: {} } } }
  const place = { ref: { collection: 'things' }, id: '7' }
  const made = (await app.query({ create: place, params: { object: { data, ttl } } })) as Doc
  const { event } = await reader.next()
  assert.deepEqual(event, { action: 'create', document: made })
  assert.deepEqual(Object.entries(made).at(-1), ['ttl', { '@ts': '2999-01-01T00:00:00Z' }])
})

streamTest('older versions of the API get their own names for members', async app => {
  const reader = await app.stream(target('7'), { apiVersion: '2.1' })
  await app.create({}, '7')
  const { text } = await reader.next()
  assert.ok(
    text.includes(
      '"ref":{"@ref":{"id":"7","class":{"@ref":{"id":"things","class":{"@ref":{"id":"classes"}}}}}}',
    ),
    text,
  )
})

streamTest('all changes of a document in one transaction are one event', async app => {
  const made = await app.create({ n: 1 }, '7')
  const reader = await app.stream(target('7'))
  const step = (n: number) => ({ update: target('7'), params: { object: { data: { object: { n } } } } })
  await app.query({ do: [step(2), step(3), step(4)] })
  await app.query({ do: [{ delete: target('7') }, { create: target('7'), params: { object: {} } }] })
  const first = (await reader.next()).event as { action: string; document: Doc }
  assert.deepEqual([first.action, first.document.data], ['update', { n: 4 }])
  assert.ok(first.document.ts > made.ts)
  const second = (await reader.next()).event as { action: string; document: Doc }
  assert.deepEqual([second.action, second.document.data], ['update', undefined])
})

streamTest('inserting a version before the first one rewrites the first one', async app => {
  const made = await app.create({ n: 1 }, '7')
  const reader = await app.stream(target('7'), { fields: 'action,document,diff' })
  const ts = made.ts - 1000
  const params = { object: { data: { object: { n: 0 } } } }
  await app.query({ insert: target('7'), ts, action: 'create', params })
  const ref = refText('7')
  const first = await reader.next()
  const second = await reader.next()
  assert.equal(first.txn, second.txn)
  assert.ok(first.txn > made.ts)
  assert.equal(
    first.text,
    `{"type":"history_rewrite","txn":${first.txn},"event":{"action":"update","document":{"ref":${ref},"ts":${made.ts},"data":{"n":1}},"diff":{"ref":${ref},"ts":${made.ts},"data":{"n":1}}}}`,
  )
  const inserted = `{"ref":${ref},"ts":${ts},"data":{"n":0}}`
  assert.equal(
    second.text,
    `{"type":"history_rewrite","txn":${first.txn},"event":{"action":"create","document":${inserted},"diff":${inserted}}}`,
  )
})

streamTest('removing the inserted version restores the version after it', async app => {
  const made = await app.create({ n: 1 }, '7')
  const ts = made.ts - 1000
  const params = { object: { data: { object: { n: 0 } } } }
  await app.query({ insert: target('7'), ts, action: 'create', params })
  const reader = await app.stream(target('7'))
  await app.query({ remove: target('7'), ts, action: 'create' })
  const ref = refText('7')
  const first = await reader.next()
  const second = await reader.next()
  assert.equal(
    first.text,
    `{"type":"history_rewrite","txn":${first.txn},"event":{"action":"create","document":{"ref":${ref},"ts":${ts}}}}`,
  )
  assert.equal(
    second.text,
    `{"type":"history_rewrite","txn":${first.txn},"event":{"action":"create","document":{"ref":${ref},"ts":${made.ts},"data":{"n":1}}}}`,
  )
})

streamTest('changes of other documents and databases cause no events', async app => {
  await app.create({ n: 1 }, '7')
  const reader = await app.stream(target('7'))
  await app.create({ n: 1 }, '8')
  await app.query({ create_collection: { object: { name: 'others' } } })
  await app.create({ n: 1 }, '7', 'others')
  const { ts } = await app.update(target('7'), { n: 2 })
  assert.equal((await reader.next()).txn, ts)
})

streamTest('deleting a collection closes the streams of its documents', async app => {
  await app.create({ n: 1 }, '7')
  const reader = await app.stream(target('7'))
  await app.query({ delete: { collection: 'things' } })
  assert.equal(
    (await reader.nextEnd()).text,
    '{"type":"error","txn":0,"event":{"code":"time out","description":"Stream was unexpectedly closed by its source."}}',
  )
})
