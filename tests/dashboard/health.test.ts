// The Health page: only the root secret sees it, and it starts backups and checks. The file takes more than 20 seconds,
// because a backup and an integrity check run as processes.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { folderOfFile } from '../support/folder.ts'
import { runProgram } from '../support/program.ts'
import { type ServerProcess, startProcess } from '../support/server-process.ts'
import { accessibilityFaults, settled, skip, stageOfFile } from './stage.ts'

const stage = stageOfFile(
  async () => {
    await stage.query({ create_collection: { object: { name: 'things' } } })
  },
  () => startProcess({ flags: ['--backups', join(folder, 'backups'), '--workers', '2'] }),
)
// The hook that removes the folder runs after the hook that stops the service.
const folder = folderOfFile()

test('the root secret sees the page; an admin of a database gets an error', {
  skip,
}, async () => {
  const admin = await stage.signedIn(stage.admin)
  assert.equal(await admin.getByRole('link', { name: 'Health' }).count(), 0)
  await stage.visit(admin, 'health')
  await admin.getByText('needs the root secret').waitFor()
  await admin.context().close()
  const page = await stage.signedIn(stage.server.rootSecret)
  await page.getByRole('link', { name: 'Health' }).click()
  await page.getByText('No backup of this data directory is known.', { exact: true }).waitFor()
  await page.getByText('No check of this data directory is known.').waitFor()
  await page.getByRole('figure', { name: 'Requests/s' }).locator('canvas').waitFor()
  const processes = page.getByRole('region', { name: 'Table of processes' })
  for (const worker of [/\b0 \(pid \d+\)/, /\b1 \(pid \d+\)/])
    await processes.getByRole('row', { name: worker }).waitFor()
  const supervisor = processes.getByRole('row', {
    name: `supervisor (pid ${(stage.server as ServerProcess).pid})`,
  })
  await supervisor.getByText(/^\d+ \(\d+ in flight\)$/).waitFor()
  assert.equal(await processes.getByRole('row').count(), 4, 'both workers, the supervisor, and the heading')
  assert.deepEqual(await accessibilityFaults(page), [])
  await page.emulateMedia({ colorScheme: 'dark' })
  assert.deepEqual(await accessibilityFaults(page, ['color-contrast']), [])
})

test('buttons start a backup and a check, whose results are shown', { skip }, async () => {
  const page = await stage.signedIn(stage.server.rootSecret, 'health?db=shop')
  await page.getByRole('button', { name: 'Back up now' }).click()
  const backups = page.getByRole('region', { name: 'Backups', exact: true })
  await backups.getByText(/The last run ended at .*: written to/).waitFor()
  const name = await page
    .getByRole('region', { name: 'Table of backups' })
    .getByRole('cell')
    .first()
    .textContent()
  const restored = join(folder, 'restored')
  const words = ['restore', join(folder, 'backups', name ?? ''), '--data', restored]
  assert.equal((await runProgram(words)).status, 0)
  assert.match((await runProgram(['check', '--data', restored])).stdout, /: sound\n$/)
  await page.getByRole('button', { name: 'Check now' }).click()
  await page.getByText(/No errors were found/).waitFor()
})

test('the page fits a screen of 375 pixels', { skip }, async () => {
  const page = await stage.signedIn(stage.server.rootSecret, 'health', {
    viewport: { width: 375, height: 740 },
  })
  await settled(page)
  await page.getByRole('region', { name: 'Table of processes' }).waitFor()
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 375)
  assert.deepEqual(await accessibilityFaults(page), [])
})

test('warnings are listed with advice', { skip }, async () => {
  const page = await stage.signedIn(stage.server.rootSecret, '')
  await page.route('**/api/v1/health', async route => {
    const response = await route.fetch()
    const health = (await response.json()) as { processes: object[]; tasks: object; work: object }
    const [first = {}] = health.processes
    const disk = { data_bytes: 1e9, query_log_bytes: 5e8, free_bytes: 2e9, total_bytes: 1e11 }
    const standing = { head: 7, behind: 3, lag_ms: 90, fault: 'connection refused' }
    const lane = { processes: 2, processes_max: 2, running: 2, waiting: 4 }
    const build = { kind: 'index', database: ['shop'], name: 'wide', share: 0.5 }
    const old = Date.now() - 9 * 86_400_000
    const json = {
      ...health,
      processes: [{ ...first, node: 'db1:8443', disk, standing, slow_lane: lane }],
      work: { builds: [{ ...build, failure: 'Document 7 of c: too wide' }], builds_count: 1, removals: 2 },
      tasks: {
        backup: {
          started: old,
          ended: old,
          progress: null,
          failure: null,
          result: { is_good: true, place: '/b' },
        },
        check: {
          ...{ started: old, ended: old, progress: null, failure: null },
          result: { is_good: false, place: '/d', findings: ['document 1 has no entry'] },
        },
      },
      backups: null,
      continuous_backup: null,
    }
    await route.fulfill({ json })
  })
  await page.getByRole('link', { name: 'Health' }).click()
  const findings = page.getByRole('region', { name: 'Warnings' })
  for (const sentence of [
    /^db1:8443, process \d, does not follow the shared store: connection refused$/,
    /^The disk of db1:8443 has 1\.9 GB left\./,
    /^Long queries wait for a free process of the slow lane\./,
    /^The index shop\/wide cannot be built/,
    /^The last integrity check found errors/,
    /^The last known backup is 9 days old\.$/,
  ]) {
    await findings.getByText(sentence).waitFor()
  }
  await page.getByRole('cell', { name: '3', exact: true }).waitFor()
  await page.getByRole('cell', { name: 'Document 7 of c: too wide' }).waitFor()
  await page.getByText('document 1 has no entry').waitFor()
  await page.getByText('No backup folder is configured').waitFor()
  assert.equal(await page.getByRole('button', { name: 'Back up now' }).count(), 0)
})
