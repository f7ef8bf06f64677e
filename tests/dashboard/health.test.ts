// The page for operators: shown to the root secret alone; a backup and a check are started there.

import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { runProgram, temporaryFolder } from '../support/program.ts'
import { accessibilityFaults, openStage, type Stage, settled, skip } from './stage.ts'

let stage: Stage
let folder = ''

before(async () => {
  if (skip) return
  folder = await temporaryFolder()
  stage = await openStage({ flags: ['--backups', join(folder, 'backups'), '--workers', '2'] })
  await stage.query({ create_collection: { object: { name: 'things' } } })
})

after(async () => {
  await stage?.close()
  if (folder !== '') await rm(folder, { recursive: true, force: true })
})

test('who has the root secret finds it; an admin of a database does not, and is told why', {
  skip,
}, async () => {
  const admin = await stage.signedIn(stage.admin)
  assert.equal(await admin.getByRole('link', { name: 'Health' }).count(), 0)
  await stage.visit(admin, 'health')
  await admin.getByText('needs the root secret').waitFor()
  await admin.context().close()
  const page = await stage.signedIn(stage.server.rootSecret)
  await page.getByRole('link', { name: 'Health' }).click()
  await page.getByText('The service knows of no backup of this data directory.').waitFor()
  await page.getByText('The service knows of no check of this data directory.').waitFor()
  await page.getByRole('figure', { name: 'Requests per second' }).locator('canvas').waitFor()
  const processes = page.getByRole('region', { name: 'Table of processes' })
  await processes.getByRole('row', { name: /\b1 \(pid \d+\)/ }).waitFor()
  assert.equal(await processes.getByRole('row').count(), 3, 'both workers, and the head')
  assert.deepEqual(await accessibilityFaults(page), [])
  await page.emulateMedia({ colorScheme: 'dark' })
  assert.deepEqual(await accessibilityFaults(page, ['color-contrast']), [])
  await page.context().close()
  stage.assertNoFaults()
})

test('a backup and a check are started with a click, and their results are shown', { skip }, async () => {
  const page = await stage.signedIn(stage.server.rootSecret, 'health?db=shop')
  await page.getByRole('button', { name: 'Back up now' }).click()
  const backups = page.getByRole('region', { name: 'Backups', exact: true })
  await backups.getByText(/The last one ended at .*: written to/).waitFor()
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
  await page.getByText(/It found everything sound/).waitFor()
  await page.context().close()
  stage.assertNoFaults()
})

test('the page fits a screen of 375 pixels', { skip }, async () => {
  const page = await stage.signedIn(stage.server.rootSecret, 'health', {
    viewport: { width: 375, height: 740 },
  })
  await settled(page)
  await page.getByRole('region', { name: 'Table of processes' }).waitFor()
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 375)
  assert.deepEqual(await accessibilityFaults(page), [])
  await page.context().close()
  stage.assertNoFaults()
})
