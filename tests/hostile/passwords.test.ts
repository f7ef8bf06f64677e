// Password guessing with a public key: owners can still log in, other databases are not affected, and responses do not
// reveal which users exist.

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { type HttpAnswer, query, send } from '../support/http.ts'
import { serverOfFile } from '../support/server.ts'

interface Tenant {
  /** The secrets of keys with the roles `admin` and `client`; apps use the latter in browsers. */
  readonly admin: string
  readonly client: string
}

const server = serverOfFile({ flags: ['--password-cost', '6'] })
let tenant: Tenant

before(async () => {
  tenant = await makeTenant('guessed-at')
})

async function makeTenant(name: string): Promise<Tenant> {
  await query(server, server.rootSecret, { create_database: { object: { name } } })
  const key = async (role: unknown) => {
    const params = { object: { database: { database: name }, role } }
    return ((await query(server, server.rootSecret, { create_key: params })) as { secret: string }).secret
  }
  const admin = await key('admin')
  await query(server, admin, { create_collection: { object: { name: 'users' } } })
  const index = {
    name: 'by_email',
    source: { collection: 'users' },
    terms: [{ object: { field: ['data', 'email'] } }],
  }
  await query(server, admin, { create_index: { object: index } })
  const body = {
    lambda: ['email', 'password'],
    expr: {
      identify: { match: { index: 'by_email' }, terms: { var: 'email' } },
      password: { var: 'password' },
    },
  }
  const identify = { name: 'identify', body: { query: body }, role: 'server' }
  await query(server, admin, { create_function: { object: identify } })
  const privileges = [{ object: { resource: { function: 'identify' }, actions: { object: { call: true } } } }]
  await query(server, admin, { create_role: { object: { name: 'browser', privileges } } })
  for (const id of ['1', '2']) {
    const email = `user${id}@example.com`
    const params = {
      object: { data: { object: { email } }, credentials: { object: { password: `right ${id}` } } },
    }
    await query(server, admin, { create: user(id), params })
  }
  return { admin, client: await key('client') }
}

function user(id: string): object {
  return { ref: { collection: 'users' }, id }
}

function logIn(secret: string, id: string, password: string): Promise<HttpAnswer> {
  return send(server, { secret, query: { login: user(id), params: { object: { password } } } })
}

test('while 150 connections guess with the client key, the owner and others can log in', async () => {
  const stop = new AbortController()
  let guesses = 0
  const guesser = async (number: number) => {
    while (!stop.signal.aborted) {
      const { status } = await logIn(tenant.client, '1', `guess ${number} ${guesses++}`)
      assert.ok(status === 400 || status === 429, String(status))
    }
  }
  const crowd = Array.from({ length: 150 }, (_, number) => guesser(number))
  const other = await makeTenant('next-door')
  for (const [secret, id] of [
    [tenant.client, '1'],
    [tenant.client, '2'],
    [tenant.admin, '1'],
    [other.client, '1'],
  ] as const) {
    const { status, text } = await logIn(secret, id, `right ${id}`)
    assert.equal(status, 201, text)
  }
  stop.abort()
  await Promise.all(crowd)
})

/** An answer without the parts that depend on time. */
function constantPart({ headers, status, text }: HttpAnswer): unknown {
  const varying = /^(date|x-txn-time|x-query-time|traceparent|x-trace.*|connection|keep-alive)$/
  return { status, text, headers: [...headers].filter(([name]) => !varying.test(name)) }
}

test('a wrong password gets the same response whether or not the user exists', async () => {
  const questions = (id: string) => [
    { login: user(id), params: { object: { password: 'wrong' } } },
    { identify: user(id), password: 'wrong' },
    { call: { function: 'identify' }, arguments: [`user${id}@example.com`, 'wrong'] },
  ]
  const caller = { object: { role: { role: 'browser' } } }
  const { secret } = (await query(server, tenant.admin, { create_key: caller })) as { secret: string }
  const unknown = questions('7')
  for (const [at, question] of questions('2').entries()) {
    const known = constantPart(await send(server, { secret, query: question }))
    assert.deepEqual(constantPart(await send(server, { secret, query: unknown[at] })), known)
    assert.ok(at === 0 || JSON.stringify(known).includes('{\\"resource\\":false}'))
  }
})

test('a query that creates a thousand keys does not delay the secrets of others', async () => {
  const made = { foreach: { lambda: 'n', expr: { create_key: { object: { role: 'client' } } } } }
  const collection = Array.from({ length: 300 }, (_, at) => at)
  const many = send(server, { secret: tenant.admin, query: { ...made, collection } })
  const other = await makeTenant('beside')
  assert.equal((await logIn(other.client, '1', 'right 1')).status, 201)
  const { status, text } = await many
  assert.equal(status, 200, text)
})
