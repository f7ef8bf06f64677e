// A database with a GraphQL schema survives restarts, backups, workers, `kill -9`, and changes of the schema in both
// languages. All services have a slow lane. The file takes more than 20 seconds, because it starts six services.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { folderOfFile } from '../support/folder.ts'
import { dataOf, importSchema } from '../support/graphql.ts'
import { assertApp, createApp } from '../support/graphql-app.ts'
import { fql, keyOfNewDatabase, runText } from '../support/http.ts'
import { outputOf } from '../support/program.ts'
import { pushFiles, requestSchema } from '../support/schema-files.ts'
import { type ServerProcess, startProcess } from '../support/server-process.ts'

const folder = folderOfFile()
const data = join(folder, 'data')

/** Starts a service on a data directory, runs the steps, and stops the service. */
async function during(
  steps: (server: ServerProcess) => Promise<void>,
  flags: readonly string[] = [],
  directory = data,
): Promise<void> {
  await using server = await startProcess({ data: directory, flags })
  await steps(server)
}

test('a GraphQL database survives restarts, kills, workers, backups and changes of its schema', async () => {
  let secret = ''
  await during(async server => {
    secret = await keyOfNewDatabase(server, 'library', 'admin')
    await createApp(server, secret)
    await assertApp(server, secret)
  })
  const backup = join(folder, 'backup')
  await during(async server => {
    await assertApp(server, secret)
    await outputOf(['backup', backup, '--data', data])
    await server.kill()
  })
  await during(
    async server => {
      await assertApp(server, secret)
      await importSchema(server, secret, 'type Shop { name: String! } type Query { allShops: [Shop!] }')
      await dataOf(server, secret, 'mutation { createShop(data: {name: "s"}) { name } }')
      await assertApp(server, secret)
    },
    ['--workers', '2'],
  )
  await during(async server => {
    const { json } = await requestSchema(server, secret, 'files/main.fsl')
    const { content } = json as { content: string }
    const more = 'collection Reader { name: String? }\nfunction half(n) { n / 2 }'
    await pushFiles(server, secret, { 'main.fsl': `${content}\n${more}\n` })
    await fql(server, secret, 'Book.definition.update({ computed_fields: { short: { body: "_ => 1" } } })')
    await runText(server, secret, 'Update(Collection("Card"), { history_days: 3 })')
    await assertApp(server, secret)
    assert.equal(await fql(server, secret, 'Book.all().map(.author.name).first()'), 'Ada')
  })
  const restored = join(folder, 'restored')
  await outputOf(['restore', backup, '--data', restored])
  await during(server => assertApp(server, secret), [], restored)
})
