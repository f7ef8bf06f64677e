// Checks every page and dialog with an accessibility checker. The file takes more than 20 seconds, because the checker
// inspects some thirty pages twice, in the light and in the dark colour scheme.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { fill, ordinaryTexts } from './everything.ts'
import { accessibilityFaults, settled, skip, stageOfFile } from './stage.ts'

let pages: readonly string[] = []

const stage = stageOfFile(async () => {
  pages = await fill(stage, ordinaryTexts)
})

/** The findings of the checker on a page, in light and in dark colours. The second check covers only contrast. */
async function faultsIn(page: Page): Promise<string[]> {
  const light = await accessibilityFaults(page)
  await page.emulateMedia({ colorScheme: 'dark' })
  const dark = await accessibilityFaults(page, ['color-contrast'])
  await page.emulateMedia({ colorScheme: 'light' })
  return [...light, ...dark.map(fault => `dark: ${fault}`)]
}

test('the accessibility checker finds errors', { skip }, async () => {
  const page = await stage.open()
  await page.getByLabel('Secret').waitFor()
  await page.evaluate(() => {
    document.querySelector('main')?.append(document.createElement('button'))
  })
  const [fault = 'none', ...others] = await accessibilityFaults(page)
  assert.match(fault, /^button-name: /)
  assert.deepEqual(others, [])
})

test('the accessibility checker finds no errors on any page, in light or dark colours', {
  skip,
}, async () => {
  const signedOut = await stage.open()
  await signedOut.getByLabel('Secret').waitFor()
  assert.deepEqual(await faultsIn(signedOut), [])
  await signedOut.context().close()
  const page = await stage.signedIn(stage.admin)
  const faults: string[] = []
  for (const address of pages) {
    await stage.follow(page, address)
    await settled(page)
    faults.push(...(await faultsIn(page)).map(fault => `${address}: ${fault}`))
  }
  assert.deepEqual(faults, [])
})

test('dialogs are accessible too', { skip }, async () => {
  const page = await stage.signedIn(stage.admin)
  const dialogs = {
    '': ['Create collection', 'Create database'],
    indexes: ['Create index'],
    functions: ['Create function'],
    keys: ['Create key'],
    'access-providers': ['Create access provider'],
  }
  for (const [address, buttons] of Object.entries(dialogs)) {
    await stage.follow(page, address)
    await settled(page)
    for (const button of buttons) {
      await page.getByRole('button', { name: button }).click()
      await page.getByRole('dialog').waitFor()
      assert.deepEqual(await accessibilityFaults(page), [], button)
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    }
  }
})
