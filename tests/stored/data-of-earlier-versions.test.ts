// A data directory and a backup of an earlier version open in this version, and every read gives the same answer.
// `npx node scripts/store-content.ts` writes the file of a version, before the version is released.

import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { runCommand } from '../support/command.ts'
import { folderOfFile } from '../support/folder.ts'
import { fql, send } from '../support/http.ts'
import { type RunningServer, startServer } from '../support/server.ts'
import { assertSound } from '../support/sound.ts'
import { readContent } from './content.ts'
import { unpack } from './pack.ts'

const folder = folderOfFile()
const files = globSync(join(import.meta.dirname, '*.stored'))

test('databases of version 0.2.0 are checked only after `typechecked: true` is set', async () => {
  const target = join(folder, 'checks')
  unpack(join(import.meta.dirname, '0.2.0.stored'), target)
  const data = join(target, 'stopped')
  const isChecked = async (server: RunningServer, secret: string) => {
    const ask = (query: string) => send(server, { path: '/query/1', secret, body: JSON.stringify({ query }) })
    const { data: says } = (await ask('Query.isEnvTypechecked()')).json as { readonly data: boolean }
    const { status, text } = await ask('Item.all().map(.nmae).first()')
    assert.deepEqual([status, text.includes('does not have field `nmae`')], says ? [400, true] : [200, false])
    return says
  }
  const ofRoot = (server: RunningServer) => fql(server, server.rootSecret, 'Query.isEnvTypechecked()')
  {
    await using server = await startServer({ data })
    const app = `${server.rootSecret}:app:admin`
    assert.deepEqual([await isChecked(server, app), await ofRoot(server)], [false, false])
    // Code with a type error can be written as before.
    await fql(server, app, 'Function.create({ name: "wrong", body: "() => Item.all().map(.nmae)" }).name')
  }
  await using server = await startServer({ data })
  const app = `${server.rootSecret}:app:admin`
  assert.equal(await isChecked(server, app), false, 'after a restart, too')
  await fql(server, server.rootSecret, 'Database.byName("app")!.update({ typechecked: true }).name')
  assert.deepEqual([await isChecked(server, app), await ofRoot(server)], [true, false])
})

test('there is data of earlier versions', () => assert.ok(files.length >= 2))

for (const file of files) {
  const version = basename(file, '.stored')

  for (const state of ['stopped', 'killed']) {
    test(`${version}: the data directory of a ${state} service`, async () => {
      const target = join(folder, `${version} ${state}`)
      const answers = unpack(file, target)
      const data = join(target, state)
      {
        await using server = await startServer({ data })
        assert.deepEqual(await readContent(server), answers)
      }
      await assertSound(data)
    })
  }

  test(`${version}: a backup`, async () => {
    const target = join(folder, `${version} backup`)
    const answers = unpack(file, target)
    const data = join(target, 'restored')
    await runCommand(['restore', join(target, 'backup'), '--data', data])
    await using server = await startServer({ data })
    assert.deepEqual(await readContent(server), answers)
  })
}
