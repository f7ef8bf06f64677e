// A service whose dashboard was not built says so once, and serves without it.

import assert from 'node:assert/strict'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { openDashboard } from '../../../src/server/http/dashboard-files.ts'
import { temporaryFolder } from '../../support/program.ts'

test('a dashboard that is not built is warned of by the process that has the log for it', async t => {
  const folder = await temporaryFolder()
  t.after(() => rm(folder, { recursive: true, force: true }))
  const warnings: string[] = []
  const log = { warn: (_: unknown, message?: string) => void warnings.push(message ?? '') }
  assert.equal(openDashboard(folder, log), undefined)
  assert.equal(openDashboard(folder, undefined), undefined)
  assert.equal(warnings.length, 1)
  assert.match(warnings[0] ?? '', /^the dashboard has not been built: /)
  await mkdir(join(folder, 'assets'))
  await writeFile(join(folder, 'index.html'), '<!doctype html>')
  assert.deepEqual(
    [...(openDashboard(folder, log) ?? [])].map(([path]) => path),
    ['index.html'],
  )
  assert.equal(warnings.length, 1)
})
