// Staged schemas: reads and writes of both languages while a schema is staged, and its commit or abandonment.

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { indexBuilderLimits } from '../../src/storage/store/index-builder.ts'
import { runCommand } from '../support/command.ts'
import { eventually } from '../support/eventually.ts'
import { foldersOfFile } from '../support/folder.ts'
import { keyOfNewDatabase, query, send, sendFql } from '../support/http.ts'
import { patience } from '../support/patience.ts'
import { type ServerProcess, startProcess } from '../support/server-process.ts'
import { assertSound } from '../support/sound.ts'

type Files = Readonly<Record<string, string>>

const timeout = patience(120_000)

let server: ServerProcess
let databases = 0

before(async () => {
  server = await startProcess({ data })
})

after(async () => {
  await server.stop()
  await assertSound(data)
})
const newFolder = foldersOfFile()
const data = newFolder()

/** Queries and schema requests for one database. */
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

  /** Sends a schema request that must succeed. */
  async schema(method: string, path: string, files?: Files | string) {
    const { json, status } = await this.request(method, path, files)
    assert.equal(status, 200, JSON.stringify(json))
    return json
  }

  async file(name: string, isStaged: boolean): Promise<string> {
    return (await this.schema('GET', `files/${name}?staged=${isStaged}`)).content
  }

  async ask(text: string): Promise<{ readonly data?: unknown; readonly error?: { readonly code: string } }> {
    return (await sendFql(server, this.secret, text, {}, { 'x-format': 'simple' })).json as object
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

describe('queries while a schema is staged', { timeout }, () => {
  test('definitions that a query writes are staged too', async () => {
    const database = await staged(shelf, indexed)
    const made = await database.ask('Collection.create({ name: "Box" }).name')
    assert.equal(made.data, 'Box')
    const renamed = (await database.ask('Collection.byName("Shelf")!.update({ alias: "Rack" }).alias')).data
    assert.equal(renamed, 'Rack')
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

  test('an invalid definition is rejected, and nothing is staged', async () => {
    const database = await staged(shelf, indexed)
    const rejected = await database.ask('Collection.create({ name: "Shelf" })')
    assert.equal(rejected.error?.code, 'constraint_failure')
    assert.equal(await database.file('main.fsl', true), indexed)
  })

  test('version 4 may not write definitions while a schema is staged, but all other documents', async () => {
    const database = await staged(`${shelf}\nfunction old() { 1 }\n`, `${indexed}\nfunction old() { 2 }\n`)
    const { secret } = database
    const source = { collection: 'Shelf' }
    const body = { query: { lambda: 'x', expr: { create_collection: { object: { name: 'Made' } } } } }
    const writes: readonly unknown[] = [
      { create_collection: { object: { name: 'Made' } } },
      { create_index: { object: { name: 'all', source } } },
      { create_function: { object: { name: 'f', body } } },
      { create_role: { object: { name: 'r', privileges: [] } } },
      { update: { collection: 'Shelf' }, params: { object: { history_days: 3 } } },
      { update: { function: 'old' }, params: { object: { data: { object: { a: 1 } } } } },
      { delete: { function: 'old' } },
      { delete: { collection: 'Shelf' } },
    ]
    for (const write of writes) {
      const { json, status } = await send(server, { secret, query: write })
      const [error] = (json as { errors: readonly { code: string; description: string }[] }).errors
      const text = 'Cannot update schema from FQL v4 if schema has been staged.'
      assert.deepEqual(
        [status, error?.code, error?.description],
        [400, 'schema validation failed', text],
        JSON.stringify(write),
      )
    }
    const made = { create: source, params: { object: { data: { object: { a: 5 } } } } }
    await query(server, secret, made)
    await query(server, secret, { create_key: { object: { role: 'server' } } })
    await query(server, secret, { create_database: { object: { name: 'child' } } })
    await database.schema('POST', 'staged/commit')
    assert.deepEqual((await database.ask('[Shelf.byA(5).count(), old()]')).data, [1, 2])
    await query(server, secret, writes[0])
    await query(server, secret, { delete: { collection: 'Shelf' } })
  })

  test('functions of version 10 that create definitions stage them', async () => {
    const maker = 'function make() { Collection.create({ name: "Made" }).name }\n'
    const database = await staged(`${shelf}\n${maker}`, `${indexed}\n${maker}`)
    assert.equal((await database.ask('make()')).data, 'Made')
    assert.equal((await database.ask('Made.create({})')).error?.code, 'unbound_variable')
    await database.schema('POST', 'staged/commit')
    assert.equal((await database.ask('Made.all().count()')).data, 0)
  })
})

describe('schema files while a schema is staged', { timeout }, () => {
  test('the endpoints for single items read and write the staged schema', async () => {
    const database = await staged(shelf, indexed)
    await database.schema('POST', 'items/functions', 'function one() { 1 }')
    assert.equal((await database.schema('GET', 'items/collections/Shelf')).content, indexed.trimEnd())
    assert.equal((await database.ask('one()')).error?.code, 'unbound_variable')
    await database.schema('POST', 'staged/commit')
    assert.equal((await database.ask('one()')).data, 1)
  })

  test('an import with definitions is rejected with a reason', async () => {
    const database = await staged(shelf, indexed)
    const name = `staged${databases - 1}`
    const folder = newFolder()
    await writeFile(join(folder, 'main.fsl'), 'function brought() { 1 }\n')
    const run = () =>
      runCommand(
        ['import', '--url', server.url, '--database', name, '--state', join(folder, 'state'), folder],
        { TERRARIUM_SECRET: server.rootSecret },
      )
    const rejected = await run()
    assert.equal(rejected.status, 1, rejected.stdout)
    assert.match(rejected.stderr, new RegExp(`${name} has a staged schema: commit or abandon it`))
    assert.equal(await database.file('main.fsl', true), indexed)
    await database.schema('POST', 'staged/commit')
    const done = await run()
    assert.equal(done.status, 0, done.stderr)
    assert.equal((await database.ask('brought() + Shelf.byA(1).count()')).data, 1)
  })

  test('a push, a commit and an abandonment with a stale version are rejected', async () => {
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
})

describe('the end of a staged schema', { timeout }, () => {
  test('a finished build of an index does not change the version of the schema', async () => {
    const database = await staged(shelf, shelf)
    const documents = indexBuilderLimits.synchronousIndexBuildMax + 1
    await database.ask(`Set.sequence(0, ${documents}).forEach(n => Shelf.create({ a: n }))`)
    const statusOf = async () =>
      (await database.schema('GET', 'status')) as { status: string; version: number }
    const ended = async (expected: string) => {
      await eventually(`the status is ${expected}`, async () => (await statusOf()).status === expected)
    }
    const { version } = await database.schema('POST', 'update?staged=true', { 'main.fsl': indexed })
    await ended('ready')
    assert.equal((await statusOf()).version, version)
    // The version is that of the staging, so a push after the build needs no retry.
    await database.schema('POST', `update?staged=true&version=${version}`, { 'main.fsl': `${indexed}\n` })
    await database.schema('POST', 'staged/commit')
    assert.equal((await database.ask('Shelf.byA(7).count()')).data, 1)
  })

  test('a schema with a failed index cannot be committed, but abandoned or repaired', async () => {
    const active = 'collection Wide {\n}\n'
    const planned =
      'collection Wide {\n  index byBoth {\n    terms [mva(.a), mva(.b)]\n  }\n  unique [mva(.a), mva(.b)]\n}\n'
    const database = new Database(await keyOfNewDatabase(server, `staged${databases++}`, 'admin'))
    await database.schema('POST', 'update', { 'main.fsl': active })
    const size = indexBuilderLimits.synchronousIndexBuildMax + 10
    await database.ask(`Set.sequence(0, ${size}).forEach(n => Wide.create({ a: n, b: n }))`)
    // The document has more combinations than an index may contain for one document.
    const many = 'Set.sequence(0, 400).toArray()'
    await database.ask(`Wide.create({ id: 1, a: ${many}, b: ${many} })`)
    const { version } = await database.schema('POST', 'update?staged=true', { 'main.fsl': planned })
    const ends = async (status: string) => {
      let summary: unknown
      await eventually(`the status is ${status}`, async () => {
        const told = await database.schema('GET', 'status?format=summary')
        summary = told.pending_summary
        return told.status === status
      })
      return summary
    }
    assert.equal(
      await ends('failed'),
      '* Collection Wide:\n  ! index byBoth: failed\n  ! unique constraint on [mva(.a), mva(.b)]: failed\n',
    )
    assert.equal((await database.schema('GET', 'status')).version, version)
    const { data } = await database.ask(
      'let c = Collection.byName("Wide")!; [c.indexes!.byBoth!.status, c.constraints![0]!.status]',
    )
    assert.deepEqual(data, ['failed', 'failed'])
    const rejected = await database.request('POST', 'staged/commit')
    assert.deepEqual(
      [rejected.status, rejected.json.error.message],
      [400, 'Cannot commit schema in the `failed` state. Check schema status for details.'],
    )
    await database.schema('POST', 'staged/abandon')
    assert.equal((await database.schema('GET', 'status')).status, 'none')
    assert.equal(await database.file('main.fsl', true), active)
    await database.schema('POST', 'update?staged=true', { 'main.fsl': planned })
    await ends('failed')
    await database.ask('Wide.byId(1)!.update({ a: 0, b: 1 })')
    assert.equal(await ends('ready'), '')
    await database.schema('POST', 'staged/commit')
    assert.deepEqual((await database.ask('Wide.byBoth(0, 1).map(.id).toArray()')).data, ['1'])
  })

  test('a staged schema survives a crash, and an abandoned one leaves nothing behind', async () => {
    const database = await staged(shelf, `${indexed}\nfunction one() { 1 }\n`)
    const abandoned = await staged(shelf, indexed)
    await abandoned.schema('POST', 'staged/abandon')
    await server.kill()
    server = await startProcess({ data })
    assert.deepEqual((await abandoned.schema('GET', 'status')).status, 'none')
    assert.equal(await abandoned.file('main.fsl', true), shelf)
    assert.equal((await database.schema('GET', 'status')).status, 'ready')
    assert.equal((await database.ask('one()')).error?.code, 'unbound_variable')
    await database.schema('POST', 'staged/commit')
    assert.equal((await database.ask('one() + Shelf.byA(1).count()')).data, 1)
  })

  test('a schema that does not fit the documents, or does not exist, cannot be committed', async () => {
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
