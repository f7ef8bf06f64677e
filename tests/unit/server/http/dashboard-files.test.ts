// A service whose dashboard was not built logs one warning, and serves without a dashboard.

import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { openDashboard } from '../../../../src/server/http/dashboard-files.ts'
import { folderOfFile } from '../../../support/folder.ts'

const folder = folderOfFile()

test('openDashboard warns in its log, if it has one, that the dashboard is not built', async () => {
  const warnings: string[] = []
  const log = { warn: (_: unknown, message?: string) => void warnings.push(message ?? '') }
  assert.equal(openDashboard(folder, log), undefined)
  assert.equal(openDashboard(folder, undefined), undefined)
  assert.equal(warnings.length, 1)
  assert.match(warnings[0] ?? '', /^the dashboard has not been built: /)
  await mkdir(join(folder, 'assets'))
  await writeFile(join(folder, 'index.html'), '<!doctype html>')
  const paths = [...(openDashboard(folder, log) ?? [])].map(([path]) => path)
  assert.deepEqual(paths, ['index.html'])
  assert.equal(warnings.length, 1)
})
