// Databases, collections and schema files may have any name. An export contains all of them inside its folder, distinct
// on every file system, and an import restores each name.

import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { type TestContext, test } from 'node:test'
import { parseJson } from '../../src/values/json.ts'
import { contentOf, exportTo } from './exports.ts'
import { openTestDatabase, type TestDatabase } from './importing.ts'

const object = (fields: object) => ({ object: fields })

async function openEmpty(t: TestContext): Promise<TestDatabase> {
  const database = await openTestDatabase(t)
  await database.connection.query([], parseJson('{"create_database":{"object":{"name":"moved"}}}'))
  return database
}

/** Exports, imports elsewhere and exports again; resolves with the files of the first export. */
async function goAround(t: TestContext, first: TestDatabase): Promise<Record<string, string>> {
  const folder = await exportTo(first, 'first')
  assert.deepEqual(await readdir(first.folder), ['first'], 'nothing lies outside of the export')
  const second = await openTestDatabase(t)
  const report = await second.import([folder])
  assert.deepEqual(report.total().bad, 0)
  assert.deepEqual(report.data.passedOver, [])
  const content = await contentOf(folder)
  assert.deepEqual(await contentOf(await exportTo(second, 'second')), content)
  const steps = Object.keys(content).map(path => path.split(sep))
  const places = steps.flatMap(path => path.map((_, at) => path.slice(0, at + 1).join('/')))
  const caseless = new Set([...new Set(places)].map(place => place.toLowerCase()))
  assert.equal(caseless.size, new Set(places).size, 'a file system that ignores case holds all of it')
  for (const step of steps.flat()) assert.ok(step.length <= 255, step)
  return content
}

async function filesOf({ connection }: TestDatabase): Promise<readonly string[]> {
  return (await connection.schemaFiles(['moved'])).map(({ name }) => name).toSorted()
}

test('schema files are in the folders given by their names', async t => {
  const first = await openEmpty(t)
  const files = ['main.fsl', 'collections/a.fsl', 'collections/b.fsl', 'functions/deep/er/one.fsl'].map(
    (name, at) => ({ name, text: `collection C${at} {\n}\n` }),
  )
  await first.connection.pushSchema(['moved'], files, false)
  const content = await goAround(t, first)
  for (const { name, text } of files) assert.equal(content[join('schema', name)], text)
  const second = await openEmpty(t)
  await second.import([join(first.folder, 'first')])
  assert.deepEqual(await filesOf(second), files.map(({ name }) => name).toSorted())
})

test('no name of a schema file leaves its folder or leads into another file', async t => {
  const first = await openEmpty(t)
  const long = 'é'.repeat(150)
  const names = [
    ...['../../up.fsl', '../databases/x.fsl', '/etc/root.fsl', './here.fsl', 'a//b.fsl', 'a/../c.fsl'],
    ...[
      '.hidden.fsl',
      '.git/config.fsl',
      '.fsl',
      'a/.fsl',
      'back\\slash.fsl',
      'C:\\x.fsl',
      'with space?.fsl',
    ],
    ...['Case.fsl', 'case.fsl', 'Dir/one.fsl', 'dir/two.fsl', 'dir/Two.fsl', 'É.fsl', 'é.fsl'],
    ...['file.fsl', 'file.fsl/within.fsl', 'keys.jsonl/k.fsl', 'collections.fql/k.fsl', '%2E%2E/percent.fsl'],
    ...['metadata_00.json/m.fsl', 'databases/d.fsl', 'schema/s.fsl', 'history/h.fsl', `${long}.fsl`],
    ...[`${long}/${'X'.repeat(240)}.fsl`, `${long}/${'x'.repeat(240)}.fsl`, 'line\nbreak.fsl', '%/p.fsl'],
  ]
  const files = names.map((name, at) => ({ name, text: `function f${at}() {\n  ${at}\n}\n` }))
  await first.connection.pushSchema(['moved'], files, false)
  await goAround(t, first)
  const second = await openTestDatabase(t)
  await second.import([join(first.folder, 'first')])
  assert.deepEqual(await filesOf(second), names.toSorted())
})

test('collections and databases whose names differ only by case, or are invalid as names of folders', async t => {
  const first = await openEmpty(t)
  const names = [
    'ab',
    'Ab',
    'AB',
    '..',
    'metadata_00.json',
    'databases',
    'schema',
    'history',
    'é'.repeat(120),
    'A'.repeat(120),
    'a'.repeat(120),
  ]
  for (const [at, name] of names.entries()) {
    await first.ask({ create_collection: object({ name }) })
    const params = object({ data: object({ at }) })
    await first.ask({ create: { ref: { collection: name }, id: '1' }, params })
    await first.ask({ create_database: object({ name }) })
    await first.ask({ create_collection: object({ name: `in${at}` }) }, [name])
    await first.ask({ create: { ref: { collection: `in${at}` }, id: '1' }, params }, [name])
  }
  await goAround(t, first)
  const second = await openTestDatabase(t)
  await second.import([join(first.folder, 'first')])
  for (const [at, name] of names.entries()) {
    const data = { select: ['data', 'at'], from: { get: { ref: { collection: name }, id: '1' } } }
    assert.equal(await second.ask(data), String(at))
    const within = { select: ['data', 'at'], from: { get: { ref: { collection: `in${at}` }, id: '1' } } }
    assert.equal(await second.ask(within, [name]), String(at))
  }
})

test('collections with the names of native ones keep their references', async t => {
  const first = await openEmpty(t)
  for (const name of ['Collection', 'Token', 'Deleted']) {
    await first.ask({ create_collection: object({ name }) })
    const ref = { ref: { collection: name }, id: '1' }
    await first.ask({ create: ref, params: object({ data: object({ ref, of: { collection: name } }) }) })
  }
  await goAround(t, first)
})

test('a collection with the name of the password hashes is rejected, and nothing remains', async t => {
  const first = await openEmpty(t)
  await first.ask({ create_collection: object({ name: 'Credential' }) })
  await assert.rejects(exportTo(first, 'first'), {
    message:
      'the collection Credential of moved cannot be exported: exports keep the hashes of passwords under this name',
  })
  assert.deepEqual(await readdir(first.folder), [])
})
