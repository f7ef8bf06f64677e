// The service without a driver: both authentication schemes, the routes besides queries, and invalid requests.

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { keyOfNewDatabase, query, rootQuery, send } from '../support/http.ts'
import { serverOfFile } from '../support/server.ts'

const server = serverOfFile()
let secret: string
let tokenSecret: string
before(async () => {
  secret = await keyOfNewDatabase(server, 'plain', 'server')
  await query(server, secret, { create_collection: { object: { name: 'users' } } })
  const params = { object: { credentials: { object: { password: 'secret' } } } }
  const user = (await query(server, secret, { create: { collection: 'users' }, params })) as { ref: unknown }
  const login = { login: user.ref, params: { object: { password: 'secret' } } }
  tokenSecret = ((await query(server, secret, login)) as { secret: string }).secret
})

test('Basic and Bearer authentication are equivalent', async () => {
  for (const scheme of ['basic', 'bearer'] as const) {
    const answer = await send(server, { secret, scheme, query: { add: [1, 2] } })
    assert.equal(answer.status, 200)
    assert.equal(answer.text, '{"resource":3}')
    assert.equal(answer.headers.get('content-type'), 'application/json;charset=utf-8')
    assert.match(answer.headers.get('x-txn-time') ?? '', /^\d{16}$/)
  }
})

test('a wrong or missing secret returns 401', async () => {
  const requests = [
    {},
    { secret: 'wrong' },
    { secret: 'wrong', scheme: 'basic' as const },
    { secret: `${secret}x` },
  ]
  for (const request of requests) {
    const answer = await send(server, { ...request, query: 1 })
    assert.equal(answer.status, 401)
    assert.deepEqual(answer.json, { errors: [{ code: 'unauthorized', description: 'Unauthorized' }] })
    assert.equal(answer.headers.get('www-authenticate'), 'Basic realm="Unauthorized"')
  }
})

test('GET /tokens/self returns the caller token in the form of the API version', async () => {
  const get = (headers: Record<string, string>) =>
    send(server, { secret: tokenSecret, scheme: 'basic', method: 'GET', path: '/tokens/self', headers })
  const answer = await get({})
  assert.equal(answer.status, 200)
  const { resource } = answer.json as {
    resource: { ref: unknown; instance: { '@ref': object }; secret?: string }
  }
  assert.ok('collection' in resource.instance['@ref'])
  assert.equal(resource.secret, undefined)

  const plain = await fetch(`${server.url}/tokens/self`, {
    headers: { authorization: `Basic ${Buffer.from(`${tokenSecret}:`).toString('base64')}` },
  })
  assert.equal(plain.status, 200)
  const older = (await plain.json()) as { resource: { instance: { '@ref': object } } }
  assert.ok('class' in older.resource.instance['@ref'])
  assert.ok(!('collection' in older.resource.instance['@ref']))

  const withKey = await send(server, { secret, method: 'GET', path: '/tokens/self' })
  assert.equal(withKey.status, 404)
})

test('GET /ping needs no secret', async () => {
  const answer = await send(server, { method: 'GET', path: '/ping?scope=node' })
  assert.equal(answer.status, 200)
  assert.deepEqual(answer.json, { resource: 'Scope node is OK' })
})

test('a created document returns 201', async () => {
  const answer = await send(server, { secret, query: { create: { collection: 'users' } } })
  assert.equal(answer.status, 201)
})

test('invalid requests get a clear error, and the service continues', async () => {
  const deep = `${'['.repeat(2000)}1${']'.repeat(2000)}`
  const cases: [body: string | undefined, status: number, code: string][] = [
    ['{"add":[1,', 400, 'invalid expression'],
    [undefined, 400, 'invalid expression'],
    [deep, 400, 'invalid expression'],
    ['{"no_such_function":1}', 400, 'invalid expression'],
    ['{"get":"text"}', 400, 'invalid argument'],
    [`"${'x'.repeat(8_388_608)}"`, 413, 'request too large'],
  ]
  for (const [body, status, code] of cases) {
    const answer = await send(server, { secret, ...(body === undefined ? {} : { body }) })
    assert.equal(answer.status, status, body?.slice(0, 40) ?? 'no body')
    const { errors } = answer.json as { errors: { code: string; description: string }[] }
    assert.equal(errors[0]?.code, code)
    assert.doesNotMatch(answer.text, /\.ts:\d|at .*node:/, 'no stack trace')
  }
  const missing = await send(server, { method: 'GET', path: '/nowhere' })
  assert.equal(missing.status, 404)
  const wrongMethod = await send(server, { secret, method: 'PUT', query: 1 })
  assert.equal(wrongMethod.status, 405)
  assert.equal(await rootQuery(server, { add: [1, 1] }), 2)
})
