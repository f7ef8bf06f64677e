// Streams end as soon as the rights that they were opened with are lost, even without events.

import assert from 'node:assert/strict'
import { rootQuery } from '../support/http.ts'
import type { WireEvent } from './stream-client.ts'
import { type App, type Doc, streamTests } from './streams-app.ts'

const streamTest = streamTests()

interface WithSecret extends Doc {
  readonly secret: string
}

const target = { ref: { collection: 'things' }, id: '7' }

function assertLost({ event, txn }: WireEvent, after: number): void {
  assert.deepEqual(event, {
    code: 'permission denied',
    description: 'Authorization lost during stream evaluation.',
  })
  assert.ok(txn > after, `${txn} is not after ${after}`)
}

async function createKey(app: App): Promise<WithSecret> {
  return (await app.query({ create_key: { object: { role: 'server' } } })) as WithSecret
}

async function createUser(app: App): Promise<{ readonly user: Doc; readonly token: WithSecret }> {
  await app.query({ create_collection: { object: { name: 'users' } } })
  await app.query({
    create_role: {
      object: {
        name: 'user',
        membership: { object: { resource: { collection: 'users' } } },
        privileges: [{ object: { resource: { collection: 'things' }, actions: { object: { read: true } } } }],
      },
    },
  })
  const user = await app.create({ name: 'anna' }, undefined, 'users')
  const token = (await app.query({
    create: { tokens: null },
    params: { object: { instance: user.ref } },
  })) as WithSecret
  return { user, token }
}

streamTest('deleting a key ends its streams without an event', async app => {
  const key = await createKey(app)
  const reader = await app.stream(target, { secret: key.secret })
  const other = await app.stream(target)
  await app.delete(key.ref)
  assertLost(await reader.nextEnd(), key.ts)
  const { ts } = await app.create({ n: 1 }, '7')
  assert.equal((await other.next()).txn, ts, 'streams of other credentials go on')
})

streamTest('any change of a key ends its streams after the earlier events', async app => {
  const key = await createKey(app)
  const reader = await app.stream(target, { secret: key.secret })
  const made = await app.create({ n: 1 }, '7')
  await app.query({ update: key.ref, params: { object: { data: { object: { note: 'x' } } } } })
  assert.equal((await reader.next()).txn, made.ts)
  assertLost(await reader.nextEnd(), made.ts)
})

streamTest('the events of the transaction that revokes the rights are not delivered', async app => {
  const key = await createKey(app)
  const reader = await app.stream(target, { secret: key.secret })
  await app.query({ do: [{ create: target, params: { object: {} } }, { delete: key.ref }] })
  assertLost(await reader.nextEnd(), key.ts)
})

streamTest('deleting a token or its identity ends its streams', async app => {
  const { token, user } = await createUser(app)
  const first = await app.stream(target, { secret: token.secret })
  await app.delete(token.ref)
  assertLost(await first.nextEnd(), token.ts)
  const again = (await app.query({
    create: { tokens: null },
    params: { object: { instance: user.ref } },
  })) as WithSecret
  const second = await app.stream(target, { secret: again.secret })
  await app.update(user.ref, { name: 'otto' })
  const made = await app.create({ n: 1 }, '7')
  assert.equal((await second.next()).txn, made.ts, 'a changed identity keeps the stream')
  await app.delete(user.ref)
  assertLost(await second.nextEnd(), made.ts)
})

streamTest('deleting the identity in a scoped secret ends its streams', async app => {
  const { user } = await createUser(app)
  const id = (user.ref as { '@ref': { id: string } })['@ref'].id
  const reader = await app.stream(target, { secret: `${app.secret}:@doc/users/${id}` })
  await app.delete(user.ref)
  assertLost(await reader.nextEnd(), user.ts)
})

streamTest('changing a role ends the streams that use it, even if it still allows reading', async app => {
  const { token } = await createUser(app)
  const reader = await app.stream(target, { secret: token.secret })
  await app.query({ update: { role: 'user' }, params: { object: { data: { object: { note: 'x' } } } } })
  assertLost(await reader.nextEnd(), token.ts)
})

streamTest('deleting a database ends its streams', async app => {
  await app.query({ create_database: { object: { name: 'child' } } })
  const inChild = `${app.secret}:child:admin`
  await app.query({ create_collection: { object: { name: 'things' } } }, inChild)
  const reader = await app.stream(target, { secret: inChild })
  await app.query({ delete: { database: 'child' } })
  assertLost(await reader.nextEnd(), 0)
})

streamTest('a stream with the root secret follows another database', async app => {
  const reader = await app.stream(target, { secret: `${app.server.rootSecret}:${app.name}:admin` })
  const { ts } = await app.create({ n: 1 }, '7')
  assert.equal((await reader.next()).txn, ts)
  await rootQuery(app.server, { delete: { database: app.name } })
  assertLost(await reader.nextEnd(), ts)
})
