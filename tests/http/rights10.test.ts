// Visibility of version 10's sets for roles that may only read the history, or only read without restriction.

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { fql, keyOfNewDatabase, query, sendFql } from '../support/http.ts'
import { serverOfFile } from '../support/server.ts'

const server = serverOfFile()
let admin: string
let past: string
let roles = 0
const cursors = { ofIndex: '', ofPast: '' }

before(async () => {
  admin = await keyOfNewDatabase(server, 'rights', 'admin')
  await fql(
    server,
    admin,
    'Collection.create({ name: "Jar", indexes: { byK: { terms: [{ field: "k" }], values: [{ field: "v" }] } } })',
  )
  await fql(server, admin, '[1, 2].forEach(n => Jar.create({ id: n, k: "a", v: n, ok: n == 1 }))')
  past = (await fql(server, admin, 'Time.now().toString()')) as string
  await fql(server, admin, 'Jar.create({ id: 3, k: "a", v: 3, ok: true })')
  const page = async (set: string) =>
    ((await fql(server, admin, `${set}.paginate(1)`, { past })) as { after: string }).after
  cursors.ofIndex = await page('Jar.byK("a")')
  cursors.ofPast = await page('(at (Time(past)) { Jar.byK("a") })')
})

/**
 * The result of a query by a key whose role has these actions on the collection: a value, or the code and text of an
 * error.
 */
async function seen(actions: Record<string, unknown>, text: string): Promise<unknown> {
  const name = `role${++roles}`
  await fql(server, admin, 'Role.create({ name: name, privileges: { resource: "Jar", actions: actions } })', {
    name,
    actions,
  })
  const key = (await fql(server, admin, 'Key.create({ role: name })', { name })) as { secret: string }
  const { json } = await sendFql(server, key.secret, text, { past, ...cursors })
  const { data, error } = json as { data?: unknown; error?: { code: string; message: string } }
  return error === undefined ? data : `${error.code}: ${error.message}`
}

const denied = 'permission_denied: Insufficient privileges to read from collection Jar.'
const unrestricted = { unrestricted_read: true }
const never = { read: '_ => false', history_read: true }

const cases: readonly (readonly [Record<string, unknown>, string, unknown])[] = [
  [unrestricted, 'Jar.byK("a")', denied],
  [unrestricted, 'Jar.byK("a").count()', denied],
  [unrestricted, 'Jar.byK("a", { from: 1 }).map(.id).toArray()', denied],
  [unrestricted, 'Set.paginate(ofIndex)', denied],
  [unrestricted, 'Jar.byK("a").eventSource()', denied],
  [unrestricted, 'at (Time(past)) { Jar.byK("a").count() }', denied],
  [unrestricted, 'Jar.all().map(.id).toArray()', []],
  [unrestricted, 'Jar.all().count()', 0],
  [unrestricted, 'Jar.all().first()', null],
  [unrestricted, 'Jar.where(.k == "a").count()', 0],
  [unrestricted, 'Jar.firstWhere(_ => true)', null],
  [unrestricted, 'Jar.all({ from: "1" }).isEmpty()', true],
  [unrestricted, 'at (Time(past)) { Jar.all().count() }', 0],
  [{ ...unrestricted, read: '(.ok)' }, 'Jar.all().map(.id).toArray()', ['1', '3']],
  [{ ...unrestricted, read: '(.ok)' }, 'Jar.byK("a").map(.id).toArray()', ['1', '3']],
  [{ ...unrestricted, read: false }, 'Jar.byK("a")', denied],
  [{ history_read: true }, 'at (Time(past)) { Jar.byK("a") }', denied],
  [{ history_read: true }, 'at (Time(past)) { Jar.byK("a").count() }', denied],
  [{ history_read: true }, 'Set.paginate(ofPast)', denied],
  [{ history_read: true }, 'Jar.byK("a")', denied],
  [{ history_read: true }, 'at (Time(past)) { Jar.all().count() }', 2],
  [{ history_read: true }, 'Jar.all().count()', 0],
  [never, 'at (Time(past)) { Jar.byK("a").map(.id).toArray() }', ['1', '2']],
  [never, 'Set.paginate(ofPast).data.map(.id)', ['2']],
  [never, 'Jar.byK("a").count()', 0],
  [{ read: true }, 'at (Time(past)) { Jar.byK("a").count() }', 0],
  [{ read: true, history_read: '(.ok)' }, 'at (Time(past)) { Jar.byK("a").count() }', 1],
]

for (const [actions, text, expected] of cases) {
  test(`${JSON.stringify(actions)}: ${text}`, async () => {
    assert.deepEqual(await seen(actions, text), expected)
  })
}

test('version 4 reads without restriction as before', async () => {
  const actions = { object: { unrestricted_read: true } }
  const privileges = [{ object: { resource: { collection: 'Jar' }, actions } }]
  await query(server, admin, { create_role: { object: { name: 'old', privileges } } })
  const { secret } = (await query(server, admin, { create_key: { object: { role: { role: 'old' } } } })) as {
    secret: string
  }
  const page = await query(server, secret, { paginate: { documents: { collection: 'Jar' } } })
  assert.equal((page as { data: readonly unknown[] }).data.length, 3)
})
