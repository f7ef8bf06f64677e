// Explanations of permission checks in queries of version 10.

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { send, sendFql } from '../support/http.ts'
import { serverOfFile } from '../support/server.ts'

interface Decision {
  readonly position: readonly (string | number)[]
  readonly action: string
  readonly resource: object
  readonly document?: object
  readonly allowed: boolean
  readonly decided_by: string
  readonly considered: readonly {
    readonly role: { readonly name: string }
    readonly grant: boolean
    readonly failure?: readonly { readonly code: string; readonly summary: string }[]
  }[]
}

interface Explanation {
  readonly result?: unknown
  readonly roles?: unknown
  readonly errors?: readonly { readonly code: string; readonly description: string }[]
  readonly memberships?: readonly { readonly role: { readonly name: string }; readonly grant: boolean }[]
  readonly decisions: readonly Decision[]
}

const server = serverOfFile()

async function run(query: string): Promise<unknown> {
  const { json, text } = await sendFql(server, server.rootSecret, query)
  const { data } = json as { readonly data?: unknown }
  assert.notEqual(data, undefined, text)
  return data
}

async function explain(query: unknown, as: unknown, more: object = {}): Promise<Explanation> {
  const request = { path: '/api/v1/explain', secret: server.rootSecret, query: { query, as, ...more } }
  const { json, status, text } = await send(server, request)
  assert.equal(status, 200, text)
  return (json as { readonly resource: Explanation }).resource
}

before(async () => {
  await run(`
    Collection.create({ name: "Note", indexes: { byN: { terms: [{ field: "n" }] } } })
    Collection.create({ name: "User" })
    Collection.create({ name: "Secret", indexes: { byN: { terms: [{ field: "n" }] } } })
  `)
  await run(`
    User.create({ id: 1 })
    Note.create({ id: 1, n: 1, owner: User("1") })
    Note.create({ id: 2, n: 1, owner: User("2") })
  `)
  await run('Function.create({ name: "peek", body: "id => Note.byId(id)!.n" })')
  await run(`
    Role.create({ name: "own", membership: { resource: "User" }, privileges: [
      { resource: "Note", actions: { read: "d => d.owner == Query.identity()" } },
      { resource: "peek", actions: { call: true } },
    ] })
    Role.create({ name: "faulty", membership: { resource: "User" }, privileges: [
      { resource: "Note", actions: { read: "d => d.none.x", create: true } },
    ] })
    Role.create({ name: "others", membership: { resource: "User", predicate: "u => u.id == '2'" } })
  `)
})

test('a denial shows its line and column, and the result of every predicate', async () => {
  const { decisions, errors, memberships } = await explain(
    'let a = 1\n[Note.byId(a)!, Note.byId(2)!]',
    'User("1")',
  )
  assert.equal(errors?.[0]?.code, 'null_value')
  assert.deepEqual(
    memberships?.map(({ role, grant }) => [role.name, grant]),
    [
      ['own', true],
      ['faulty', true],
      ['others', false],
    ],
  )
  assert.deepEqual(
    decisions.map(({ action, allowed, document, position }) => [action, allowed, document, position]),
    [
      ['read', true, { id: '1', coll: 'Note' }, ['*query*', 2, 11]],
      ['read', false, { id: '2', coll: 'Note' }, ['*query*', 2, 26]],
    ],
  )
  const [own, faulty] = decisions[1]?.considered ?? []
  const grants = [own?.role.name, own?.grant, faulty?.role.name, faulty?.grant]
  assert.deepEqual(grants, ['own', false, 'faulty', false])
  assert.equal(faulty?.failure?.[0]?.code, 'invalid_null_access')
  assert.match(faulty?.failure?.[0]?.summary ?? '', /d => d\.none\.x\n/)
})

test('decisions in functions are shown at the position in their text', async () => {
  const { decisions, result } = await explain(
    { fql: ['peek(', { value: { '@int': '1' } }, ')'] },
    'User("1")',
  )
  assert.equal(result, 1)
  assert.deepEqual(decisions[0]?.position, ['*query*', 1, 5])
  const first = [decisions[0]?.action, decisions[0]?.resource]
  assert.deepEqual(first, ['call', { name: 'peek', coll: 'Function' }])
  assert.deepEqual(decisions[1]?.position, ['*udf:peek*', 1, 16])
})

test('indexes, elements of sets and created documents are shown, and nothing is written', async () => {
  const denied = await explain('Secret.byN(1)', 'Role.byName("own")')
  assert.deepEqual(denied.roles, [{ name: 'own', coll: 'Role' }])
  assert.deepEqual(
    denied.decisions.map(({ action, allowed, decided_by, resource }) => [
      action,
      allowed,
      decided_by,
      resource,
    ]),
    [['read', false, 'nothing', { name: 'Secret', coll: 'Collection' }]],
  )
  const found = await explain('Note.byN(n).map(.n).toArray()', 'User("1")', { arguments: { n: 1 } })
  assert.deepEqual(found.result, [1])
  const rejected = found.decisions.filter(({ action, allowed }) => action === 'read' && !allowed)
  const hidden = rejected.map(({ document }) => document)
  assert.deepEqual(hidden, [{ id: '2', coll: 'Note' }])
  const made = await explain('Note.create({ n: 5 }) { n, ts }', 'server')
  assert.equal((made.result as { n: number }).n, 5)
  assert.equal(made.decisions[0]?.decided_by, 'built-in role')
  assert.equal(await run('Note.all().count()'), 2)
})

test('invalid queries, unknown callers and missing rights are reported', async () => {
  assert.equal((await explain('1 +', 'server')).errors?.[0]?.code, 'invalid_query')
  const rejected = async (query: object, secret = server.rootSecret) => {
    const { json, status } = await send(server, { path: '/api/v1/explain', secret, query })
    const [error] = (json as { errors: readonly { code: string; description: string }[] }).errors
    return [status, error?.code, error?.description.split('\n')[0]]
  }
  const whom = '"as" must be a built-in role or a document of this database.'
  assert.deepEqual(await rejected({ query: '1', as: 'User' }), [400, 'bad request', whom])
  assert.deepEqual(await rejected({ query: '1', as: 'nobody(' }), [400, 'bad request', '"as" fails:'])
  const missing = 'The document that "as" refers to does not exist.'
  assert.deepEqual(await rejected({ query: '1', as: 'User("7")' }), [400, 'bad request', missing])
  assert.deepEqual((await rejected({ as: 'server' })).slice(0, 2), [400, 'bad request'])
  const secret = (await run('Key.create({ role: "server" }).secret')) as string
  assert.deepEqual((await rejected({ query: '1', as: 'server' }, secret)).slice(0, 2), [403, 'forbidden'])
})
