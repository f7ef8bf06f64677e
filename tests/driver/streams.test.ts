// `client.stream` of the driver over HTTP/2 and HTTP/1.1: streams of documents and sets, in the order of transactions.

import assert from 'node:assert/strict'
import { type Client, type Document, driverTests, q } from './app.ts'

const driverTest = driverTests()

interface StreamEvent {
  readonly type: string
  readonly event: unknown
  readonly txn?: number
}

const eventTypes = ['start', 'version', 'set', 'history_rewrite'] as const

/** A started stream. The test takes its events one by one. */
class Events {
  readonly #received: StreamEvent[] = []
  readonly #waiting: ((event: StreamEvent) => void)[] = []
  readonly #subscription: Pick<ReturnType<Client['stream']>, 'close'>

  constructor(subscription: ReturnType<Client['stream']>)
  constructor(subscription: ReturnType<Client['stream']['document']>, isDocumentHelper: true)
  constructor(given: unknown, isDocumentHelper = false) {
    const subscription = given as ReturnType<Client['stream']['document']>
    this.#subscription = subscription
    const take = (_: unknown, event: StreamEvent) => {
      const next = this.#waiting.shift()
      if (next) next(event)
      else this.#received.push(event)
    }
    for (const type of eventTypes) subscription.on(type, take)
    // Only subscriptions of the document helper support this type; others reject the listener.
    if (isDocumentHelper) subscription.on('snapshot', take)
    subscription.on('error', (error: unknown) => take(error, { type: 'error', event: error }))
    subscription.start()
  }

  next(): Promise<StreamEvent> {
    const event = this.#received.shift()
    return event ? Promise.resolve(event) : new Promise(resolve => this.#waiting.push(resolve))
  }

  [Symbol.dispose](): void {
    this.#subscription.close()
  }
}

driverTest('a document stream delivers every change with its transaction time', async app => {
  const server = await app.as('server')
  await server.query(q.CreateCollection({ name: 'scores' }))
  const made = await server.query<Document>(q.Create(q.Collection('scores'), { data: { n: 0 } }))
  using events = new Events(server.stream(made.ref))
  const start = await events.next()
  assert.equal(start.type, 'start')
  assert.equal(typeof start.event, 'number')
  for (const n of [1, 2]) {
    const updated = await server.query<Document>(q.Update(made.ref, { data: { n } }))
    const { type, txn, event } = await events.next()
    assert.equal(type, 'version')
    assert.equal(txn, updated.ts)
    assert.deepEqual(event, { action: 'update', document: updated })
  }
  await server.query(q.Delete(made.ref))
  const { type, event } = await events.next()
  assert.equal(type, 'version')
  assert.equal((event as { action: string }).action, 'delete')
})

driverTest('the fields option selects the members of events', async app => {
  const server = await app.as('server')
  await server.query(q.CreateCollection({ name: 'scores' }))
  const made = await server.query<Document>(q.Create(q.Collection('scores'), { data: { n: 0, same: 1 } }))
  using events = new Events(server.stream(made.ref, { fields: ['action', 'diff', 'prev'] }))
  assert.equal((await events.next()).type, 'start')
  const updated = await server.query<Document>(q.Update(made.ref, { data: { n: 1 } }))
  const { event } = await events.next()
  assert.deepEqual(event, {
    action: 'update',
    diff: { ref: made.ref, ts: updated.ts, data: { n: 1 } },
    prev: made,
  })
})

driverTest('a set stream delivers additions and removals', async app => {
  const server = await app.as('server')
  await server.query(q.CreateCollection({ name: 'scores' }))
  await server.query(
    q.CreateIndex({ name: 'by_team', source: q.Collection('scores'), terms: [{ field: ['data', 'team'] }] }),
  )
  using events = new Events(server.stream(q.Match(q.Index('by_team'), 'red')))
  assert.equal((await events.next()).type, 'start')
  const red = await server.query<Document>(q.Create(q.Collection('scores'), { data: { team: 'red' } }))
  await server.query(q.Create(q.Collection('scores'), { data: { team: 'blue' } }))
  await server.query(q.Update(red.ref, { data: { team: 'blue' } }))
  const added = await events.next()
  assert.equal(added.type, 'set')
  assert.equal(added.txn, red.ts)
  assert.deepEqual(added.event, { action: 'add', document: { ref: red.ref, ts: red.ts } })
  const removed = await events.next()
  assert.equal(removed.type, 'set')
  assert.equal((removed.event as { action: string }).action, 'remove')
})

driverTest('a stream of any other value is rejected', async app => {
  const server = await app.as('server')
  using events = new Events(server.stream(q.Add(1, 2)))
  const { type, event } = await events.next()
  assert.equal(type, 'error')
  assert.match(String(event), /invalid argument/)
})

driverTest('the document helper delivers a snapshot and every later change', async app => {
  const server = await app.as('server')
  await server.query(q.CreateCollection({ name: 'scores' }))
  const made = await server.query<Document>(q.Create(q.Collection('scores'), { data: { n: 0 } }))
  using events = new Events(server.stream.document(made.ref), true)
  const first = [await events.next(), await events.next()]
  const types = first.map(({ type }) => type)
  assert.deepEqual(types, ['start', 'snapshot'])
  assert.deepEqual(first[1]?.event, made)
  const updated = await server.query<Document>(q.Update(made.ref, { data: { n: 1 } }))
  const { type, event } = await events.next()
  assert.equal(type, 'version')
  assert.deepEqual(event, { action: 'update', document: updated })
})

driverTest('a revoked token ends the stream with an error', async app => {
  const admin = await app.as('admin')
  await admin.query(q.CreateCollection({ name: 'scores' }))
  const key = await admin.query<Document & { secret: string }>(q.CreateKey({ role: 'server' }))
  using events = new Events(app.client(key.secret).stream(q.Ref(q.Collection('scores'), '1')))
  assert.equal((await events.next()).type, 'start')
  await admin.query(q.Delete(key.ref))
  const { type, event } = await events.next()
  assert.equal(type, 'error')
  assert.deepEqual(event, {
    code: 'permission denied',
    description: 'Authorization lost during stream evaluation.',
  })
})
