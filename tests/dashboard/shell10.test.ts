// The shell in version 10: the switch, results, drawn errors, completion, the keyboard, tabs of both languages.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { eventually } from '../support/eventually.ts'
import { createDocuments } from './documents-page.ts'
import {
  accessibilityFaults,
  openStage,
  skip,
  stageOfFile,
  submitQuery,
  typeInto,
  underlinedText,
} from './stage.ts'

const stage = stageOfFile(async () => {
  await stage.query({ create_collection: { object: { name: 'items' } } })
})

/** Opens the shell and switches it to version 10. */
async function shell10(): Promise<Page> {
  const page = await stage.signedIn(stage.admin, 'shell')
  await page.getByRole('button', { name: 'Version 10' }).click()
  return page
}

test('a query runs by keyboard, and its result is a tree, text and JSON, with costs and log lines', {
  skip,
}, async () => {
  const page = await shell10()
  await typeInto(
    page,
    'Query',
    'log("seen")\n[9007199254740993, 1.5, Time("2024-01-02T03:04:05Z"), { "a b": "c" }]',
  )
  await page.keyboard.press('Control+Enter')
  const result = page.getByRole('region', { name: 'Result' })
  await result.getByText('9007199254740993').waitFor()
  await result.getByText('time 2024-01-02T03:04:05Z').waitFor()
  await result.getByText('info at *query*:1: seen').waitFor()
  assert.match((await page.getByLabel('Costs').textContent()) ?? '', /compute operations\s*1/)
  await page.getByRole('button', { name: 'As text' }).click()
  const shown = page.getByRole('textbox', { name: 'Result' })
  await shown.getByText('Time("2024-01-02T03:04:05Z")').waitFor()
  await shown.getByText('"a b": "c"').waitFor()
  await page.getByRole('button', { name: 'As JSON' }).click()
  await shown.getByText('"@long"').waitFor()
})

test('an error is drawn, and underlined in the text', { skip }, async () => {
  const page = await shell10()
  await submitQuery(page, 'let a = 1\na + missing')
  const alert = page.getByRole('alert')
  await alert.getByText('unbound_variable').waitFor()
  assert.match((await alert.locator('pre').textContent()) ?? '', /\n2 \| a \+ missing\n {2}\| {5}\^{7}\n/)
  assert.equal(await underlinedText(page), 'missing')
  await submitQuery(page, 'abort({ left: 2 })')
  await alert.getByText(/Query aborted\.\s*\{\s*left: 2\s*\}/).waitFor()
})

test('completion depends on the place', { skip }, async () => {
  const page = await shell10()
  await page.getByRole('textbox', { name: 'Query' }).click()
  await page.keyboard.type('Math.hyp')
  await page.getByRole('option', { name: /^hypot/ }).waitFor()
  const offered = await page.getByRole('option').allTextContents()
  assert.deepEqual(
    offered.filter(each => each.includes(' of ')),
    [],
    'no members of values behind a module',
  )
  await typeInto(page, 'Query', '')
  await page.keyboard.type('"a".toUpp')
  await page.getByRole('option', { name: /^toUpperCase/ }).click()
  await page.getByRole('textbox', { name: 'Query' }).getByText('"a".toUpperCase').waitFor()
  await typeInto(page, 'Query', '')
  await page.keyboard.type('ite')
  await page.getByRole('option', { name: /^items/ }).waitFor()
  await page.getByText('Function reference').click()
  await page.getByLabel('Find a function').fill('hypot')
  await page.getByText('Math.hypot(x: Number, y: Number)').waitFor()
})

