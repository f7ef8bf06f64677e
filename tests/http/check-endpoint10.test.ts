// `POST /api/v1/check` checks a query of version 10 without evaluating it, and lists the members of a value.

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { fql, query, send } from '../support/http.ts'
import { serverOfFile } from '../support/server.ts'

const server = serverOfFile()

interface Checked {
  readonly static_type: string | null
  readonly summary: string
}

interface Member {
  readonly name: string
  readonly type: string
}

const admin = () => `${server.rootSecret}:app:admin`

async function ask(body: object, secret = admin(), headers: Readonly<Record<string, string>> = {}) {
  const { json, status } = await send(server, {
    path: '/api/v1/check',
    secret,
    headers,
    body: JSON.stringify(body),
  })
  return { status, json }
}

async function checked(text: string, more: object = {}): Promise<Checked> {
  const { json, status } = await ask({ query: text, ...more })
  assert.equal(status, 200, JSON.stringify(json))
  return json as Checked
}

/** The members at the mark `|` in a text. */
async function members(marked: string, more: object = {}): Promise<Readonly<Record<string, string>>> {
  const position = marked.indexOf('|')
  const { json, status } = await ask({
    query: marked.replace('|', ''),
    members_at: position,
    ...more,
  })
  assert.equal(status, 200, JSON.stringify(json))
  const found = (json as { readonly members: readonly Member[] }).members
  return Object.fromEntries(found.map(({ name, type }) => [name, type]))
}

before(async () => {
  await fql(server, server.rootSecret, 'Database.create({ name: "app" }).name')
  await fql(
    server,
    admin(),
    `Collection.create({
      name: "User",
      fields: { name: { signature: "String" }, age: { signature: "Int?" }, boss: { signature: "Ref<User>?" } },
      indexes: { byName: { terms: [{ field: "name" }] } }
    }).name`,
  )
})

test('the type and the errors of a query are returned, and nothing is evaluated', async () => {
  assert.deepEqual(await checked('User.create({ name: "Ann" }).name'), { static_type: 'String', summary: '' })
  assert.equal(await fql(server, admin(), 'User.all().count()'), 0)
  const { static_type, summary } = await checked('let a = 1\nUser.all().map(u => u.nmae)\nmissing')
  assert.equal(static_type, null)
  assert.match(summary, /does not have field `nmae`\nat \*query\*:2:23\n.*\n.*\n {2}\| +\^{4}\n/)
  assert.match(summary, /Unbound variable `missing`\nat \*query\*:3:1\n/)
  const annotated = await checked('let /* total */ total: Int = "a"\ntotal')
  assert.match(annotated.summary, /\n1 \| let \/\* total \*\/ total: .*\n {2}\| {17}\^{5}\n/)
  assert.match((await checked('1 +')).summary, /^error: .*\nat \*query\*:1:/)
  assert.match((await checked('() => 1')).summary, /^warning: Function is not called\./)
  assert.equal((await checked('a + 1', { arguments: { a: 2 } })).static_type, 'Number')
  assert.equal((await checked('abort(1)')).static_type, 'Never')
})

test('the header and the database decide whether types are checked', async () => {
  const unchecked = { static_type: null, summary: '' }
  const off = await ask({ query: 'missing' }, admin(), { 'x-typecheck': 'false' })
  assert.deepEqual(off.json, unchecked)
  await query(server, server.rootSecret, { create_database: { object: { name: 'plain' } } })
  const plain = `${server.rootSecret}:plain:admin`
  assert.deepEqual((await ask({ query: 'missing' }, plain)).json, unchecked)
  const on = await ask({ query: 'missing' }, plain, { 'x-typecheck': 'true' })
  assert.match((on.json as Checked).summary, /Unbound variable/)
})

test('the members of a value are those of its type', async () => {
  const user = await members('User.byName("Ann").first()!.|name')
  assert.equal(user.name, 'String')
  assert.equal(user.age, 'Int | Null')
  assert.equal(user.boss, 'Ref<User> | Null')
  assert.match(user.update ?? '', /^\(data: \{/)
  assert.equal((await members('User.all().map(u => u.|x)')).name, 'String')
  assert.equal((await members('User.all().where(.|x)')).name, 'String')
  assert.equal((await members('let u = User.byId("1")\nlet b = u?.boss\nb?.|x')).name, 'String')
  assert.equal((await members('[1, "a"].|x')).append, '(element: 1 | "a") => Array<1 | "a">')
  assert.equal((await members('let o = { a: { b: [true] } }\no.a.|x')).b, '[true]')
  assert.equal((await members('User.|x')).byName?.includes('(term1: String) => Set<User>'), true)
  assert.equal((await members('given.|x', { arguments: { given: { a: 1 } } })).a, '1')
  const text = await members('missing.field + 1\n"text".|x')
  assert.equal(text.length, 'Number', 'other errors are ignored')
})

test('a value of an unknown type has no members, and neither has a text that cannot be parsed', async () => {
  for (const marked of ['(x => x.|y)', 'missing.|y', 'null.|y', '1 +.|y', 'User|'])
    assert.deepEqual(await members(marked), {}, marked)
})

test('only admin and server keys may check queries', async () => {
  const allowed = await ask({ query: '1' }, `${server.rootSecret}:app:server`)
  assert.equal(allowed.status, 200)
  for (const role of ['client', 'server-readonly']) {
    const { json, status } = await ask({ query: '1' }, `${server.rootSecret}:app:${role}`)
    assert.equal(status, 403)
    assert.equal((json as { error: { code: string } }).error.code, 'forbidden')
  }
})

test('a wrong body is an error', async () => {
  for (const body of [
    {},
    { query: 1 },
    { query: '1', members_at: -1 },
    { query: '1', members_at: '1' },
    { query: '1', more: 1 },
  ]) {
    const { json, status } = await ask(body)
    assert.equal(status, 400)
    assert.equal((json as { error: { code: string } }).error.code, 'invalid_request')
  }
})
