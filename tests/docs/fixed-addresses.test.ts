// Runs the commands of the guide to fixed addresses: a certificate for several names serves all of them, clients need
// to trust only its authority, and a command replaces the original's container.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { repository, temporaryFolder } from '../support/program.ts'
import { startProcess } from '../support/server-process.ts'
import { read } from '../tidy/sources.ts'

const page = read('docs/guides/fixed-addresses.md')
const run = promisify(execFile)

/** The commands of the page that begin with a text. */
function commands(beginning: string): readonly string[] {
  const found = page.split('\n').filter(line => line.startsWith(`    ${beginning}`))
  assert.ok(found.length > 0, beginning)
  return found.map(line => line.trim())
}

test('one certificate is valid for all its names', async () => {
  const folder = await temporaryFolder()
  try {
    const made = commands('sh deploy/make-certificate.sh').toSorted((a, b) => b.length - a.length)[0] ?? ''
    await run('sh', ['-c', made.replace('deploy/', `${repository}/deploy/`)], { cwd: folder })
    const certificates = join(folder, 'certificates')
    assert.equal(await readFile(join(certificates, '.gitignore'), 'utf8'), '*-key.pem\n')
    const served = commands('npx terrarium-db serve --port 443')[0]?.split(' ') ?? []
    const flags = served.filter(word => word.startsWith('--tls') || word.startsWith('certificates/'))
    await using server = await startProcess({
      flags: flags.map(word => word.replace('certificates', certificates)),
    })
    const { port } = new URL(server.url)
    const names = made.split(' ').slice(3)
    assert.ok(names.length > 1)
    for (const name of names) {
      const there = ['--resolve', `${name}:${port}:127.0.0.1`, `https://${name}:${port}/ping?scope=read`]
      const { stdout } = await run('curl', ['-sS', '--cacert', join(certificates, 'ca.pem'), ...there])
      assert.match(stdout, /Scope read is OK/)
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

test('the command in place of the container accepts the secret that apps expect', async () => {
  const [line = ''] = commands('TERRARIUM_ROOT_SECRET=')
  const secret = /^TERRARIUM_ROOT_SECRET=(\S+) npx terrarium-db serve --port 8443 --data \.\/data$/.exec(
    line,
  )?.[1]
  await using server = await startProcess({ env: { TERRARIUM_ROOT_SECRET: secret } })
  const { stdout } = await run('curl', ['-sS', server.url, '-u', 'secret:', '-d', '{"add":[1,1]}'])
  assert.deepEqual(JSON.parse(stdout), { resource: 2 })
})

test('the command passes the Node that npx runs to setcap', () => {
  assert.ok(page.includes('node_modules/node/bin/node'))
  assert.ok(existsSync(join(repository, 'node_modules/node/bin/node')))
})
