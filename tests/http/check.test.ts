// `terrarium check` on the command line.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { folderOfFile } from '../support/folder.ts'
import { runProgram } from '../support/program.ts'

const folder = folderOfFile()

test('an empty directory, a missing one and an unknown flag are reported in one line', async () => {
  const empty = await runProgram(['check', '--data', folder])
  assert.deepEqual(empty, { status: 1, stdout: '', stderr: `terrarium: there is no data in ${folder}\n` })
  const missing = join(folder, 'missing')
  const absent = await runProgram(['check', '--data', missing])
  const stderr = `terrarium: there is no data directory ${missing}\n`
  assert.deepEqual(absent, { status: 1, stdout: '', stderr })
  const wrong = await runProgram(['check', '--port', '1'])
  assert.equal(wrong.status, 2)
})
