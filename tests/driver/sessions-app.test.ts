// The session management of a whole application, as guides for this database describe it: short-lived access tokens,
// refresh tokens that are valid once, functions with their own role, and roles that check the token. Another function
// limits its calls.

import assert from 'node:assert/strict'
import type faunadb from 'faunadb'
import {
  type App,
  assertFails,
  type Client,
  type Document,
  driverTests,
  errors,
  q,
  type WithSecret,
} from './app.ts'

// Passwords are hashed at the service's normal cost, as in production.
const driverTest = driverTests({ TERRARIUM_PASSWORD_COST: undefined })

interface Tokens {
  readonly refresh: WithSecret
  readonly access: WithSecret
}

type Expr = faunadb.ExprArg

const isToken = (type: string) =>
  q.And(q.HasCurrentToken(), q.Equals(q.Select(['data', 'type'], q.Get(q.CurrentToken()), null), type))

const inSeconds = (seconds: number) => q.TimeAdd(q.Now(), seconds, 'seconds')

/** Creates a refresh token for the session, and an access token that refers to it. */
function makeTokens(account: Expr, session: Expr): Expr {
  const refresh = q.Create(q.Tokens(), {
    instance: account,
    ttl: inSeconds(28_800),
    data: { type: 'refresh', used: false, session },
  })
  const access = q.Create(q.Tokens(), {
    instance: account,
    ttl: inSeconds(600),
    data: { type: 'access', refresh: q.Select('ref', q.Var('refresh')) },
  })
  return q.Let({ refresh, access }, { refresh: q.Var('refresh'), access: q.Var('access') })
}

function deleteAccessOf(refresh: Expr): Expr {
  const access = q.Match(q.Index('access_by_refresh'), refresh)
  return q.If(q.Exists(access), q.Delete(q.Select('ref', q.Get(access))), null)
}

const session = q.Select(['data', 'session'], q.Get(q.CurrentToken()))

const login = q.Lambda(
  ['email', 'password'],
  q.Let(
    { account: q.Match(q.Index('accounts_by_email'), q.Var('email')) },
    q.If(
      q.Identify(q.Var('account'), q.Var('password')),
      makeTokens(q.Select('ref', q.Get(q.Var('account'))), q.NewId()),
      false,
    ),
  ),
)

const refresh = q.Lambda(
  [],
  q.If(
    q.Select(['data', 'used'], q.Get(q.CurrentToken())),
    q.Abort('The refresh token was used before.'),
    q.Do(
      deleteAccessOf(q.CurrentToken()),
      q.Update(q.CurrentToken(), { data: { used: true } }),
      makeTokens(q.CurrentIdentity(), session),
    ),
  ),
)

const logout = q.Lambda(
  [],
  q.Map(
    q.Paginate(q.Match(q.Index('refresh_by_session'), q.CurrentIdentity(), session)),
    q.Lambda('token', q.Do(deleteAccessOf(q.Var('token')), q.Delete(q.Var('token')))),
  ),
)

/** Keeps one entry per caller, whose history contains the calls. */
const limited = q.Lambda(
  ['calls'],
  q.Let(
    { entry: q.Match(q.Index('calls_by_account'), q.CurrentIdentity()) },
    q.If(
      q.Exists(q.Var('entry')),
      q.Let(
        {
          ref: q.Select('ref', q.Get(q.Var('entry'))),
          recent: q.Select(
            'data',
            q.Paginate(q.Events(q.Var('ref')), { size: q.Var('calls'), before: null }),
          ),
        },
        q.If(
          q.LT(q.Count(q.Var('recent')), q.Var('calls')),
          q.Do(q.Update(q.Var('ref'), {}), q.Count(q.Var('recent'))),
          q.Abort('Too many calls.'),
        ),
      ),
      q.Do(q.Create(q.Collection('calls'), { data: { account: q.CurrentIdentity() } }), 0),
    ),
  ),
)

const calling = (...names: readonly string[]) =>
  names.map(name => ({ resource: q.Function(name), actions: { call: true } }))

