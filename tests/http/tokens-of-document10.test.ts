// `Token.byDocument` reads the tokens of a document on demand: a page of a user with very many tokens costs as much as a
// page of a user with few.

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { fql, keyOfNewDatabase, sendFql } from '../support/http.ts'
import { serverOfFile } from '../support/server.ts'

const server = serverOfFile()
const few = 20
const many = 200
let admin: string

before(async () => {
  admin = await keyOfNewDatabase(server, 'tokens', 'admin')
  await fql(server, admin, 'Collection.create({ name: "User" })')
  await fql(server, admin, '[1, 2].forEach(id => User.create({ id: id }))')
  const create = `Set.sequence(0, count).forEach(n =>
    Token.create({ document: User.byId(user), data: { n: n, isPublic: n % 3 == 0 } }))`
  await fql(server, admin, create, { user: '1', count: few })
  await fql(server, admin, create, { user: '2', count: many })
})

async function answer(
  text: string,
  secret = admin,
): Promise<{ data: unknown; stats: Record<string, number> }> {
  const { json, status, text: body } = await sendFql(server, secret, text)
  assert.equal(status, 200, body)
  return json as { data: unknown; stats: Record<string, number> }
}

interface Page {
  readonly data: readonly { readonly id: string }[]
  readonly after?: string
}

/** The ids on all pages of ten tokens. */
async function pagedIds(set: string, secret = admin): Promise<string[]> {
  const ids: string[] = []
  let { data, after } = (await fql(
    server,
    secret,
    `${set}.pageSize(10).map(token => { id: token.id })`,
  )) as Page
  for (;;) {
    ids.push(...data.map(({ id }) => id))
    if (after === undefined) return ids
    ;({ data, after } = (await fql(server, secret, 'Set.paginate(after)', { after })) as Page)
  }
}

test('the cursor of a page, and the reads of the first token, do not grow with the number of tokens', async () => {
  const cursors = await Promise.all(
    ['1', '2'].map(user => fql(server, admin, `Token.byDocument(User.byId("${user}")!).paginate(16).after`)),
  )
  const [ofFew, ofMany] = cursors.map(cursor => String(cursor).length)
  assert.equal(ofMany, ofFew)
  const first = (user: string) => answer(`Token.byDocument(User.byId("${user}")!).first()!.data!.n`)
  const [one, other] = [await first('1'), await first('2')]
  assert.deepEqual([one.data, other.data], [0, 0])
  assert.equal(other.stats.storage_bytes_read, one.stats.storage_bytes_read)
})

test('all pages together contain each token once, in both directions', async () => {
  const tokens = 'Token.byDocument(User.byId("2")!)'
  const ids = (await fql(server, admin, `${tokens}.toArray().map(.id)`)) as string[]
  assert.equal(ids.length, many)
  assert.deepEqual(await pagedIds(tokens), ids)
  assert.deepEqual(await pagedIds(`${tokens}.reverse()`), ids.toReversed())
  assert.equal(await fql(server, admin, `${tokens}.count()`), many)
})

test('pages contain only the tokens that the caller may read', async () => {
  const privileges = [
    { resource: 'User', actions: { read: true } },
    { resource: 'Token', actions: { read: 'token => token.data!.isPublic' } },
  ]
  await fql(server, admin, 'Role.create({ name: "reader", privileges: privileges })', { privileges })
  const secret = String(await fql(server, admin, 'Key.create({ role: "reader" }).secret'))
  const tokens = 'Token.byDocument(User.byId("2")!)'
  const visible = (await fql(
    server,
    admin,
    `${tokens}.where(.data!.isPublic).toArray().map(.id)`,
  )) as string[]
  assert.equal(visible.length, Math.ceil(many / 3))
  assert.deepEqual(await pagedIds(tokens, secret), visible)
})

test('a query may delete the tokens while it reads them', async () => {
  await fql(server, admin, 'User.create({ id: 3 })')
  const tokens = 'Token.byDocument(User.byId("3")!)'
  await fql(server, admin, `Set.sequence(0, ${few}).forEach(_ => Token.create({ document: User.byId("3") }))`)
  await fql(server, admin, `${tokens}.forEach(.delete())`)
  assert.equal(await fql(server, admin, `${tokens}.count()`), 0)
})
