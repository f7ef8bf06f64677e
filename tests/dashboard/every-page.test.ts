// Properties of every page: it works on a narrow screen and with the keyboard, hostile data cannot become code, and the
// first page loads few bytes. The file takes more than 20 seconds, because it opens each of some thirty pages twice.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { fill, ordinaryTexts } from './everything.ts'
import { openStage, settled, signIn, skip, stageOfFile } from './stage.ts'

let pages: readonly string[] = []

const stage = stageOfFile(async () => {
  pages = await fill(stage, ordinaryTexts)
})

test('no page is wider than a screen of 375 pixels, and the menu opens there', { skip }, async () => {
  const page = await stage.signedIn(stage.admin, '', { viewport: { width: 375, height: 740 } })
  const wide: string[] = []
  for (const address of pages) {
    await stage.follow(page, address)
    await settled(page)
    const width = await page.evaluate(() => document.documentElement.scrollWidth)
    if (width > 375) wide.push(`${address}: ${width}`)
  }
  assert.deepEqual(wide, [])
  const keys = page.getByRole('link', { name: 'Keys' })
  await page.getByRole('button', { name: 'Menu' }).click()
  await keys.waitFor()
  await page.getByRole('link', { name: 'Roles' }).click()
  await keys.waitFor({ state: 'hidden' })
})

test('a navigation closes the menu before the browser handles the next event', { skip }, async () => {
  const page = await stage.signedIn(stage.admin, '', { viewport: { width: 375, height: 740 } })
  await page.getByRole('button', { name: 'Menu' }).click()
  const isOpen = await page.getByRole('link', { name: 'Roles' }).evaluate(async (link: HTMLElement) => {
    link.click()
    const { port1, port2 } = new MessageChannel()
    await new Promise(resolve => {
      port1.onmessage = resolve
      port2.postMessage('next event')
    })
    return link.checkVisibility()
  })
  assert.equal(isOpen, false)
})

test('a document is found and changed with the keyboard alone', { skip }, async () => {
  const page = await stage.open()
  await page.getByLabel('Secret').waitFor()
  await page.keyboard.type(stage.admin)
  await page.keyboard.press('Enter')
  await page.getByRole('main').getByRole('link', { name: 'a_collection' }).waitFor()
  const tabTo = async (name: RegExp) => {
    for (let steps = 0; steps < 80; steps++) {
      await page.keyboard.press('Tab')
      const focused = await page.evaluate(() => {
        const element = document.activeElement
        const inner = element?.shadowRoot?.activeElement ?? element
        return `${inner?.getAttribute('aria-label') ?? ''} ${inner?.textContent ?? ''}`
      })
      if (name.test(focused)) return
    }
    assert.fail(`${name} is not reached by the Tab key`)
  }
  await tabTo(/^ Skip to content/)
  await page.keyboard.press('Enter')
  await tabTo(/^ a_collection/)
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: '1', exact: true }).waitFor()
  await tabTo(/^ 1$/)
  await page.keyboard.press('Enter')
  await page.getByRole('textbox', { name: 'Data' }).waitFor()
  await tabTo(/^Data/)
  await page.keyboard.press('Control+End')
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.insertText(', typed: 1 ')
  await tabTo(/^ Save/)
  await page.keyboard.press('Enter')
  await page.getByText('Saved.').waitFor()
  const typed = 'Select(["data", "typed"], Get(Ref(Collection("a_collection"), "1")))'
  assert.equal(await stage.run(typed), 1)
})

test('after a click on a link, the heading of the new page has the focus', { skip }, async () => {
  const page = await stage.signedIn(stage.admin)
  const focused = () => page.evaluate(() => document.activeElement?.textContent)
  for (const name of ['Indexes', 'Roles', 'Keys']) {
    await page.getByRole('link', { name, exact: true }).click()
    await page.getByRole('heading', { name, exact: true }).waitFor()
    await eventually('the heading has the focus', async () => (await focused()) === name)
  }
  await page.goBack()
  await page.getByRole('heading', { name: 'Roles', exact: true }).waitFor()
  await eventually('the heading has the focus', async () => (await focused()) === 'Roles')
})

test('invalid times show an error message, and errors do not show queries of the dashboard', {
  skip,
}, async () => {
  const page = await stage.signedIn(stage.admin, 'indexes')
  const look = async (time: string, expected: string) => {
    await page.getByLabel('Show data as of').fill(time)
    await page.getByRole('button', { name: 'Show', exact: true }).click()
    await page.getByRole('alert').getByText(expected).waitFor()
  }
  await page.getByRole('button', { name: /^At:/ }).click()
  await look('0001-01-01T00:00', '1970 and 9999')
  await look('9998-01-01T00:00', 'is in the future')
  await stage.visit(page, 'collections/nowhere?at=2026-01-31T12:00:00Z')
  const alert = page.getByRole('alert').first()
  await alert.waitFor()
  assert.doesNotMatch((await alert.textContent()) ?? '', / at (expr|map|collection|paginate)| › /)
})

test('sign-in and overview load less than 60 KB', { skip }, async () => {
  const page = await stage.open()
  const sizes: Promise<number>[] = []
  page.on('response', response => {
    const { pathname } = new URL(response.url())
    if (!pathname.startsWith('/dashboard/')) return
    sizes.push(response.headerValue('content-length').then(Number))
  })
  await page.reload()
  await signIn(page, stage.admin)
  await page.getByRole('main').getByRole('link', { name: 'a_collection' }).waitFor()
  const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
  assert.ok(bytes > 5_000 && bytes < 60_000, `${bytes} bytes`)
})

const rightToLeft = '\u202e\u2067'
const hostile = `${rightToLeft}"><img src=x onerror=alert(1)><script>alert(2)</script>\${alert(3)}${'x'.repeat(20_000)}`

test('hostile data stays data on every page', { skip }, async () => {
  await using harm = await openStage()
  const names = { name: (kind: string) => `x$_+${kind}.~%22;@!`, text: hostile }
  const addresses = await fill(harm, names)
  await harm.query({ concat: [hostile] })
  const page = await harm.signedIn(harm.admin)
  const wide: string[] = []
  for (const address of addresses) {
    await harm.visit(page, address)
    await settled(page)
    assert.equal(await page.locator('main img[src], main script').count(), 0, address)
    const width = await page.evaluate(() => document.documentElement.scrollWidth)
    if (width > 1280) wide.push(`${address}: ${width}`)
    harm.assertNoFaults()
  }
  assert.deepEqual(wide, [], 'data makes no page wider than the window')
})
