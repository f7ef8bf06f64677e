// A data directory and a backup of an earlier version open in this version, and every read gives the same answer.
// `npx node scripts/store-content.ts` writes the file of a version, before the version is released.

import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { runCommand } from '../support/command.ts'
import { folderOfFile } from '../support/folder.ts'
import { startServer } from '../support/server.ts'
import { assertSound } from '../support/sound.ts'
import { readContent } from './content.ts'
import { unpack } from './pack.ts'

const folder = folderOfFile()
const files = globSync(join(import.meta.dirname, '*.stored'))

test('there is data of earlier versions', () => assert.ok(files.length >= 2))

for (const file of files) {
  const version = basename(file, '.stored')

  for (const state of ['stopped', 'killed']) {
    test(`${version}: the data directory of a ${state} service`, async () => {
      const target = join(folder, `${version} ${state}`)
      const answers = unpack(file, target)
      const data = join(target, state)
      const server = await startServer({ data })
      try {
        assert.deepEqual(await readContent(server), answers)
      } finally {
        await server.stop()
      }
      await assertSound(data)
    })
  }

  test(`${version}: a backup`, async () => {
    const target = join(folder, `${version} backup`)
    const answers = unpack(file, target)
    const data = join(target, 'restored')
    await runCommand(['restore', join(target, 'backup'), '--data', data])
    const server = await startServer({ data })
    try {
      assert.deepEqual(await readContent(server), answers)
    } finally {
      await server.stop()
    }
  })
}
