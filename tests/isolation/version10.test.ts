// Isolation in version 10. From one database, queries call every module that looks up data, with the names, ids,
// references, cursors and event sources of a neighbour.

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { natives } from '../../src/fql10/library/natives.ts'
import { fql, keyOfNewDatabase, send, sendFql } from '../support/http.ts'
import { serverOfFile } from '../support/server.ts'

/** A text that is part of all names and values of the neighbour. */
const mark = 'Neighbours'

const server = serverOfFile()
let own: string
/** Ids and texts that are valid in the neighbour's database. */
const found: { ids: readonly string[]; cursor: string; source: string; secrets: readonly string[] } = {
  ids: [],
  cursor: '',
  source: '',
  secrets: [],
}

before(async () => {
  own = await keyOfNewDatabase(server, 'own', 'admin')
  const neighbour = await keyOfNewDatabase(server, 'neighbour', 'admin')
  // Both databases have the same number of collections.
  await fql(server, own, 'Collection.create({ name: "Own" })')
  await fql(server, own, 'Own.create({ id: 1, text: "own" })')
  const made = [
    `Collection.create({ name: "${mark}", alias: "${mark}Alias", indexes: { byText: { terms: [{ field: "text" }] } } })`,
    `Set.sequence(1, 40).forEach(n => ${mark}.create({ id: n, text: "${mark}" }))`,
    `Function.create({ name: "${mark}Function", body: "() => '${mark}'" })`,
    `Role.create({ name: "${mark}Role", privileges: { resource: "${mark}", actions: { read: true } } })`,
    `AccessProvider.create({ name: "${mark}Provider", issuer: "${mark}", jwks_uri: "https://a.example/k" })`,
    `Database.create({ name: "${mark}Database" })`,
    `Credential.create({ document: ${mark}.byId(1), password: "${mark}" })`,
  ]
  for (const text of made) await fql(server, neighbour, text)
  const shown = (await fql(
    server,
    neighbour,
    `let key = Key.create({ role: "${mark}Role", data: { of: "${mark}" } })
     let token = Token.create({ document: ${mark}.byId(1), data: { of: "${mark}" } })
     let credential = Credential.byDocument(${mark}.byId(1))!
     { ids: ["1", key.id, token.id, credential.id], secrets: [key.secret, token.secret] }`,
  )) as Pick<typeof found, 'ids' | 'secrets'>
  const page = (await fql(server, neighbour, `${mark}.byText("${mark}").paginate(2)`)) as { after: string }
  const source = (await fql(server, neighbour, `${mark}.all().eventSource()`)) as string
  Object.assign(found, shown, { cursor: page.after, source })
})

/** The response to a query in the caller's database, which must never contain the neighbour's data. */
async function ask(text: string, args: Readonly<Record<string, unknown>> = {}): Promise<unknown> {
  const { json, status, text: body } = await sendFql(server, own, text, args)
  assert.ok(status < 500, `${status} for ${text}: ${body}`)
  assert.ok(!body.includes(mark), `${text}: ${body}`)
  return (json as { data?: unknown }).data
}

test('no module lists the objects of a neighbour', async () => {
  for (const { module } of natives) {
    await ask(`${module.name}.all().toArray()`)
    await ask(`${module.name}.where(_ => true).toArray()`)
    await ask(`${module.name}.firstWhere(d => d.name != "x")`)
  }
  await ask('Own.all().toArray()')
})

test('no module finds the objects of a neighbour by name or id', async () => {
  const names = ['', 'Alias', 'Function', 'Role', 'Provider', 'Database'].map(end => mark + end)
  for (const { documents, module } of natives) {
    const isNamed = documents.name === 'NamedDocument'
    for (const given of isNamed ? names : found.ids) {
      const by = isNamed ? 'byName' : 'byId'
      const text = `let d = ${module.name}.${by}(given)
        [d.exists(), d == null, d?.data, d?.secret, d?.document]`
      assert.deepEqual(await ask(text, { given }), [false, true, null, null, null], `${module.name} ${given}`)
      await ask(`${module.name}.${by}(given)!`, { given: isNamed ? 'x' : given })
      await ask(`${module.name}.${by}(given).delete()`, { given: isNamed ? 'x' : given })
    }
  }
  for (const name of names) {
    assert.equal(await ask('FQL.Schema.defForIdentifier(name)', { name }), null)
    for (const companion of ['Collection', 'Function']) {
      const { status } = await sendFql(server, own, `${companion}(name)`, { name })
      assert.equal(status, 400)
    }
  }
})

test('documents with the same id are the caller’s own', async () => {
  assert.equal(await ask('Own.byId("1")!.text'), 'own')
  for (const id of found.ids.slice(1)) assert.equal(await ask('Own.byId(id).exists()', { id }), false)
  assert.deepEqual(await ask('Token.byDocument(Own.byId("1")).toArray()'), [])
  assert.equal(await ask('Credential.byDocument(Own.byId("1")) == null'), true)
})

test('a neighbour’s cursors and event sources are invalid', async () => {
  const { cursor, source } = found
  const code = async (text: string, args: Readonly<Record<string, unknown>>) => {
    const { json } = await sendFql(server, own, text, args)
    return (json as { error?: { code: string } }).error?.code
  }
  assert.equal(await code('Set.paginate(cursor)', { cursor }), 'invalid_cursor')
  assert.equal(await code('Set.paginate(cursor, 3)', { cursor }), 'invalid_cursor')
  for (const path of ['/feed/1', '/stream/1']) {
    const answer = await send(server, { secret: own, path, body: JSON.stringify({ token: source }) })
    assert.equal(answer.status, 400, answer.text)
    assert.ok(!answer.text.includes(mark), answer.text)
  }
})

test('scopes and names of databases reach no other database', async () => {
  for (const scope of ['neighbour', '../neighbour', '/neighbour', '..', `../neighbour/${mark}Database`]) {
    for (const kind of ['admin', `@role/${mark}Role`, `@doc/${mark}/1`]) {
      const { status, text } = await sendFql(server, `${own}:${scope}:${kind}`, '1')
      assert.equal(status, 401, text)
    }
  }
  for (const kind of [`@role/${mark}Role`, `@doc/${mark}/1`]) {
    const { status, text } = await sendFql(server, `${own}:${kind}`, `${'Own'}.all().toArray()`)
    assert.ok(status === 401 || !text.includes(mark), text)
  }
  for (const secret of found.secrets) {
    const { text } = await sendFql(server, secret, 'Own.all().toArray()')
    assert.match(text, /unbound_variable/, 'it belongs to the other database')
  }
  await ask('Key.create({ role: "server", database: name })', { name: 'neighbour' })
})
