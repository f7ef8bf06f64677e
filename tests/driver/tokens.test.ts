// Sessions: several per user, with their own data. They are listed and ended. Passwords change.

import assert from 'node:assert/strict'
import {
  type App,
  assertFails,
  type Client,
  driverTests,
  errors,
  type Page,
  q,
  type Ref,
  type WithSecret,
} from './app.ts'
import { byEmail, createUser, password, withUsers } from './users.ts'

const driverTest = driverTests()

type Token = WithSecret & { readonly instance: Ref }

interface Session {
  readonly server: Client
  readonly user: Ref
  readonly phone: Token
  readonly laptop: Token
}

/** A user with sessions on two devices, and another user whose session must not be visible. */
async function twoSessions(app: App): Promise<Session> {
  const server = await withUsers(app)
  const user = await createUser(server, 'ann@example.org')
  const other = await createUser(server, 'bob@example.org')
  const client = await app.as('client')
  const login = (email: string, name: string) =>
    client.query<Token>(q.Login(byEmail(email), { password, data: { name } }))
  const phone = await login('ann@example.org', 'phone')
  const laptop = await login('ann@example.org', 'laptop')
  await server.query(q.Login(other.ref, { password, data: { name: 'of somebody else' } }))
  return { server, user: user.ref, phone, laptop }
}

/** The list of "your devices" in an application: the names of the user's own tokens. */
const ownTokenNames = q.Map(
  q.Paginate(q.Match(q.Index('tokens_by_instance'), q.Select('instance', q.Get(q.CurrentToken())))),
  q.Lambda('token', q.Select(['data', 'name'], q.Get(q.Var('token')))),
)

driverTest("a token has data, and is in the list of the user's tokens", async app => {
  const { phone, laptop } = await twoSessions(app)
  assert.deepEqual(phone.data, { name: 'phone' })
  assert.notEqual(phone.secret, laptop.secret)
  const listed = await app.client(phone.secret).query(ownTokenNames)
  assert.deepEqual(listed, { data: ['phone', 'laptop'] })
})

driverTest("the server lists a user's tokens by instance", async app => {
  const { server, user, phone, laptop } = await twoSessions(app)
  const page = await server.query<Page<Ref>>(q.Paginate(q.Match(q.Index('tokens_by_instance'), user)))
  assert.deepEqual(page.data, [phone.ref, laptop.ref])
})

driverTest('a user ends one of the other sessions by deleting its token', async app => {
  const { server, phone, laptop } = await twoSessions(app)
  const onPhone = app.client(phone.secret)
  await onPhone.query(q.Delete(laptop.ref))
  await assertFails(app.client(laptop.secret).query(1), errors.Unauthorized, { code: 'unauthorized' })
  const others = await server.query<Page<Ref>>(q.Paginate(q.Tokens()))
  const foreign = others.data.find(ref => ref.id !== phone.ref.id)
  assert.ok(foreign)
  await assertFails(onPhone.query(q.Delete(foreign)), errors.PermissionDenied, { code: 'permission denied' })
})

driverTest('a changed password keeps tokens valid and replaces the old password', async app => {
  const { server, user, phone } = await twoSessions(app)
  await server.query(q.Update(user, { credentials: { password: 'new password' } }))
  assert.deepEqual(await app.client(phone.secret).query(q.CurrentIdentity()), user)
  await assertFails(server.query(q.Login(user, { password })), errors.BadRequest, {
    code: 'authentication failed',
    position: [],
  })
  assert.equal(await server.query(q.Identify(user, password)), false)
  assert.equal(await server.query(q.Identify(user, 'new password')), true)
  const token = await server.query<Token>(q.Login(user, { password: 'new password' }))
  assert.deepEqual(token.instance, user)
})

driverTest('callers who may create tokens can do so without a password', async app => {
  const { server, user } = await twoSessions(app)
  const token = await server.query<Token>(q.Create(q.Tokens(), { instance: user, data: { name: 'made' } }))
  assert.deepEqual(await app.client(token.secret).query(q.CurrentIdentity()), user)
})
