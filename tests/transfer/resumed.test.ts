// An import whose connection breaks after any batch, and that is resumed any number of times, writes the same database
// as an import without a break, for every source format.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { QueryError, type TransferConnection } from '../../src/transfer/connection.ts'
import { ImportState } from '../../src/transfer/import-state.ts'
import { isProgressValid } from '../../src/transfer/progress-check.ts'
import { TransferError } from '../../src/transfer/record.ts'
import type { Report } from '../../src/transfer/report.ts'
import { fc } from '../support/fast-check.ts'
import { exportTo, contentOf as filesOf } from './exports.ts'
import { document, openTestDatabase, type TestDatabase, type TestImportOptions } from './importing.ts'
import { fillRandomly } from './random-database.ts'

/** Document number `n` in a format, as text. */
type Write = (n: number) => string

const ts = (n: number) => 1_600_000_000_000_000 + n
const driver: Write = n =>
  `{"ref":{"@ref":{"id":"${n}","collection":{"@ref":{"id":"c","collection":{"@ref":{"id":"collections"}}}}}},` +
  `"ts":${ts(n)},"data":{"n":${n}}}`
const row: Write = n => `{"n":${n}}`

const tagged: Write = n =>
  `{"id":"${n}","coll":{"@mod":"c"},"ts":{"@time":"2020-09-13T12:26:40Z"},"n":{"@int":"${n}"}}`
const simple: Write = n => `{"id":"${n}","coll":"c","ts":"2020-09-13T12:26:40Z","n":${n}}`
const driver10: Write = n =>
  `{"coll":{"name":"c"},"id":"${n}","ts":{"isoString":"2020-09-13T12:26:40Z"},"n":${n}}`
const documents: Write = n => `{"collectionId":"c","document":{"n":${n}}}`
const shell: Write = n => `{ ref: Ref(Collection("c"), "${n}"), ts: ${ts(n)}, data: { n: ${n} } }`

/** Arrangements of documents in a JSON file. `pages`: documents in pages, which a script has written one by one. */
const json: Readonly<Record<string, (pages: readonly (readonly string[])[]) => string>> = {
  lines: pages => `${pages.flat().join('\n')}\n`,
  array: pages => `[${pages.flat().join(',\n')}]`,
  page: pages => `{"data":[${pages.flat().join(',')}]}`,
  response: pages => `{"resource":{"data":[${pages.flat().join(',')}]}}`,
  'a page per line': pages => pages.map(page => `{"data":[${page.join(',')}]}\n`).join(''),
  'an array of pages': pages => `[${pages.map(page => `{"data":[${page.join(',')}]}`).join(',')}]`,
  'an array of responses': pages =>
    `[${pages.map(page => `{"resource":{"data":[${page.join(',')}]}}`).join(',')}]`,
}

interface Layout {
  readonly name: string
  readonly file: string
  readonly write: Write
  readonly arrange: (pages: readonly (readonly string[])[]) => string
}

const jsonFormats = { driver, tagged, simple, driver10, documents, row }

const layouts: readonly Layout[] = [
  ...Object.entries(jsonFormats).flatMap(([format, write]) =>
    Object.entries(json).map(([name, arrange]) => ({
      name: `${format}, ${name}`,
      file: 'c.json',
      write,
      arrange,
    })),
  ),
  {
    name: 'CSV',
    file: 'c.csv',
    write: n => `${n},"line ${n}\nand more"`,
    arrange: pages => `n,text\n${pages.flat().join('\n')}\n`,
  },
  {
    name: 'CSV with ids',
    file: 'c.csv',
    write: n => `${n},${n}`,
    arrange: pages => `id,n\n${pages.flat().join('\n')}\n`,
  },
  { name: 'output of the shell', file: 'c.fql', write: shell, arrange: pages => pages.flat().join('\n') },
  {
    name: 'pages of the shell',
    file: 'c.fql',
    write: shell,
    arrange: pages => pages.map(page => `{ data: [${page.join(', ')}] }`).join('\n'),
  },
]

/** Encodings of a file. */
const encodings: Readonly<Record<string, (text: string) => Uint8Array>> = {
  plain: text => Buffer.from(text),
  'UTF-8 with a mark': text => Buffer.from(`\ufeff${text}`),
  'UTF-16': text => Buffer.from(`\ufeff${text}`, 'utf16le'),
  gzip: text => gzipSync(text),
}

/** A break of the connection: the number of batches before the break, and whether the next batch is still written. */
interface Break {
  readonly batches: number
  readonly isWritten: boolean
}

