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
