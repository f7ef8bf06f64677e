// Documents in the driver `fauna`: classes of results, pages, missing documents and violated constraints.

import assert from 'node:assert/strict'
import {
  type Client,
  ConstraintFailureError,
  DateStub,
  Document,
  DocumentReference,
  type DocumentT,
  fql,
  Module,
  NamedDocument,
  NullDocument,
  QueryRuntimeError,
  TimeStub,
} from 'fauna'
import { sendFql } from '../support/http.ts'
import { driver10Tests } from './app.ts'

const driverTest = driver10Tests()

type Item = DocumentT<{ name: string; price: number }>

/** Creates a collection of items, and returns the client. */
async function shop(client: Client): Promise<Client> {
  await client.query(fql`Collection.create({ name: 'items' })`)
  return client
}

driverTest('a document is written, read, changed and deleted', async app => {
  const client = await shop(app.client())
  const values = {
    when: TimeStub.from('2024-01-02T03:04:05Z'),
    day: DateStub.from('2024-01-02'),
    big: 5_000_000_000,
  }
  const { data: made } = await client.query<Item>(fql`items.create(${{ name: 'tea', price: 4, ...values }})`)
  assert.ok(made instanceof Document)
  assert.deepEqual(made.coll, new Module('items'))
  assert.ok(made.ts instanceof TimeStub)
  const { data: read } = await client.query<Item>(fql`items.byId(${made.id})`)
  assert.deepEqual(read, made)
  const { id, coll, ts, ttl, ...fields } = read.toObject()
  assert.deepEqual(fields, { name: 'tea', price: 4, ...values })
  // A document is a valid argument, as its reference is.
  const { data: changed } = await client.query<Item>(fql`${read} { price }`)
  assert.deepEqual(changed, { price: 4 })
  const reference = new DocumentReference({ coll: 'items', id: made.id })
  const { data: updated } = await client.query<Item>(fql`${reference}!.update({ price: 5, day: null })`)
  assert.equal(updated.price, 5)
  assert.ok(!('day' in updated))
  const { data: gone } = await client.query(fql`items.byId(${made.id})!.delete()`)
  assert.ok(gone instanceof NullDocument)
  assert.equal(gone.cause, 'deleted')
})

driverTest('a missing document is a NullDocument', async app => {
  const client = await shop(app.client())
  const { data } = await client.query(fql`items.byId('7')`)
  assert.ok(data instanceof NullDocument)
  assert.equal(data.cause, 'not found')
  assert.deepEqual(data.ref, new DocumentReference({ coll: 'items', id: '7' }))
  await assert.rejects(client.query(fql`items.byId('7')!.name`), (error: unknown) => {
    assert.ok(error instanceof QueryRuntimeError)
    assert.equal(error.code, 'document_not_found')
    return true
  })
})

driverTest('documents inside documents are references; schema objects have names', async app => {
  const client = await shop(app.client())
  await client.query(fql`items.create({ id: '1', name: 'tea' })`)
  const { data } = await client.query<Item & { goesWith: DocumentReference }>(
    fql`items.create({ name: 'rice', goesWith: items.byId('1') })`,
  )
  assert.deepEqual(data.goesWith, new DocumentReference({ coll: 'items', id: '1' }))
  const { data: definition } = await client.query(fql`items.definition`)
  assert.ok(definition instanceof NamedDocument)
  assert.equal(definition.name, 'items')
})

driverTest('a violated unique constraint is a ConstraintFailureError', async app => {
  const client = app.client()
  await client.query(fql`Collection.create({ name: 'users', constraints: [{ unique: ['email'] }] })`)
  await client.query(fql`users.create({ email: 'ann@example.org' })`)
  await assert.rejects(client.query(fql`users.create({ email: 'ann@example.org' })`), (error: unknown) => {
    assert.ok(error instanceof ConstraintFailureError)
    assert.equal(error.message, 'Failed unique constraint.')
    assert.equal(error.constraint_failures.length, 1)
    return true
  })
})

driverTest('a client with the last transaction time of another client sees its writes', async app => {
  const [writer, reader] = [await shop(app.client()), app.client()]
  const { txn_ts } = await writer.query(fql`items.create({ id: '5', name: 'tea' })`)
  reader.lastTxnTs = txn_ts
  assert.equal((await reader.query<boolean>(fql`items.byId('5').exists()`)).data, true)
})

driverTest('repeated reads always return the stored version', async app => {
  const client = await shop(app.client())
  await client.query(fql`Collection.create({ name: 'makers' })`)
  const { data: maker } = await client.query<Item>(fql`makers.create({ id: 3, name: 'Ann' })`)
  const fields = { name: 'tea', day: DateStub.from('2024-01-02'), more: { tags: ['hot', null], '@x': 1 } }
  await client.query(fql`items.create(${{ id: '7', ...fields, price: 4 }})`)
  const again = async () => {
    const seen: unknown[] = []
    // The text is cached from the second read on, for each format.
    for (const format of ['tagged', 'tagged', 'tagged', 'simple', 'simple', 'simple'] as const) {
      const given = await sendFql(app.server, app.secret, 'items.byId(7)!', {}, { 'x-format': format })
      seen.push((given.json as { data: unknown }).data)
    }
    const [first, second, third, simple, simpler, simplest] = seen
    assert.deepEqual([second, third], [first, first])
    assert.deepEqual([simpler, simplest], [simple, simple])
    const { data } = await client.query<Item>(fql`items.all().first()`)
    return { data: data.toObject() as Record<string, unknown>, tagged: first, simple }
  }
  const before = await again()
  const { id, coll, ts, ttl, ...read } = before.data
  assert.deepEqual(read, { ...fields, price: 4 })
  const shown = { id: '7', coll: 'items', ...fields, day: '2024-01-02', price: 4 }
  assert.deepEqual(Object.keys(before.simple as object), ['id', 'coll', 'ts', 'name', 'day', 'more', 'price'])
  assert.deepEqual(before.simple, { ...shown, ts: (before.simple as { ts: unknown }).ts })
  await client.query(fql`items.byId(7)!.update({ price: 5 })`)
  assert.equal((await again()).data.price, 5)
  await client.query(
    fql`Collection.byName('items')!.update({ computed_fields: { twice: { body: 'item => item.price * 2' } } })`,
  )
  assert.equal((await again()).data.twice, 10)
  await client.query(fql`Collection.byName('items')!.update({ computed_fields: null })`)
  assert.equal((await again()).data.twice, undefined)
  // A reference in a document is shown with names, which may change.
  await client.query(fql`items.byId(7)!.update({ maker: ${maker} })`)
  assert.deepEqual((await again()).data.maker, new DocumentReference({ coll: 'makers', id: '3' }))
  await client.query(fql`Collection.byName('makers')!.update({ name: 'people' })`)
  assert.deepEqual((await again()).data.maker, new DocumentReference({ coll: 'people', id: '3' }))
  await client.query(fql`items.byId(7)!.update({ maker: null, "@int": "1" })`)
  const { tagged } = await again()
  assert.deepEqual(Object.keys((tagged as { '@doc': object })['@doc']), ['@object'])
})
