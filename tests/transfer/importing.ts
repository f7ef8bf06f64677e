// Imports files into a database in memory, in this process, and queries it.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import { pino } from 'pino'
import { engineOver } from '../../src/app/open-engine.ts'
import { openMemory } from '../../src/storage/kv/memory.ts'
import { Background } from '../../src/storage/store/background.ts'
import type { TransferConnection } from '../../src/transfer/connection.ts'
import { FieldTypes } from '../../src/transfer/field-types.ts'
import { ImportState } from '../../src/transfer/import-state.ts'
import { type ImportOptions, runImport } from '../../src/transfer/importer.ts'
import { localConnection } from '../../src/transfer/local-connection.ts'
import type { Report } from '../../src/transfer/report.ts'
import { findSources } from '../../src/transfer/sources.ts'
import { parseJson } from '../../src/values/json.ts'
import { writeJson } from '../../src/values/write-json.ts'
import { testConfig } from '../support/config.ts'

/** The folder of handmade files. */
export const fixtures = join(import.meta.dirname, 'fixtures')

export interface TestDatabase {
  readonly connection: TransferConnection
  /** An empty folder for files of the test. */
  readonly folder: string
  /** Imports files; paths are below the fixtures unless they are absolute. */
  import(paths: readonly string[], options?: TestImportOptions): Promise<Report>
  /** Writes a file into the folder, and returns its path. */
  file(name: string, content: string | Uint8Array): Promise<string>
  /** The result of a query (wire JSON) in the database `moved`, as exact JSON text. */
  ask(query: unknown, path?: readonly string[]): Promise<string>
  /** The number of documents of a collection, as JSON text. */
  count(collection: string, path?: readonly string[]): Promise<string>
  /** A document, as JSON text. */
  get(collection: string, id: string): Promise<string>
  /** The data of a document, as JSON text. */
  data(collection: string, id: string): Promise<string>
  /** The data of all documents of a collection, as JSON text. */
  all(collection: string): Promise<string>
}

export type TestImportOptions = Partial<ImportOptions> & {
  readonly collection?: string
  readonly encoding?: string
  /** Replaces the connection to the database. */
  readonly connection?: TransferConnection
  readonly type?: readonly string[]
}

/** Opens a database in memory for a test; its integrity is checked at the end. */
export async function openTestDatabase(t: TestContext): Promise<TestDatabase> {
  const secret = 'the-root-secret-of-a-test'
  const config = testConfig({ rootSecret: secret })
  const opened = engineOver({ kv: openMemory(), config, log: pino({ level: 'silent' }) })
  const connection = localConnection('memory', opened, secret)
  const folder = await mkdtemp(join(tmpdir(), 'terrarium-transfer-'))
  closeAfter(t, opened, folder)
  const ask = async (query: unknown, path: readonly string[] = []) =>
    writeJson(await connection.query(['moved', ...path], parseJson(JSON.stringify(query))))
  return {
    connection,
    folder,
    async import(
      paths,
      { collection, connection: other = connection, encoding, type = [], ...options } = {},
    ) {
      const types = new FieldTypes()
      for (const each of type) types.add(each)
      const resolved = paths.map(path => (path.startsWith('/') ? path : join(fixtures, path)))
      const sources = await findSources(resolved, { collection, encoding })
      const all: ImportOptions = {
        database: ['moved'],
        types,
        onConflict: 'fail',
        dryRun: false,
        skipBad: 0,
        allowIncomplete: false,
        allowShortRows: false,
        hasRowIds: false,
        emptyCells: 'null',
        remember: (identity, continues) => new ImportState(join(folder, 'state'), identity, continues),
        sha256: text => createHash('sha256').update(text).digest(),
        meaning: [],
        ...options,
      }
      const progress = { readBytes: 0, totalBytes: 0, documents: 0, phase: 'schema' } as const
      return runImport(other, sources, all, { ...progress })
    },
    async file(name, content) {
      const path = join(folder, name)
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, content)
      return path
    },
    ask,
    count: (collection, path) => ask({ count: { documents: { collection } } }, path),
    get: (collection, id) => ask({ get: document(collection, id) }),
    data: (collection, id) => ask({ select: ['data'], from: { get: document(collection, id) } }),
    all: collection =>
      ask({
        map: { lambda: 'r', expr: { select: ['data'], from: { get: { var: 'r' } } } },
        collection: { paginate: { documents: { collection } } },
      }),
  }
}

/** Checks and closes a database at the end of its test. The test runner keeps the hook of every test, but not the database. */
function closeAfter(t: TestContext, database: ReturnType<typeof engineOver>, folder: string): void {
  let open: typeof database | undefined = database
  t.after(async () => {
    assert.ok(open !== undefined)
    await new Background(open.store).runAll()
    assert.deepEqual(open.store.check(), [])
    await open.close()
    open = undefined
    await rm(folder, { recursive: true, force: true })
  })
}

/** A reference to a document, as an expression and as it is printed. */
export function document(collection: string, id: string) {
  return {
    '@ref': { id, collection: { '@ref': { id: collection, collection: { '@ref': { id: 'collections' } } } } },
  }
}
