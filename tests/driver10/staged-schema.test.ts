// A staged schema: what queries of both languages read and write meanwhile, and what stays of it.

import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import { keyOfNewDatabase, query, send } from '../support/http.ts'
import { assertSound, temporaryFolder } from '../support/program.ts'
import { type RunningServer, startServer } from '../support/server.ts'

type Files = Readonly<Record<string, string>>

describe('a staged schema', { timeout: 120_000 }, () => {
  let server: RunningServer
  let data: string
  let databases = 0

  before(async () => {
    data = await temporaryFolder()
    server = await startServer({ data })
  })
  after(async () => {
    await server.stop()
    await assertSound(data)
    await rm(data, { recursive: true, force: true })
  })

  /** Queries and schema requests of one database. */
  class Database {
    readonly secret: string

    constructor(secret: string) {
      this.secret = secret
    }

    async request(method: string, path: string, files?: Files | string) {
      const headers = { authorization: `Bearer ${this.secret}` }
      const url = `${server.url}/schema/1/${path}`
      const response = await fetch(url, {
        method,
        headers,
        ...(files === undefined ? {} : { body: bodyOf(files) }),
      })
      return { status: response.status, json: await response.json() }
    }

    /** A schema request that has to succeed. */
    async schema(method: string, path: string, files?: Files | string) {
      const { json, status } = await this.request(method, path, files)
      assert.equal(status, 200, JSON.stringify(json))
      return json
    }

    async file(name: string, isStaged: boolean): Promise<string> {
      return (await this.schema('GET', `files/${name}?staged=${isStaged}`)).content
    }

    async ask(
      text: string,
    ): Promise<{ readonly data?: unknown; readonly error?: { readonly code: string } }> {
      const headers = { 'x-format': 'simple' }
      const body = JSON.stringify({ query: text })
      return (await send(server, { path: '/query/1', secret: this.secret, headers, body })).json as object
    }
  }

  function bodyOf(files: Files | string): FormData | string {
    if (typeof files === 'string') return files
    const body = new FormData()
    for (const [name, text] of Object.entries(files)) body.append(name, new Blob([text]))
    return body
  }

  async function staged(active: string, planned: string): Promise<Database> {
    const database = new Database(await keyOfNewDatabase(server, `staged${databases++}`, 'admin'))
    await database.schema('POST', 'update', { 'main.fsl': active })
    await database.schema('POST', 'update?staged=true', { 'main.fsl': planned })
    return database
  }

  const shelf = 'collection Shelf {\n}\n'
  const indexed = 'collection Shelf {\n  index byA {\n    terms [.a]\n  }\n}\n'

  test('definitions that a query writes are staged as well', async () => {
    const database = await staged(shelf, indexed)
    const made = await database.ask('Collection.create({ name: "Box" }).name')
    assert.equal(made.data, 'Box')
    assert.equal(
      (await database.ask('Collection.byName("Shelf")!.update({ alias: "Rack" }).alias')).data,
      'Rack',
    )
    assert.deepEqual((await database.ask('Collection.all().map(.name).toArray()')).data, ['Shelf', 'Box'])
    assert.deepEqual((await database.ask('Collection.byName("Shelf")!.indexes')).data, {
      byA: { terms: [{ field: '.a', mva: false }], queryable: true, status: 'complete' },
    })
    assert.equal((await database.ask('Box.create({})')).error?.code, 'unbound_variable')
    assert.equal((await database.ask('Rack.create({})')).error?.code, 'unbound_variable')
    assert.equal(await database.file('main.fsl', false), shelf)
    assert.equal(
      await database.file('main.fsl', true),
      '@alias(Rack)\ncollection Shelf {\n  index byA {\n    terms [.a]\n  }\n}\n\ncollection Box {\n}\n',
    )
    await database.schema('POST', 'staged/commit')
    assert.equal((await database.ask('Box.create({ a: 1 }).a + Rack.create({ a: 2 }).a')).data, 3)
    assert.equal((await database.ask('Shelf.byA(2).count()')).data, 1)
  })

  test('what a query may not write of a definition is refused, and nothing of it is staged', async () => {
    const database = await staged(shelf, indexed)
    const refused = await database.ask('Collection.create({ name: "Shelf" })')
    assert.equal(refused.error?.code, 'constraint_failure')
    assert.equal(await database.file('main.fsl', true), indexed)
  })

  test('single items are those of the staged schema', async () => {
    const database = await staged(shelf, indexed)
    await database.schema('POST', 'items/functions', 'function one() { 1 }')
    assert.equal((await database.schema('GET', 'items/collections/Shelf')).content, indexed.trimEnd())
    assert.equal((await database.ask('one()')).error?.code, 'unbound_variable')
    await database.schema('POST', 'staged/commit')
    assert.equal((await database.ask('one()')).data, 1)
  })

  test('what version 4 writes holds at once, and stays when the schema is committed', async () => {
    const database = await staged(`${shelf}\nfunction old() { 1 }\n`, `${indexed}\nfunction old() { 2 }\n`)
    await query(server, database.secret, { create_collection: { object: { name: 'Made' } } })
    await query(server, database.secret, {
      create: { collection: 'Made' },
      params: { object: { data: { object: { a: 5 } } } },
    })
    assert.match(await database.file('main.fsl', true), /collection Made \{[\s\S]*\}/)
    await database.schema('POST', 'staged/commit')
    assert.deepEqual((await database.ask('[Made.all().first()!.a, old()]')).data, [5, 2])
  })

  test('a push, a commit and an abandonment of another version are refused', async () => {
    const database = await staged(shelf, indexed)
    const { version } = await database.schema('GET', 'staged/status')
    await database.schema('POST', `update?staged=true&version=${version}`, { 'main.fsl': shelf })
    const stale = `version=${version}`
    for (const path of [`update?staged=true&${stale}`, `staged/commit?${stale}`, `staged/abandon?${stale}`]) {
      assert.equal((await database.request('POST', path, { 'main.fsl': indexed })).status, 409)
    }
    const current = (await database.schema('GET', 'staged/status')).version
    await database.schema('POST', `staged/abandon?version=${current}`)
  })

  test('it is still there after a crash, and an abandoned one leaves nothing behind', async () => {
    const database = await staged(shelf, `${indexed}\nfunction one() { 1 }\n`)
    const abandoned = await staged(shelf, indexed)
    await abandoned.schema('POST', 'staged/abandon')
    await server.kill()
    server = await startServer({ data })
    assert.deepEqual((await abandoned.schema('GET', 'status')).status, 'none')
    assert.equal(await abandoned.file('main.fsl', true), shelf)
    assert.equal((await database.schema('GET', 'status')).status, 'ready')
    assert.equal((await database.ask('one()')).error?.code, 'unbound_variable')
    await database.schema('POST', 'staged/commit')
    assert.equal((await database.ask('one() + Shelf.byA(1).count()')).data, 1)
  })

  test('without documents that it fits, the schema is not committed; without one, nothing is', async () => {
    const database = await staged(shelf, 'collection Shelf {\n  a: Int\n}\n')
    await database.ask('Shelf.create({ b: 1 })')
    const { json, status } = await database.request('POST', 'commit')
    assert.equal(status, 400)
    assert.match(
      json.error.message,
      /^error: Field `\.a` is not present in the live schema\nat main\.fsl:2:3/,
    )
    assert.equal((await database.ask('Collection.byName("Shelf")!.name')).data, 'Shelf')
    await database.schema('POST', 'abandon')
    for (const path of ['commit', 'abandon']) {
      const { json } = await database.request('POST', path)
      assert.equal(json.error.message, `There is no staged schema to ${path}`)
    }
  })
})
