// Every page and dialog, looked at by an accessibility checker.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { fill, ordinary } from './everything.ts'
import { accessibilityFaults, openStage, type Stage, settled, skip } from './stage.ts'

let stage: Stage
let pages: readonly string[] = []

before(async () => {
  if (skip) return
  stage = await openStage()
  pages = await fill(stage, ordinary)
})

after(() => stage?.close())

/** In the dark only colours differ. */
const rulesOf = { light: undefined, dark: ['color-contrast'] }

for (const colorScheme of ['light', 'dark'] as const) {
  test(`the accessibility checker finds nothing on any page, ${colorScheme}`, { skip }, async () => {
    const rules = rulesOf[colorScheme]
    const outside = await stage.open('', { colorScheme })
    await outside.getByLabel('Secret').waitFor()
    assert.deepEqual(await accessibilityFaults(outside, rules), [])
    await outside.context().close()
    const page = await stage.signedIn(stage.admin, '', { colorScheme })
    const faults: string[] = []
    for (const address of pages) {
      await stage.visit(page, address)
      await settled(page)
      faults.push(...(await accessibilityFaults(page, rules)).map(fault => `${address}: ${fault}`))
    }
    assert.deepEqual(faults, [])
    await page.context().close()
    stage.assertNoFaults()
  })
}

test('dialogs are accessible too', { skip }, async () => {
  const page = await stage.signedIn(stage.admin)
  const dialogs = [
    ['', 'New collection'],
    ['', 'New database'],
    ['indexes', 'New index'],
    ['functions', 'New function'],
    ['keys', 'New key'],
    ['access-providers', 'New access provider'],
  ] as const
  for (const [address, button] of dialogs) {
    await stage.visit(page, address)
    await settled(page)
    await page.getByRole('button', { name: button }).click()
    await page.getByRole('dialog').waitFor()
    assert.deepEqual(await accessibilityFaults(page), [], button)
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  }
  await page.context().close()
  stage.assertNoFaults()
})
