// Users log in by reference or through a public index, with the right password only, and act with their own identity.

import assert from 'node:assert/strict'
import { assertFails, type Document, driverTests, errors, q, type Ref, type WithSecret } from './app.ts'
import { byEmail, createUser, password, withUsers } from './users.ts'

const driverTest = driverTests()

type Token = WithSecret & { readonly instance: Ref }

const authenticationFailed = {
  code: 'authentication failed',
  description: 'The document was not found or provided password was incorrect.',
}

driverTest('credentials are written but never shown', async app => {
  const server = await withUsers(app)
  const user = await createUser(server, 'ann@example.org')
  assert.deepEqual(Object.keys(user).sort(), ['data', 'ref', 'ts'])
  assert.deepEqual(user.data, { email: 'ann@example.org' })
  assert.deepEqual(await server.query(q.Get(user.ref)), user)
})

driverTest('a client key can log a user in through the public index, and nothing else', async app => {
  const server = await withUsers(app)
  const client = await app.as('client')
  const user = await createUser(server, 'ann@example.org')
  const token = await client.query<Token>(q.Login(byEmail('ann@example.org'), { password }))
  assert.deepEqual(token.instance, user.ref)
  assert.match(token.secret, /^fn[\w-]{49}$/)

  const denied = { code: 'permission denied' }
  await assertFails(client.query(q.Get(user.ref)), errors.PermissionDenied, denied)
  await assertFails(client.query(q.Update(user.ref, { data: {} })), errors.PermissionDenied, denied)
  await assertFails(client.query(q.Delete(user.ref)), errors.PermissionDenied, denied)
  await assertFails(client.query(q.Create(q.Collection('users'))), errors.PermissionDenied, denied)
  await assertFails(
    client.query(q.Create(q.Tokens(), { instance: user.ref })),
    errors.PermissionDenied,
    denied,
  )
  // A caller without rights sees an empty set of documents.
  assert.deepEqual(await client.query(q.Paginate(q.Documents(q.Collection('users')))), { data: [] })
})

driverTest('an index that is not public does not log a client key in', async app => {
  const server = await withUsers(app)
  await server.query(
    q.CreateIndex({
      name: 'private_users_by_email',
      source: q.Collection('users'),
      terms: [{ field: ['data', 'email'] }],
    }),
  )
  await createUser(server, 'ann@example.org')
  const client = await app.as('client')
  const set = q.Match(q.Index('private_users_by_email'), 'ann@example.org')
  await assertFails(client.query(q.Login(set, { password })), errors.PermissionDenied, {
    code: 'permission denied',
    position: ['login'],
  })
})

driverTest('login accepts a reference, and shows the secret once', async app => {
  const server = await withUsers(app)
  const user = await createUser(server, 'ann@example.org')
  const { secret, ...rest } = await server.query<Token>(q.Login(user.ref, { password }))
  const stored = await server.query<{ hashed_secret: string }>(q.Get(rest.ref))
  const { hashed_secret, ...shown } = stored
  assert.match(hashed_secret, /^\$2[ab]\$/)
  assert.deepEqual(shown, rest)
  assert.ok(secret.length > 0)
})

driverTest('a missing user and a wrong password give the same error', async app => {
  const server = await withUsers(app)
  const user = await createUser(server, 'ann@example.org')
  const client = await app.as('client')
  const attempts = [
    q.Login(user.ref, { password: 'wrong' }),
    q.Login(user.ref, { password: `${password} ` }),
    q.Login(user.ref, {}),
    q.Login(byEmail('ann@example.org'), { password: 'wrong' }),
    q.Login(byEmail('nobody@example.org'), { password }),
    q.Login(q.Ref(q.Collection('users'), '12345'), { password }),
  ]
  for (const attempt of attempts) {
    await assertFails(client.query(attempt), errors.BadRequest, { ...authenticationFailed, position: [] })
  }
})

driverTest('identify checks a password without creating a token', async app => {
  const server = await withUsers(app)
  const user = await createUser(server, 'ann@example.org')
  const client = await app.as('client')
  assert.equal(await client.query(q.Identify(user.ref, password)), true)
  assert.equal(await client.query(q.Identify(byEmail('ann@example.org'), password)), true)
  assert.equal(await client.query(q.Identify(user.ref, 'wrong')), false)
  assert.equal(await client.query(q.Identify(byEmail('nobody@example.org'), password)), false)
  assert.equal(await server.query(q.Exists(q.Match(q.Index('tokens_by_instance'), user.ref))), false)
})

driverTest('a token knows its identity', async app => {
  const server = await withUsers(app)
  const user = await createUser(server, 'ann@example.org')
  const token = await server.query<Token>(q.Login(user.ref, { password }))
  const me = app.client(token.secret)
  assert.deepEqual(await me.query(q.CurrentIdentity()), user.ref)
  assert.equal(await me.query(q.HasCurrentIdentity()), true)
  assert.deepEqual(await me.query(q.CurrentToken()), token.ref)
  assert.equal(await server.query(q.HasCurrentIdentity()), false)
  await assertFails(server.query(q.CurrentIdentity()), errors.BadRequest, {
    code: 'missing identity',
    description: 'Authentication does not contain an identity',
    position: [],
  })
})

driverTest('a user without a role can read only the own document', async app => {
  const server = await withUsers(app)
  const ann = await createUser(server, 'ann@example.org')
  const bob = await createUser(server, 'bob@example.org')
  const token = await server.query<Token>(q.Login(ann.ref, { password }))
  const me = app.client(token.secret)
  assert.deepEqual(await me.query(q.Get(ann.ref)), ann)
  assert.deepEqual(await me.query(q.Get(q.CurrentIdentity())), ann)
  const denied = { code: 'permission denied' }
  await assertFails(me.query(q.Get(bob.ref)), errors.PermissionDenied, denied)
  await assertFails(me.query(q.Update(ann.ref, { data: { x: 1 } })), errors.PermissionDenied, denied)
  await assertFails(me.query(q.Delete(ann.ref)), errors.PermissionDenied, denied)
})

driverTest('deleting a user ends all sessions and deletes the password', async app => {
  const server = await withUsers(app)
  const user = await createUser(server, 'ann@example.org')
  const token = await server.query<Token>(q.Login(user.ref, { password }))
  await server.query(q.Delete(user.ref))
  await assertFails(app.client(token.secret).query(1), errors.Unauthorized, { code: 'unauthorized' })
  await assertFails(server.query(q.Login(user.ref, { password })), errors.BadRequest, authenticationFailed)
  await server.query<Document>(q.Create(user.ref, { data: {} }))
  await assertFails(app.client(token.secret).query(1), errors.Unauthorized, { code: 'unauthorized' })
  await assertFails(server.query(q.Login(user.ref, { password })), errors.BadRequest, authenticationFailed)
})
