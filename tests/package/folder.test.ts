// The package's service on a data directory claims the directory like any other service.

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { createServer } from '../../src/app/index.ts'
import { folderOfFile } from '../support/folder.ts'
import { startProcess } from '../support/server-process.ts'

const data = folderOfFile()

test('a served or emptied data directory is rejected; a free one is claimed and has a clock', async () => {
  const served = await startProcess({ data })
  await assert.rejects(createServer({ data }), /is in use by process/)
  await served.stop()
  const embedded = await createServer({ data })
  await assert.rejects(startProcess({ data }), /is in use by process/)
  await assert.rejects(createServer({ data }), /is in use by process/)
  await embedded.close()
  assert.ok(existsSync(join(data, 'clock')), 'the reached time is stored')
  await truncate(join(data, 'data.mdb'), 0)
  await assert.rejects(createServer({ data }), /is empty, its data is lost/)
})
