// Collections and their documents: created, read, changed, replaced and deleted. Invalid writes are rejected.

import assert from 'node:assert/strict'
import {
  type App,
  assertFails,
  type Client,
  type Document,
  driverTests,
  errors,
  q,
  type Ref,
  values,
} from './app.ts'

const driverTest = driverTests()

async function withCollection(app: App): Promise<Client> {
  const server = await app.as('server')
  await server.query(q.CreateCollection({ name: 'spells' }))
  return server
}

driverTest('a collection is returned with its defaults', async app => {
  const server = await app.as('server')
  const made = await server.query<{ ref: Ref; ts: number; history_days: number; name: string }>(
    q.CreateCollection({ name: 'spells', data: { owner: 'me' } }),
  )
  const { ts, ...rest } = made
  assert.equal(typeof ts, 'number')
  assert.deepEqual(rest, {
    ref: new values.Ref('spells', values.Native.COLLECTIONS),
    name: 'spells',
    history_days: 30,
    data: { owner: 'me' },
  })
  await assertFails(server.query(q.CreateCollection({ name: 'spells' })), errors.BadRequest, {
    code: 'instance already exists',
    position: ['create_collection'],
  })
})

driverTest('a document keeps every kind of value', async app => {
  const server = await withCollection(app)
  const other = await server.query<Document>(q.Create(q.Collection('spells')))
  const data = {
    text: 'héllo ☃',
    integer: Number.MAX_SAFE_INTEGER,
    double: 1.5,
    yes: true,
    list: [1, 'two', [3]],
    object: { deep: { er: 'value' } },
    ref: other.ref,
    time: new values.FaunaTime('2020-02-29T12:00:00.123456789Z'),
    date: new values.FaunaDate('2020-02-29'),
    bytes: new values.Bytes('AQID'),
  }
  const made = await server.query<Document>(q.Create(q.Collection('spells'), { data }))
  assert.deepEqual(made.data, data)
  assert.deepEqual(await server.query(q.Get(made.ref)), made)
})

driverTest('create returns ref and ts; ids increase; a given id is kept', async app => {
  const server = await withCollection(app)
  const first = await server.query<Document>(q.Create(q.Collection('spells')))
  const second = await server.query<Document>(q.Create(q.Collection('spells')))
  assert.deepEqual(Object.keys(first), ['ref', 'ts'])
  assert.ok(BigInt(second.ref.id) > BigInt(first.ref.id))
  assert.ok(second.ts > first.ts)
  assert.deepEqual(first.ref.collection, new values.Ref('spells', values.Native.COLLECTIONS))

  const ref = q.Ref(q.Collection('spells'), '181388642046968320')
  const given = await server.query<Document>(q.Create(ref, { data: { n: 1 } }))
  assert.equal(given.ref.id, '181388642046968320')
  await assertFails(server.query(q.Create(ref)), errors.BadRequest, {
    code: 'instance already exists',
    description: 'Document already exists.',
    position: ['create'],
  })
})

driverTest('delete returns the last state, and the document no longer exists', async app => {
  const server = await withCollection(app)
  const made = await server.query<Document>(q.Create(q.Collection('spells'), { data: { a: 1 } }))
  assert.equal(await server.query(q.Exists(made.ref)), true)
  assert.deepEqual(await server.query(q.Delete(made.ref)), made)
  assert.equal(await server.query(q.Exists(made.ref)), false)
  const notFound = { code: 'instance not found', description: 'Document not found.' }
  await assertFails(server.query(q.Get(made.ref)), errors.NotFound, { ...notFound, position: [] })
  await assertFails(server.query(q.Delete(made.ref)), errors.NotFound, { ...notFound, position: [] })
  await assertFails(server.query(q.Update(made.ref, {})), errors.NotFound, {
    ...notFound,
    position: ['update'],
  })
  await assertFails(server.query(q.Replace(made.ref, {})), errors.NotFound, {
    ...notFound,
    position: ['replace'],
  })
})

driverTest('errors of invalid writes name the position and the field', async app => {
  const server = await withCollection(app)
  await assertFails(server.query(q.Create(q.Collection('nowhere'))), errors.BadRequest, {
    code: 'invalid ref',
    description: "Ref refers to undefined collection 'nowhere'",
    position: ['create'],
  })
  await assertFails(server.query(q.Create(q.Collection('spells'), { data: 'text' })), errors.BadRequest, {
    code: 'validation failed',
    description: 'document data is not valid.',
    position: ['create'],
    failures: [{ field: ['data'], code: 'invalid type' }],
  })
  await assertFails(server.query(q.CreateCollection({})), errors.BadRequest, {
    code: 'validation failed',
    position: ['create_collection'],
    failures: [{ field: ['name'], code: 'value required' }],
  })
  await assertFails(server.query([1, q.Get('text')]), errors.BadRequest, {
    code: 'invalid argument',
    position: [1, 'get'],
  })
})