/** A connection that breaks once. */
function breaking(connection: TransferConnection, { batches, isWritten }: Break): TransferConnection {
  let count = 0
  return {
    ...connection,
    async write(...batch) {
      if (count++ < batches) return connection.write(...batch)
      if (isWritten) await connection.write(...batch)
      throw new TransferError('the connection is broken')
    },
  }
}

/** Saves the progress after every batch. */
class EagerState extends ImportState {
  override progress(...[file, place, report]: Parameters<ImportState['progress']>): void {
    this.save(file, place, false, report)
  }
}

/** Imports files, with breaks. Resolves with the report of the last attempt. */
async function importWith(
  database: TestDatabase,
  breaks: readonly Break[],
  files: readonly string[],
  options: TestImportOptions,
): Promise<Report> {
  const remember = (identity: unknown, continues: boolean) =>
    new EagerState(join(database.folder, 'state'), identity, continues)
  for (const each of breaks) {
    const connection = breaking(database.connection, each)
    try {
      return await database.import(files, { ...options, remember, connection })
    } catch (error) {
      assert.ok(error instanceof TransferError && error.message === 'the connection is broken')
    }
  }
  return database.import(files, { ...options, remember })
}

/** All documents of the collection `c`, each with its number of versions. */
function contentOf(database: TestDatabase, name: string): Promise<string> {
  const set = { documents: { collection: 'c' } }
  const ref = { var: 'ref' }
  const events = { count: { select: ['data'], from: { paginate: { events: ref } } } }
  const expr = [
    { select: ['ref', 'id'], from: { get: ref } },
    { select: ['data'], from: { get: ref } },
    events,
  ]
  return database.ask({ map: { lambda: 'ref', expr }, collection: { paginate: set, size: 100_000 } }, [name])
}

const breakOf = fc.record({ batches: fc.nat({ max: 3 }), isWritten: fc.boolean() })

const cases = fc.record({
  layout: fc.constantFrom(...layouts),
  encoding: fc.constantFrom(...Object.keys(encodings)),
  /** The number of documents in each page. */
  pages: fc.array(fc.nat({ max: 220 }), { minLength: 1, maxLength: 3 }),
  breaks: fc.array(breakOf, { minLength: 1, maxLength: 4 }),
  onConflict: fc.constantFrom('fail' as const, 'replace' as const, 'keep' as const),
})

test('a resumed import writes the same documents as an import without a break', async t => {
  const database = await openTestDatabase(t)
  let run = 0
  await fc.assert(
    fc.asyncProperty(cases, async ({ breaks, encoding, layout, onConflict, pages }) => {
      let n = 0
      const texts = pages.map(count => Array.from({ length: count }, () => layout.write(++n)))
      if (n === 0) return
      const encode = encodings[encoding] as (text: string) => Uint8Array
      const file = await database.file(layout.file, encode(layout.arrange(texts)))
      const [straight, resumed] = [`straight${++run}`, `resumed${run}`]
      const options = { collection: 'c', onConflict }
      await database.import([file], { ...options, database: ['moved', straight] })
      const report = await importWith(database, breaks, [file], { ...options, database: ['moved', resumed] })
      const { equal, read, written } = report.total()
      assert.deepEqual({ read, stored: written + equal }, { read: n, stored: n })
      assert.equal(await contentOf(database, resumed), await contentOf(database, straight))
    }),
    { numRuns: 30 },
  )
})

/** The files of an export. The order of the items in a schema file may depend on breaks. */
function inAnyOrder(files: Readonly<Record<string, string>>): object {
  const entries = Object.entries(files).map(([path, text]) => {
    const lines = text.split('\n').filter(line => line.trim() !== '')
    return [path, path.endsWith('.fsl') ? lines.sort() : text]
  })
  return Object.fromEntries(entries)
}

test('a resumed import of an export writes the same database as an import without a break', async t => {
  const property = fc.asyncProperty(
    fc.nat(1000),
    fc.array(breakOf, { minLength: 1, maxLength: 3 }),
    fc.boolean(),
    async (seed, breaks, history) => {
      const [source, copy] = [await openTestDatabase(t), await openTestDatabase(t)]
      await fillRandomly(source, seed)
      const options = { fileFormat: 'jsonl', history } as const
      const folder = await exportTo(source, 'export', options)
      const report = await importWith(copy, breaks, [folder], { database: ['other'] })
      const different = report.data.schema.filter(({ outcome }) => outcome === 'different')
      assert.deepEqual(different, [])
      const again = await exportTo(copy, 'again', { ...options, database: ['other'] })
      assert.deepEqual(inAnyOrder(await filesOf(again)), inAnyOrder(await filesOf(folder)))
    },
  )
  await fc.assert(property, { numRuns: 5 })
})

