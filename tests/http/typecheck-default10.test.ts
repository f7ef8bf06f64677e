// Who is checked: the nearest flag `typechecked` decides. Without a flag, databases that this version creates are checked,
// and databases of earlier versions are not. No response shows the default.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fql, keyOfNewDatabase, query, send } from '../support/http.ts'
import { serverOfFile } from '../support/server.ts'

const server = serverOfFile()

async function isChecked(secret: string): Promise<boolean> {
  const ask = (text: string) =>
    send(server, { path: '/query/1', secret, body: JSON.stringify({ query: text }) })
  const { json, status } = await ask('"text".nothing')
  const { data } = (await ask('Query.isEnvTypechecked()')).json as { readonly data: boolean }
  assert.equal(data, status === 400, JSON.stringify(json))
  return data
}

test('new databases are checked, also the root of a new data directory', async () => {
  assert.equal(await isChecked(server.rootSecret), true)
  await fql(server, server.rootSecret, 'Database.create({ name: "by10" }).name')
  assert.equal(await isChecked(`${server.rootSecret}:by10:admin`), true)
})

test('databases that version 4 creates are not checked, but their children that version 10 creates', async () => {
  assert.equal(await isChecked(await keyOfNewDatabase(server, 'by4', 'admin')), false)
  const by4 = `${server.rootSecret}:by4:admin`
  await fql(server, by4, 'Database.create({ name: "by10" }).name')
  assert.equal(await isChecked(`${server.rootSecret}:by4/by10:admin`), true)
})

test('the nearest flag decides', async () => {
  await fql(server, server.rootSecret, 'Database.create({ name: "outer", typechecked: false }).name')
  const outer = `${server.rootSecret}:outer:admin`
  await fql(server, outer, 'Database.create({ name: "inner" }).name')
  const inner = `${server.rootSecret}:outer/inner:admin`
  assert.deepEqual([await isChecked(outer), await isChecked(inner)], [false, false])
  await fql(server, outer, 'Database.byName("inner")!.update({ typechecked: true }).name')
  assert.deepEqual([await isChecked(outer), await isChecked(inner)], [false, true])
  await fql(server, outer, 'Database.byName("inner")!.update({ typechecked: null }).name')
  await fql(server, server.rootSecret, 'Database.byName("outer")!.update({ typechecked: null }).name')
  assert.deepEqual([await isChecked(outer), await isChecked(inner)], [true, true])
})

test('the default stays when a database is replaced or moved, and clients can neither see nor set it', async () => {
  const { rootSecret } = server
  const by4 = await query(server, rootSecret, {
    create_database: { object: { name: 'old', typechecked_by_default: true } },
  })
  assert.doesNotMatch(JSON.stringify(by4), /typechecked/)
  assert.equal(await isChecked(`${rootSecret}:old:admin`), false)
  const created = await fql(server, rootSecret, 'Database.create({ name: "plain" })')
  assert.doesNotMatch(JSON.stringify(created), /typechecked/)
  const read = { get: { database: 'plain' } }
  assert.doesNotMatch(JSON.stringify(await query(server, rootSecret, read)), /typechecked/)
  const events = { paginate: { events: { database: 'plain' } } }
  assert.doesNotMatch(JSON.stringify(await query(server, rootSecret, events)), /typechecked/)
  const document = await fql(server, rootSecret, 'Database.byName("plain")')
  assert.doesNotMatch(JSON.stringify(document), /typechecked/)
  await query(server, rootSecret, {
    replace: { database: 'plain' },
    params: { object: { name: 'plain', typechecked_by_default: false } },
  })
  await fql(server, rootSecret, 'Database.byName("plain")!.replace({ name: "plain", priority: 3 }).name')
  assert.equal(await isChecked(`${rootSecret}:plain:admin`), true)
  await query(server, rootSecret, { create_database: { object: { name: 'target' } } })
  await query(server, rootSecret, {
    move_database: { database: 'plain' },
    to: { database: 'target' },
  })
  assert.equal(await isChecked(`${rootSecret}:target/plain:admin`), true)
})
