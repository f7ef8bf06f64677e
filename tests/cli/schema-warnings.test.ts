// Warnings of `terrarium schema push` about definitions without effect, in a database without type checks: with checks,
// the push fails.

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { commandsOn } from '../support/command.ts'
import { folderOfFile } from '../support/folder.ts'
import { rootQuery } from '../support/http.ts'
import { serverOfFile } from '../support/server.ts'

const server = serverOfFile()
const folder = folderOfFile()

const { outputOf } = commandsOn(server)
const database = ['--database', 'warnings']

const users = (members: string) => `collection User {\n  name: String\n${members}}\n`

test('a push warns about constraints without effect, and prints a query about existing documents', async () => {
  await writeFile(join(folder, 'main.fsl'), users(''))
  await rootQuery(server, { create_database: { object: { name: 'warnings' } } })
  assert.doesNotMatch(await outputOf('schema', 'push', folder, '--yes', ...database), /Warnings/)
  await outputOf('eval', '--fql', '10', 'User.create({ name: "a" }).id', ...database)
  await writeFile(join(folder, 'main.fsl'), users('  unique [.nmae]\n  check named (.name != "")\n'))
  const stdout = await outputOf('schema', 'push', folder, '--dry-run', ...database)
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
