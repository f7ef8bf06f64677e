// Runs the environment variables and the code for every client exactly as the page shows them for a new key.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { folderOfFile } from '../support/folder.ts'
import { repository } from '../support/program.ts'
import { skip, stageOfFile } from './stage.ts'

const run = promisify(execFile)

const folder = folderOfFile()

const stage = stageOfFile(async () => {
  const client = join(folder, 'node_modules/terrarium-client')
  await mkdir(client, { recursive: true })
  await cp(join(repository, 'client/package.json'), join(client, 'package.json'))
  await run(process.execPath, [join(repository, 'client/build.js'), join(client, 'dist')])
  for (const driver of ['fauna', 'faunadb'])
    await symlink(join(repository, 'node_modules', driver), join(folder, 'node_modules', driver))
})

test('the code for a new key runs as shown', { skip }, async () => {
  const page = await stage.signedIn(stage.admin, 'keys')
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.locator('.secret').waitFor()
  // Each button says what it copies.
  const buttons = await page.getByRole('dialog').getByRole('button').allTextContents()
  assert.equal(new Set(buttons).size, buttons.length, buttons.join())
  const panel = page.getByRole('region', { name: 'Connect' })
  const textOf = async (label: string) => {
    await panel.getByLabel('Connect with').selectOption({ label })
    return (await panel.locator('pre').textContent()) ?? ''
  }
  const lines = await textOf('Environment variables')
  const secret = await page.locator('.secret').textContent()
  assert.equal(lines, `TERRARIUM_URL=${stage.server.url}\nTERRARIUM_SECRET=${secret}\n`)
  const given = Object.fromEntries(
    lines
      .trim()
      .split('\n')
      .map(line => line.split('=', 2)),
  )
  const env = { ...process.env, ...given }
  for (const label of [
    'terrarium-client (version 10)',
    'Driver fauna (version 10)',
    'Driver faunadb (version 4)',
  ]) {
    const code = `${await textOf(label)}console.log(data)\nprocess.exit()\n`
    await writeFile(join(folder, 'app.mjs'), code)
    const { stdout } = await run(process.execPath, ['app.mjs'], { cwd: folder, env })
    assert.equal(stdout, '2\n', label)
  }
  const ofCurl = async (label: string) =>
    JSON.parse((await run('sh', ['-c', await textOf(label)], { env })).stdout)
  assert.equal((await ofCurl('curl (version 10)')).data, 2)
  assert.deepEqual(await ofCurl('curl (version 4)'), { resource: 2 })
})
