// GraphQL schemas in exports: a database keeps its schema and its operations. Old exports contain only the metadata of
// schema objects, and the report names the types that are missing.

import assert from 'node:assert/strict'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { runCommand } from '../support/command.ts'
import { folderOfFile } from '../support/folder.ts'
import { dataOf, importSchema } from '../support/graphql.ts'
import { appSchema, assertApp, createApp } from '../support/graphql-app.ts'
import { keyOfNewDatabase, rootQuery } from '../support/http.ts'
import { serverOfFile } from '../support/server.ts'

const server = serverOfFile()
const folder = folderOfFile()

const run = (...words: string[]) =>
  runCommand(words, { TERRARIUM_URL: server.url, TERRARIUM_SECRET: server.rootSecret })

/** Creates the application in a new database, and exports the database. Returns the folder of the export. */
async function exportApp(name: string, ...words: string[]): Promise<string> {
  await createApp(server, await keyOfNewDatabase(server, name, 'admin'))
  const target = join(folder, name)
  assert.equal((await run('export', target, '--database', name, ...words)).status, 0)
  return target
}

/** Imports a folder to a new database. Returns the report and a secret. */
async function importTo(name: string, source: string) {
  const { status, stderr, stdout } = await run('import', source, '--database', name)
  assert.equal(status, 0, stderr + stdout)
  const { secret } = (await rootQuery(server, {
    create_key: { object: { role: 'admin', database: { database: name } } },
  })) as { secret: string }
  return { report: stdout, secret }
}

test('an export with its import keeps the schema and all operations', async () => {
  for (const format of ['tagged', 'simple']) {
    const source = await exportApp(`library-${format}`, '--format', format)
    assert.equal(await readFile(join(source, 'schema/schema.gql'), 'utf8'), appSchema)
    const { report, secret } = await importTo(`moved-${format}`, source)
    assert.doesNotMatch(report, /Incomplete/)
    await assertApp(server, secret)
  }
})

test('an old export serves types, queries and resolvers, and the report asks for the missing types', async () => {
  const source = await exportApp('old')
  await rm(join(source, 'schema/schema.gql'))
  const { report, secret } = await importTo('served', source)
  assert.match(
    report,
    /GraphQL schema schema\.gql in served: the export does not contain the types Address, Filter, Found, Genre\. .*terrarium graphql import FILE/,
  )
  assert.deepEqual(
    await dataOf(
      server,
      secret,
      '{ allAuthors { data { name books { data { title } } prizes { data { year } } } } pages { data { title } } }',
    ),
    {
      allAuthors: {
        data: [
          { name: 'Ada', books: { data: [{ title: "Ada's poems" }] }, prizes: { data: [{ year: 1999 }] } },
        ],
      },
      pages: { data: [{ title: "Ada's poems" }] },
    },
  )
  await importSchema(server, secret, appSchema)
  await assertApp(server, secret)
})
