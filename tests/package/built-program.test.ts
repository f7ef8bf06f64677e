// The bundle that a clone builds: it serves with its threads and processes, reports positions in the sources, and is
// never run after the sources have changed.

import assert from 'node:assert/strict'
import { appendFile, cp, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { folderOfFile } from '../support/folder.ts'
import { send } from '../support/http.ts'
import { repository } from '../support/program.ts'
import { startProcess } from '../support/server-process.ts'
import { run } from './npm.ts'

interface Check {
  readonly ended: number | null
  readonly failure: string | null
}

describe('a clone with a built program', () => {
  const clone = folderOfFile()
  let lineOfError: number
  const program = join(clone, 'bin/terrarium.js')
  const build = () => run(process.execPath, [join(clone, 'scripts/build-program.js')])
  const builtFolders = () => readdir(join(clone, 'dist'))

  before(async () => {
    for (const name of ['bin', 'scripts', 'src', 'package.json', 'package-lock.json'])
      await cp(join(repository, name), join(clone, name), { recursive: true })
    await symlink(join(repository, 'node_modules'), join(clone, 'node_modules'))
    const log = join(clone, 'src/server/service-log.ts')
    lineOfError = (await readFile(log, 'utf8')).split('\n').length
    await appendFile(log, "openServiceLog('info', false).error({ err: new Error('of the test') }, 'told')\n")
    await build()
  })

  test('serves, with threads for passwords, processes for long queries and commands of its own', async () => {
    await using server = await startProcess({ program })
    const ask = (query: unknown) => send(server, { secret: server.rootSecret, query })
    // A slow-lane process evaluates long texts.
    const text = 'a'.repeat(300_000)
    assert.deepEqual((await ask({ length: text })).json, { resource: 300_000 })
    await ask({ create_collection: { object: { name: 'people' } } })
    const credentials = { object: { password: 'of a person' } }
    const created = await ask({
      select: ['ref'],
      from: { create: { collection: 'people' }, params: { object: { credentials } } },
    })
    const person = (created.json as { readonly resource: unknown }).resource
    const identified = await ask({ identify: person, password: 'of a person' })
    assert.deepEqual(identified.json, { resource: true })
    const ownCommand = { path: '/api/v1/health/checks', secret: server.rootSecret, body: '' }
    assert.equal((await send(server, ownCommand)).status, 202)
    const state = { method: 'GET', path: '/api/v1/health', secret: server.rootSecret }
    const check = async () => ((await send(server, state)).json as { tasks: { check: Check } }).tasks.check
    await eventually('the check has ended', async () => (await check()).ended !== null)
    assert.equal((await check()).failure, null)
    assert.match(server.stderr(), new RegExp(`\\(?src/server/service-log\\.ts:${lineOfError}:\\d+`))
  })

  test('runs the changed sources until it is built again', async () => {
    const [folder] = await builtFolders()
    const words = async () => (await run(process.execPath, [program, '--version'])).stdout
    const main = join(clone, 'dist', folder as string, 'main.js')
    const marked = (await readFile(main, 'utf8')).replace(
      'process.exit(',
      "process.stdout.write('built\\n')\nprocess.exit(",
    )
    await writeFile(main, marked)
    assert.match(await words(), /^built\nterrarium .*\n$/)
    await appendFile(join(clone, 'src/base/program-files.ts'), "process.stdout.write('changed\\n')\n")
    assert.match(await words(), /^changed\nterrarium .*\n$/)
    await build()
    assert.equal((await builtFolders()).length, 2)
    assert.match(await words(), /^changed\nterrarium .*\n$/)
  })
})