test('each tab and each query of the history keeps its language', { skip }, async () => {
  const page = await shell10()
  await submitQuery(page, '1 + 1')
  await page.locator('.result').getByText('2', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Open new tab' }).click()
  await page.getByRole('button', { name: 'Version 4', exact: true }).click()
  await submitQuery(page, 'Add(1, 2)')
  await page.locator('.result').getByText('3', { exact: true }).waitFor()
  await page.reload()
  const pressed = (name: string) => page.getByRole('button', { name, exact: true, pressed: true })
  await pressed('Version 4').waitFor()
  await page.getByRole('tab', { name: '1 + 1' }).click()
  await pressed('Version 10').waitFor()
  await page.getByText('History').click()
  await page.getByRole('listitem').getByRole('button', { name: 'Add(1, 2)' }).click()
  await pressed('Version 4').waitFor()
})

test('documents have links, and queries run at a past time', { skip }, async () => {
  const before = (await stage.query({ to_string: { now: null } })) as string
  const page = await shell10()
  await typeInto(page, 'Query', "items.create({ id: '7', name: 'tea', next: items.byId('8') })")
  await page.keyboard.press('Control+Enter')
  const result = page.locator('.result')
  await result.getByRole('link', { name: 'items/7' }).waitFor()
  await result.getByRole('link', { name: 'items/8' }).waitFor()
  await page.getByRole('button', { name: 'As text' }).click()
  await page.getByRole('textbox', { name: 'Result' }).getByText('next: items("8")').waitFor()
  await stage.visit(page, `shell?at=${encodeURIComponent(before)}`)
  await submitQuery(page, "items.byId('7')")
  await result.getByText('missing items("7") /* not found */').waitFor()
  await submitQuery(page, 'let a = 1\nmissing(a)')
  await page.getByRole('alert').getByText('unbound_variable').waitFor()
  assert.equal(await underlinedText(page), 'missing')
})

test('a query of the other version can switch the version', { skip }, async () => {
  const page = await stage.signedIn(stage.admin, 'shell')
  const hint = page.getByText('The query looks like version')
  await submitQuery(page, 'Add(1 2)')
  await page.getByRole('alert').waitFor()
  assert.equal(await hint.count(), 0)
  await submitQuery(page, 'items.all().count()')
  await hint.waitFor()
  assert.deepEqual(await accessibilityFaults(page), [])
  await page.getByRole('button', { name: 'Switch to version 10' }).click()
  await page.getByRole('alert').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Run' }).click()
  await page.getByRole('region', { name: 'Result' }).getByText('0', { exact: true }).first().waitFor()
  await typeInto(page, 'Query', 'Count(Documents(Collection("items")))')
  for (const start of ['Run', 'Explain']) {
    await page.getByRole('button', { name: start }).click()
    await page.getByRole('button', { name: 'Switch to version 4' }).waitFor()
  }
  await page.getByRole('button', { name: 'Switch to version 4' }).click()
  await page.getByRole('button', { name: 'Run' }).click()
  await page.getByRole('region', { name: 'Result' }).getByText('0', { exact: true }).first().waitFor()
  await stage.visit(page, 'denied')
  await submitQuery(page, 'items.all().count()', 'Explain')
  await page.getByRole('button', { name: 'Switch to version 10' }).click()
  await page.getByRole('button', { name: 'Explain' }).click()
  await page.getByText('The query is allowed').waitFor()
  await submitQuery(page, 'Count(Documents(Collection("items")))', 'Explain')
  await page.getByRole('button', { name: 'Switch to version 4' }).waitFor()
})

test('a rejected secret to run as does not sign out', { skip }, async () => {
  const page = await shell10()
  await page.getByLabel('Run as').selectOption('key')
  await page.getByLabel('Secret of the key').fill('nonsense')
  await submitQuery(page, '1')
  await page.getByRole('alert').getByText('rejects the secret').waitFor()
})

test('Explain shows the reads of a query of either version, and the missing index', {
  skip,
}, async () => {
  await using orders = await openStage()
  const created = Array.from({ length: 12 }, (_, at) => ({ status: at < 3 ? 'open' : 'done' }))
  await createDocuments(orders, 'orders', created)
  const page = await orders.signedIn(orders.admin, 'shell')
  const explanation = page.getByRole('region', { name: 'Explanation' })
  /** Waits for the explanation of the text: the region shows the previous one until the response arrives. */
  const explains = async (text: string, expected: RegExp) => {
    await submitQuery(page, text, 'Explain')
    await eventually(`the explanation is ${expected}`, async () =>
      expected.test(((await explanation.textContent()) ?? '').replaceAll(/\s+/g, ' ')),
    )
  }
  const filtered = `Paginate(Filter(Documents(Collection("orders")), Lambda("x", Equals(Select(["data", "status"], Get(Var("x"))), "open"))))`
  await explains(filtered, /reads 12 entries and 12 documents, and returns 3 results.*CreateIndex\(/)
  assert.deepEqual(await accessibilityFaults(page), [])
  await page.getByRole('button', { name: 'Version 10' }).click()
  await explains(
    'orders.where(.status == "open")',
    /reads 12 entries and 12 documents, and returns 3 results\. No data was written\..*index byStatus \{ terms \[\.status\]/,
  )
  await explains('orders.create({}).missing.field', /The query fails with/)
  assert.equal(await orders.query({ count: { documents: { collection: 'orders' } } }), 12)
  await explains('1 + 1', /The query reads no documents/)
  await page.getByLabel('Run as').selectOption('key')
  // Explain is available only for the user's own queries.
  await page.getByRole('button', { name: 'Explain' }).waitFor({ state: 'detached' })
  orders.assertNoFaults()
})