async function deploy(app: App): Promise<{ readonly server: Client; readonly client: Client }> {
  const admin = await app.as('admin')
  const field = (...path: readonly string[]) => ({ field: path })
  for (const name of ['accounts', 'articles', 'calls']) await admin.query(q.CreateCollection({ name }))
  const indexes = [
    {
      name: 'accounts_by_email',
      source: q.Collection('accounts'),
      terms: [field('data', 'email')],
      unique: true,
    },
    { name: 'calls_by_account', source: q.Collection('calls'), terms: [field('data', 'account')] },
    { name: 'access_by_refresh', source: q.Tokens(), terms: [field('data', 'refresh')] },
    { name: 'refresh_by_session', source: q.Tokens(), terms: [field('instance'), field('data', 'session')] },
  ]
  for (const index of indexes) await admin.query(q.CreateIndex(index))
  for (const [name, body] of Object.entries({ login, refresh, logout, limited })) {
    await admin.query(q.CreateFunction({ name, body: q.Query(body), role: 'server' }))
  }
  const membership = (type: string) => ({
    resource: q.Collection('accounts'),
    predicate: q.Query(q.Lambda('account', isToken(type))),
  })
  const reading = { resource: q.Collection('articles'), actions: { read: true } }
  await admin.query(
    q.CreateRole({
      name: 'reader',
      membership: [membership('access')],
      privileges: [reading, ...calling('limited')],
    }),
  )
  await admin.query(
    q.CreateRole({
      name: 'renewer',
      membership: [membership('refresh')],
      privileges: calling('refresh', 'logout'),
    }),
  )
  const role = await admin.query<Document>(q.CreateRole({ name: 'visitor', privileges: calling('login') }))
  const key = await admin.query<WithSecret>(q.CreateKey({ role: role.ref }))
  const account = { data: { email: 'ann@example.com' }, credentials: { password: 'a long secret' } }
  await admin.query(q.Create(q.Collection('accounts'), account))
  return { server: await app.as('server'), client: app.client(key.secret) }
}

const logsIn = (client: Client) => client.query<Tokens>(q.Call('login', 'ann@example.com', 'a long secret'))

driverTest('an access token can read, a refresh token can only renew', async app => {
  const { server, client } = await deploy(app)
  const article = await server.query<Document>(
    q.Create(q.Collection('articles'), { data: { title: 'News' } }),
  )
  assert.equal(await client.query(q.Call('login', 'ann@example.com', 'a wrong secret')), false)
  await assert.rejects(client.query(q.Get(article.ref)), errors.PermissionDenied)

  const tokens = await logsIn(client)
  const [access, renewal] = [app.client(tokens.access.secret), app.client(tokens.refresh.secret)]
  assert.deepEqual(await access.query(q.Get(article.ref)), article)
  await assert.rejects(renewal.query(q.Get(article.ref)), errors.PermissionDenied)
  await assert.rejects(access.query(q.Call('refresh')), errors.PermissionDenied)
})

driverTest('a refresh token is valid once, and renewing deletes its access token', async app => {
  const { client } = await deploy(app)
  const first = await logsIn(client)
  const renewal = app.client(first.refresh.secret)
  const second = await renewal.query<Tokens>(q.Call('refresh'))
  assert.notEqual(second.access.secret, first.access.secret)
  await assert.rejects(app.client(first.access.secret).query(q.CurrentIdentity()), errors.Unauthorized)
  assert.ok(await app.client(second.access.secret).query(q.CurrentIdentity()))

  const failure = await renewal.query(q.Call('refresh')).catch((error: unknown) => error)
  assert.ok(failure instanceof errors.BadRequest)
  assert.deepEqual(failure.requestResult.responseContent, {
    errors: [
      {
        position: [],
        code: 'call error',
        description: 'Calling the function resulted in an error.',
        cause: [
          {
            position: ['expr', 'then'],
            code: 'transaction aborted',
            description: 'The refresh token was used before.',
          },
        ],
      },
    ],
  })
})

driverTest('a logout deletes every token of its session and of no other session', async app => {
  const { client } = await deploy(app)
  const [here, there] = [await logsIn(client), await logsIn(client)]
  const renewed = await app.client(here.refresh.secret).query<Tokens>(q.Call('refresh'))
  const page = await app.client(renewed.refresh.secret).query<{ data: unknown[] }>(q.Call('logout'))
  assert.equal(page.data.length, 2)
  for (const { secret } of [here.refresh, renewed.refresh, renewed.access]) {
    await assert.rejects(app.client(secret).query(q.CurrentIdentity()), errors.Unauthorized)
  }
  assert.ok(await app.client(there.access.secret).query(q.CurrentIdentity()))
})

driverTest('a function limits its calls by the history of a document', async app => {
  const { client } = await deploy(app)
  const { access } = await logsIn(client)
  const caller = app.client(access.secret)
  const answers: unknown[] = []
  for (let call = 0; call < 3; call += 1) answers.push(await caller.query(q.Call('limited', 3)))
  assert.deepEqual(answers, [0, 1, 2])
  await assertFails(caller.query(q.Call('limited', 3)), errors.BadRequest, { code: 'call error' })
})
