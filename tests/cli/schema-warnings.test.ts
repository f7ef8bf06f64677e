// Warnings of `terrarium schema push` about definitions without effect, in a database without type checks: with checks,
// the push fails.

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { runCommand } from '../support/command.ts'
import { folderOfFile } from '../support/folder.ts'
import { keyOfNewDatabase } from '../support/http.ts'
import { serverOfFile } from '../support/server.ts'

const server = serverOfFile()
const folder = folderOfFile()

let secret = ''
before(async () => {
  secret = await keyOfNewDatabase(server, 'warnings', 'admin')
})

const run = (...words: string[]) => runCommand(words, { TERRARIUM_URL: server.url, TERRARIUM_SECRET: secret })

const users = (members: string) => `collection User {\n  name: String\n${members}}\n`

test('a push warns about constraints without effect, and prints a query about existing documents', async () => {
  await writeFile(join(folder, 'main.fsl'), users(''))
  const pushed = await run('schema', 'push', folder, '--yes')
  assert.equal(pushed.status, 0, pushed.stderr)
  assert.doesNotMatch(pushed.stdout, /Warnings/)
  assert.equal((await run('eval', '--fql', '10', 'User.create({ name: "a" }).id')).status, 0)
  await writeFile(join(folder, 'main.fsl'), users('  unique [.nmae]\n  check named (.name != "")\n'))
  const { status, stdout } = await run('schema', 'push', folder, '--dry-run')
  assert.equal(status, 0)
  assert.match(
    stdout,
    /\n\* Warnings:\n {2}! `\.nmae` has no value in `unique \[\.nmae\]` of `User`: no document /,
  )
  assert.match(
    stdout,
    /\n {2}! existing documents of `User` are not checked for `check named`\. Find violations with:\n/,
  )
  assert.match(stdout, /\n {6}User\.where\(doc => check\(doc\) != true\)\n/)
})
