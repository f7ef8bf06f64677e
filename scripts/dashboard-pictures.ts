// Takes the screenshots of docs/dashboard.md: a small shop in the dashboard of a server of its own. `pngquant` (a package
// of most systems) reduces them to a palette, which takes a third of the bytes.
//
//     npx node scripts/dashboard-pictures.ts

import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import type { Stage } from '../tests/dashboard/stage.ts'
import { repository } from '../tests/support/program.ts'
import { closeShared, shareBetweenFiles } from '../tests/support/shared.ts'
import { readOptions } from './command-line.ts'
import { writeSampleLog } from './sample-log.ts'
import { fillShop } from './sample-shop.ts'

readOptions({
  usage: 'npx node scripts/dashboard-pictures.ts\n\nTakes the screenshots of docs/dashboard.md.',
  options: {},
})

// Without this call, the browser stays open until the last test of the process, and a script has no tests.
shareBetweenFiles()
const { openStage, settled, typeInto } = await import('../tests/dashboard/stage.ts')

const folder = join(repository, 'docs/images')
/** Milliseconds of each step, long enough for a busy machine. */
const stepMs = 300_000

const window = { width: 1200, height: 760 }

async function picture(page: Page, name: string): Promise<void> {
  await settled(page)
  // Charts and editors are drawn a moment after their data has arrived.
  await page.waitForTimeout(600)
  await page.screenshot({ path: join(folder, `dashboard-${name}.png`), caret: 'initial' })
}

async function takeAll(stage: Stage): Promise<void> {
  const shop = await fillShop(expression => stage.query(expression))
  const page = await stage.signedIn(stage.admin, '', { viewport: window, colorScheme: 'light' })
  page.setDefaultTimeout(stepMs)
  const shown = async (name: string, address: string) => {
    await stage.visit(page, address)
    await picture(page, name)
  }
  await shown('documents', 'collections/orders')
  await shown('document', `collections/orders/${shop.order}`)
  await shown('history', `collections/items/${shop.item}/history`)
  await shown('role', 'roles/shopper')
  await stage.visit(page, 'shell')
  await typeInto(page, 'Query', shop.query)
  await page.getByRole('button', { name: 'Run' }).click()
  await page.locator('.result').waitFor()
  await picture(page, 'shell')
  await writeSampleLog(join(stage.server.data, 'query-log/records'), ['shop'])
  await shown('logs', 'logs')
  const dark = await stage.signedIn(stage.admin, 'shell', { viewport: window, colorScheme: 'dark' })
  dark.setDefaultTimeout(stepMs)
  await typeInto(dark, 'Query', shop.query)
  await dark.getByRole('button', { name: 'Run' }).click()
  await dark.locator('.result').waitFor()
  await picture(dark, 'dark')
}

/** Reduces the pictures to a palette of 256 colours. */
function reduce(): void {
  const pictures = readdirSync(folder).filter(name => name.endsWith('.png'))
  const words = ['--force', '--strip', '--ext', '.png', ...pictures]
  const { error, status } = spawnSync('pngquant', words, { cwd: folder, stdio: 'inherit' })
  if (error !== undefined || status !== 0) console.error('The pictures are large: pngquant is not installed.')
}

mkdirSync(folder, { recursive: true })
const stage = await openStage()
try {
  await takeAll(stage)
  reduce()
} finally {
  await stage.close()
  await closeShared()
}
