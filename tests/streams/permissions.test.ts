// Viewers see only events that they may read at the time of the event. Hidden events leave no trace.

import assert from 'node:assert/strict'
import { lambda, privilege, streamTests, wire } from './streams-app.ts'

const streamTest = streamTests()

const things = { collection: 'things' }
const target = (id: string) => ({ ref: things, id })
const dataOf = (field: string, from: unknown) => ({ select: ['data', field], from, default: null })

streamTest('without the right to read, a stream opens and stays silent', async app => {
  await app.query({ create_collection: { object: { name: 'open' } } })
  const { secret } = await app.keyOfRole([privilege({ collection: 'open' }, { read: true })])
  const silent = await app.stream(target('7'), { secret })
  const open = await app.stream({ ref: { collection: 'open' }, id: '7' }, { secret })
  await app.create({ n: 1 }, '7')
  const { ts } = await app.create({ n: 1 }, '7', 'open')
  assert.equal((await open.next()).txn, ts)
  // An event that was sent by mistake would arrive before the error.
  await app.query({ delete: { role: 'tested' } })
  assert.equal((await silent.nextEnd()).type, 'error')
})

streamTest('a predicate decides for each event, at the time of the event', async app => {
  const isPublic = lambda('ref', { equals: [dataOf('public', { get: { var: 'ref' } }), true] })
  const { secret } = await app.keyOfRole([privilege(things, { read: isPublic })])
  const reader = await app.stream(target('7'), { secret })
  const seen: number[] = []
  seen.push((await app.create({ public: true, n: 1 }, '7')).ts)
  await app.update(target('7'), { public: false, n: 2 })
  seen.push((await app.update(target('7'), { public: true, n: 3 })).ts)
  await app.delete(target('7'))
  seen.push((await app.create({ public: true, n: 4 }, '7')).ts)
  const told = [await reader.next(), await reader.next(), await reader.next()]
  const times = told.map(({ txn }) => txn)
  assert.deepEqual(times, seen)
  const actions = told.map(({ event }) => (event as { action: string }).action)
  assert.deepEqual(actions, ['create', 'update', 'create'])
})

streamTest('predicates know the identity of the viewer', async app => {
  await app.query({ create_collection: { object: { name: 'users' } } })
  const own = { equals: [dataOf('owner', { get: { var: 'ref' } }), { current_identity: null }] }
  const role = {
    object: {
      name: 'user',
      membership: { object: { resource: { collection: 'users' } } },
      privileges: [privilege(things, { read: lambda('ref', own) })],
    },
  }
  await app.query({ create_role: role })
  const readers = []
  const users = []
  for (const name of ['anna', 'otto']) {
    const { ref } = await app.create({ name }, undefined, 'users')
    users.push(ref)
    const token = (await app.query({ create: { tokens: null }, params: { object: { instance: ref } } })) as {
      secret: string
    }
    readers.push(await app.stream({ documents: things }, { secret: token.secret }))
  }
  const make = (owner: unknown) =>
    app.query({ create: things, params: { object: { data: { object: { owner } } } } }) as Promise<{
      ts: number
    }>
  const first = await make(users[0])
  const second = await make(users[1])
  assert.equal((await readers[0]?.next())?.txn, first.ts)
  assert.equal((await readers[1]?.next())?.txn, second.ts)
})

streamTest('rewritten history needs the right to read history', async app => {
  const made = await app.create({ n: 1 }, '7')
  const plain = await app.keyOfRole([privilege(things, { read: true })])
  const reader = await app.stream(target('7'), { secret: plain.secret })
  const params = wire({ data: { n: 0 } })
  await app.query({ insert: target('7'), ts: made.ts - 1000, action: 'create', params })
  const { ts } = await app.update(target('7'), { n: 2 })
  assert.equal((await reader.next()).txn, ts)
})

streamTest('the right to read history alone shows only rewritten history', async app => {
  const made = await app.create({ n: 1 }, '7')
  const { secret } = await app.keyOfRole([privilege(things, { history_read: true })])
  const reader = await app.stream(target('7'), { secret })
  await app.update(target('7'), { n: 2 })
  const params = wire({ data: { n: 0 } })
  await app.query({ insert: target('7'), ts: made.ts - 1000, action: 'create', params })
  assert.equal((await reader.next()).type, 'history_rewrite')
})

const sets: readonly (readonly [string, Record<string, unknown>, Record<string, unknown>, boolean])[] = [
  ['the index and the documents', { read: true }, { read: true }, true],
  ['the index without the documents', { read: true }, {}, false],
  ['the documents without the index', {}, { read: true }, false],
  ['the index without restriction', { unrestricted_read: true }, {}, true],
  [
    'the index for other terms',
    { read: lambda('terms', { equals: [{ var: 'terms' }, ['blue']] }) },
    { read: true },
    false,
  ],
  [
    'the index for these terms',
    { read: lambda('terms', { equals: [{ var: 'terms' }, ['red']] }) },
    { read: true },
    true,
  ],
]

for (const [title, index, documents, shows] of sets) {
  streamTest(
    `a set of an index and the right to read ${title}: ${shows ? 'visible' : 'silent'}`,
    async app => {
      const terms = [{ object: { field: ['data', 'team'] } }]
      await app.query({
        create_index: { object: { name: 'by_team', source: things, terms } },
      })
      const { secret } = await app.keyOfRole([
        privilege({ index: 'by_team' }, index),
        privilege(things, documents),
      ])
      const reader = await app.stream({ match: { index: 'by_team' }, terms: 'red' }, { secret })
      await app.create({ team: 'red' })
      await app.query({ delete: { role: 'tested' } })
      assert.equal((await reader.next()).type, shows ? 'set' : 'error')
    },
  )
}

streamTest('the unrestricted right shows all documents of a collection', async app => {
  const { secret } = await app.keyOfRole([privilege(things, { unrestricted_read: true })])
  const reader = await app.stream({ documents: things }, { secret })
  const { ts } = await app.create({ n: 1 })
  assert.equal((await reader.next()).txn, ts)
})

streamTest('a set shows only its readable documents', async app => {
  const isPublic = lambda('ref', { equals: [dataOf('public', { get: { var: 'ref' } }), true] })
  const { secret } = await app.keyOfRole([privilege(things, { read: isPublic })])
  const reader = await app.stream({ documents: things }, { secret })
  const make = (open: boolean) => ({
    create: things,
    params: { object: { data: { object: { public: open } } } },
  })
  const made = (await app.query([make(false), make(true), make(false)])) as { ref: unknown; ts: number }[]
  const { event, txn } = await reader.next()
  assert.deepEqual([txn, event], [made[1]?.ts, { action: 'add', document: { ref: made[1]?.ref, ts: txn } }])
  const later = await app.create({ public: true })
  assert.equal((await reader.next()).txn, later.ts)
})
