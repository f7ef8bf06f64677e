// Visibility of native collections in version 10 for roles whose predicates decide about each document.

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { fql, keyOfNewDatabase, query, send, sendFql } from '../support/http.ts'
import { serverOfFile } from '../support/server.ts'

const server = serverOfFile()
let admin: string
let roles = 0
const secrets: string[] = []

before(async () => {
  admin = await keyOfNewDatabase(server, 'rights', 'admin')
  await fql(server, admin, 'Collection.create({ name: "User" })\nCollection.create({ name: "Jar" })')
  await fql(server, admin, 'Function.create({ name: "shout", body: "x => x" })')
  for (const id of [1, 2]) {
    const made = 'let user = User.create({ id: id })\nCredential.create({ document: user, password: "x" })'
    await fql(server, admin, made, { id })
    for (const name of ['first', 'second']) {
      const token = 'Token.create({ document: User.byId(id)!, data: { name: name } }).secret'
      secrets.push((await fql(server, admin, token, { id, name })) as string)
    }
  }
})

/** A key whose role may access a resource as far as a predicate allows. */
async function keyOf(resource: string, actions: Record<string, unknown>): Promise<string> {
  const name = `role${++roles}`
  const privileges = { resource, actions }
  await fql(server, admin, 'Role.create({ name: name, privileges: privileges })', { name, privileges })
  return ((await fql(server, admin, 'Key.create({ role: name })', { name })) as { secret: string }).secret
}

async function seen(secret: string, text: string): Promise<unknown> {
  const { json } = await sendFql(server, secret, text)
  const { data, error } = json as { data?: unknown; error?: { code: string } }
  return error === undefined ? data : error.code
}

const ofFirst = { read: 't => t.document == User.byId(1)' }

const cases: readonly (readonly [string, Record<string, unknown>, string, unknown])[] = [
  ['Token', ofFirst, 'Token.all().map(.data!.name).toArray()', ['first', 'second']],
  ['Token', ofFirst, 'Token.all().count()', 2],
  ['Token', ofFirst, 'Token.where(.data!.name == "second").count()', 1],
  ['Token', ofFirst, 'Token.firstWhere(_ => true) != null', true],
  ['Token', ofFirst, 'Token.all().paginate(1).data.map(.data!.name)', ['first']],
  ['Token', { read: 't => t.data!.name == "first"' }, 'Token.all().count()', 2],
  ['Token', { read: '_ => false' }, 'Token.all().count()', 0],
  ['Token', { read: true }, 'Token.all().count()', 4],
  ['Token', { create: true }, 'Token.all().count()', 0],
  ['Token', { unrestricted_read: true }, 'Token.all().count()', 0],
  ['Credential', ofFirst, 'Credential.all().count()', 1],
  ['Collection', { read: '(.name == "Jar")' }, 'Collection.all().map(.name).toArray()', ['Jar']],
  ['Function', { read: '(.name == "shout")' }, 'Function.all().map(.name).toArray()', ['shout']],
  // Predicates may not read keys and roles, not even the document that they are given.
  ['Key', { read: 'k => k.role != null' }, 'Key.all().count()', 0],
  ['Role', { read: 'r => r.privileges != []' }, 'Role.all().count()', 0],
  ['Key', { read: '_ => true' }, 'Key.all().isEmpty()', false],
  // A reference has a name, an id and a collection even without its document, so predicates may use these.
  ['Role', { read: 'r => r.name.startsWith("role")' }, 'Role.all().isEmpty()', false],
  ['Role', { read: 'r => r.exists()' }, 'Role.all().isEmpty()', true],
  ['Key', { read: 'k => k.id != null && k.coll == Key' }, 'Key.all().isEmpty()', false],
]

for (const [resource, actions, text, expected] of cases) {
  test(`${resource} ${JSON.stringify(actions)}: ${text}`, async () => {
    assert.deepEqual(await seen(await keyOf(resource, actions), text), expected)
  })
}

test('the holder of a token sees its own tokens', async () => {
  const [first = ''] = secrets
  assert.equal(await seen(first, 'Token.all().count()'), 2)
  assert.deepEqual(await seen(first, 'Token.all().map(.data!.name).toArray()'), ['first', 'second'])
  assert.equal(await seen(first, 'Credential.all().count()'), 1)
  assert.equal(await seen(first, 'Key.all().count()'), 0)
})

test('version 4 decides about the collection first', async () => {
  const read = async (actions: Record<string, unknown>) =>
    (await send(server, { secret: await keyOf('Token', actions), query: { paginate: { tokens: null } } }))
      .status
  assert.equal(await read({ read: true }), 200)
  assert.equal(await read(ofFirst), 403)
  const page = (await query(server, admin, { paginate: { tokens: null } })) as { data: readonly unknown[] }
  assert.equal(page.data.length, 4)
})
