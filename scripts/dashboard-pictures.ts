// Takes the screenshots of docs/dashboard.md: a small shop in the dashboard of a server of its own.
//
//     node scripts/dashboard-pictures.ts

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { openStage, type Stage, settled, typeInto } from '../tests/dashboard/stage.ts'
import { repository } from '../tests/support/program.ts'
import { writeSampleLog } from './sample-log.ts'
import { fillShop } from './sample-shop.ts'

const folder = join(repository, 'docs/images')
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
  await writeSampleLog(join(stage.server.data, 'query-log/segments'), ['shop'])
  await shown('logs', 'logs')
  const dark = await stage.signedIn(stage.admin, 'shell', { viewport: window, colorScheme: 'dark' })
  await typeInto(dark, 'Query', shop.query)
  await dark.getByRole('button', { name: 'Run' }).click()
  await dark.locator('.result').waitFor()
  await picture(dark, 'dark')
}

mkdirSync(folder, { recursive: true })
const stage = await openStage()
try {
  await takeAll(stage)
} finally {
  await stage.close()
}