test('the rest of a page is imported after a break within the page', async t => {
  const database = await openTestDatabase(t)
  const all = Array.from({ length: 300 }, (_, at) => at + 1)
  const files = {
    'page.fql': `{ data: [${all.map(shell).join(', ')}] }`,
    'pages.json': `[{"data":[${all.map(driver).join(',')}]}]`,
  }
  for (const [name, text] of Object.entries(files)) {
    const file = await database.file(name, text)
    const options = { onConflict: 'keep', database: ['moved', name] } as const
    const report = await importWith(database, [{ batches: 1, isWritten: false }], [file], options)
    assert.equal(report.total().read, 300, name)
    assert.equal(await database.count('c', [name]), '300', name)
  }
})

test('after the collection was deleted, an interrupted import starts again', async t => {
  const database = await openTestDatabase(t)
  const lines = Array.from({ length: 250 }, (_, at) => driver(at + 1))
  const file = await database.file('c.jsonl', lines.join('\n'))
  const remove = () => database.ask({ delete: { collection: 'c' } })
  const create = () => database.ask({ create_collection: { object: { name: 'c' } } })
  for (const steps of [[remove], [remove, create]]) {
    const options = { onConflict: 'keep', skipBad: 0 } as const
    const connection = breaking(database.connection, { batches: 1, isWritten: false })
    await assert.rejects(database.import([file], { ...options, connection }), /the connection is broken/)
    for (const step of steps) await step()
    const report = await database.import([file], options)
    assert.equal(report.total().written, 250)
    assert.equal(await database.count('c'), '250')
    await remove()
  }
})

test('an interrupted import that has written credentials continues', async t => {
  const database = await openTestDatabase(t)
  const ref = '{"@ref":{"id":"1","collection":{"@ref":{"id":"credentials"}}}}'
  const instance = JSON.stringify(document('c', '1'))
  const credentials = `{"ref":${ref},"ts":${ts(1)},"instance":${instance},"hashed_password":"x"}`
  const lines = [driver(1), credentials, ...Array.from({ length: 250 }, (_, at) => driver(at + 2))]
  const file = await database.file('c.jsonl', lines.join('\n'))
  const options = { onConflict: 'keep' } as const
  const report = await importWith(database, [{ batches: 1, isWritten: false }], [file], options)
  assert.deepEqual(Object.keys(report.data.collections), ['c', 'credentials'])
  const { kept, written } = report.total()
  assert.deepEqual({ kept, written }, { kept: 0, written: 252 })
})

test('an import that cannot check its progress keeps the progress', async t => {
  const database = await openTestDatabase(t)
  const lines = Array.from({ length: 250 }, (_, at) => driver(at + 1))
  const file = await database.file('c.jsonl', lines.join('\n'))
  const errors = [new QueryError('unauthorized', 'Unauthorized'), new TransferError('cannot be reached')]
  for (const [at, error] of errors.entries()) {
    const options = { onConflict: 'keep', database: ['moved', String(at)] } as const
    const broken = breaking(database.connection, { batches: 1, isWritten: false })
    await assert.rejects(database.import([file], { ...options, connection: broken }), /is broken/)
    const failing = { ...database.connection, query: () => Promise.reject(error) }
    await assert.rejects(database.import([file], { ...options, connection: failing }), TransferError)
    const { kept, written } = (await database.import([file], options)).total()
    assert.deepEqual({ kept, written }, { kept: 0, written: 250 })
  }
})

test('the progress is invalid if the database is missing', async t => {
  const database = await openTestDatabase(t)
  const file = await database.file('c.jsonl', driver(1))
  const { data } = await database.import([file])
  const isValid = (path: readonly string[]) => isProgressValid(database.connection, path, data)
  assert.equal(await isValid(['moved']), true)
  assert.equal(await isValid(['moved', 'gone']), false)
  assert.equal(await isValid(['gone', 'moved']), false)
})

test('a bad document of a page does not affect the other documents of the page', async t => {
  const database = await openTestDatabase(t)
  const page = [driver(1), driver(2).replace('"data":{"n":2}', '"data":2'), driver(3)]
  const file = await database.file('pages.json', `[{"data":[${page.join(',')}]}]`)
  const report = await database.import([file], { skipBad: 1 })
  const reasons = report.data.bad.map(({ id, reason }) => ({ id, reason }))
  assert.deepEqual(reasons, [{ id: '2', reason: 'document 2 of the page: its `data` is not an object' }])
  assert.equal(await database.count('c'), '2')
})
