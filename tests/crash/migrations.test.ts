// Typed documents migrate while both languages read and write them, the process is killed while they are rewritten.
// Afterwards documents, indexes, history and exports agree.

import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { folderOfFile } from '../support/folder.ts'
import { fql, keyOfNewDatabase, query, runText, send, sendFql } from '../support/http.ts'
import { outputOf } from '../support/program.ts'
import { type ServerProcess, startProcess } from '../support/server-process.ts'
import { assertSound } from '../support/sound.ts'

const ownFolder = folderOfFile()

/** More documents than are indexed or rewritten in one step. */
const documents = 900

async function fill(server: ServerProcess, secret: string): Promise<void> {
  await fql(
    server,
    secret,
    `Collection.create({
      name: "Shelf",
      history_days: 1,
      fields: { n: { signature: "Int" }, a: { signature: "Int | String" } },
      indexes: { byN: { terms: [{ field: ".n" }] } },
      constraints: [{ unique: [".n"] }],
    })`,
  )
  for (let from = 0; from < documents; from += 300) {
    const each = 'i => Shelf.create({ id: i, n: i, a: if (i % 2 == 0) i else "odd" })'
    await fql(server, secret, `Set.sequence(${from}, ${from + 300}).forEach(${each})`)
  }
}

const push = `Shelf.definition.update({
  fields: { n: null, m: { signature: "Int" }, a: { signature: "String" }, b: { signature: "Int", default: "0" } },
  indexes: { byN: null, byM: { terms: [{ field: ".m" }] }, byB: { terms: [{ field: ".b" }] } },
  constraints: [{ unique: [".m"] }],
  migrations: [
    { move: { field: ".n", to: ".m" } },
    { split: { field: ".a", to: [".a", ".b"] } },
    { backfill: { field: ".a", value: "'even'" } },
  ],
})`

const reference = (id: number) => ({ ref: { collection: 'Shelf' }, id: String(id) })

/** Writes documents unchanged, in both languages, until the server has exited or `isOver`. Returns the number of writes. */
async function writeOn(server: ServerProcess, secret: string, isOver: () => boolean): Promise<number> {
  let written = 0
  for (let id = 0; !isOver(); id = (id + 7) % documents) {
    const touch = { update: reference(id), params: { object: { data: { object: {} } } } }
    const update = `Shelf.byId("${(id + 3) % documents}")!.update({})`
    const answers = await Promise.all([
      send(server, { secret, query: touch }).catch(() => undefined),
      sendFql(server, secret, update).catch(() => undefined),
    ])
    for (const answer of answers) {
      if (answer === undefined) return written
      assert.equal(answer.status, 200, answer.text)
      written++
    }
  }
  return written
}

/** Returns the data of a document after its migration. */
function migrated(id: number): { readonly m: number; readonly a: string; readonly b: number } {
  return id % 2 === 0 ? { m: id, a: 'even', b: id } : { m: id, a: 'odd', b: 0 }
}

async function assertContents(server: ServerProcess, secret: string): Promise<void> {
  const all = await fql(server, secret, `Shelf.all().pageSize(${documents}).map(d => d.data).paginate()`)
  assert.deepEqual(
    (all as { data: unknown }).data,
    Array.from({ length: documents }, (_, id) => migrated(id)),
  )
}

async function assertMigrated(server: ServerProcess, secret: string): Promise<void> {
  await assertContents(server, secret)
  for (const id of [0, 1, 450, 899]) {
    assert.deepEqual(
      await query(server, secret, { select: ['data'], from: { get: reference(id) } }),
      migrated(id),
    )
    assert.deepEqual(await fql(server, secret, `Shelf.byM(${id}).map(.id).toArray()`), [String(id)])
  }
  const taken = await sendFql(server, secret, 'Shelf.create({ m: 5, a: "", b: 1 })')
  assert.equal((taken.json as { error: { code: string } }).error.code, 'constraint_failure')
}

async function built(server: ServerProcess, secret: string): Promise<void> {
  await eventually('the index is built', async () => {
    return (await fql(server, secret, 'Shelf.definition.indexes.byB!.status')) === 'complete'
  })
}

test('typed documents migrate under writes of both languages, a kill and a restart', async () => {
  const data = join(ownFolder, 'data')
  let server = await startProcess({ data })
  const secret = await keyOfNewDatabase(server, 'shop', 'admin')
  await fill(server, secret)
  let isMigrated = false
  const writing = writeOn(server, secret, () => isMigrated)
  await fql(server, secret, push)
  await assertMigrated(server, secret)
  isMigrated = true
  assert.ok((await writing) > 0)
  const interrupted = writeOn(server, secret, () => false)
  await server.kill()
  await interrupted
  await assertSound(data)
  server = await startProcess({ data })
  await assertMigrated(server, secret)
  await built(server, secret)
  assert.deepEqual(await fql(server, secret, 'Shelf.byB(450).map(.id).toArray()'), ['450'])
  assert.equal(await fql(server, secret, 'Shelf.byB(0).count()'), documents / 2 + 1)
  await fql(server, secret, 'Shelf.byId("4")!.update({ b: 5000 })')
  assert.deepEqual(await fql(server, secret, '[Shelf.byB(4).count(), Shelf.byB(5000).count()]'), [0, 1])
  await fql(server, secret, 'Shelf.byId("4")!.update({ b: 4 })')
  const folder = join(ownFolder, 'exported')
  const env = { TERRARIUM_SECRET: server.rootSecret }
  const to = (database: string) => ['--url', server.url, '--database', database]
  await outputOf(['export', ...to('shop'), folder], env)
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter(entry => entry.isFile())
  const texts = await Promise.all(files.map(each => readFile(join(each.parentPath, each.name), 'utf8')))
  assert.match(texts.join('\n'), /"m":/)
  assert.doesNotMatch(texts.join('\n'), /internal_migrations/)
  await outputOf(['import', ...to('copy'), '--state', join(ownFolder, 'state'), folder], env)
  const create = 'CreateKey({ database: Database("copy"), role: "admin" })'
  const copy = (await runText(server, server.rootSecret, create)) as { secret: string }
  await assertMigrated(server, copy.secret)
  await server.stop()
  await assertSound(data)
})
