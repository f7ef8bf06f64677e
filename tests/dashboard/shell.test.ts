// The shell: queries as text, errors at their place, three views of results, tabs, history, and other identities.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { skip, stageOfFile, submitQuery, typeInto, underlinedText } from './stage.ts'

const stage = stageOfFile(async () => {
  await stage.query({ create_collection: { object: { name: 'items' } } })
})

test('a query runs by button and by keyboard, and shows its costs', { skip }, async () => {
  const page = await stage.signedIn(stage.admin)
  await page.getByRole('link', { name: 'Shell' }).click()
  await submitQuery(page, 'Add(9007199254740993, 1)')
  await page.locator('.result').getByText('9007199254740994').waitFor()
  assert.match((await page.getByLabel('Costs').textContent()) ?? '', /compute operations\s*1/)
  await typeInto(page, 'Query', '[Now(), { a: 1.0 }, Collection("items")]')
  await page.keyboard.press('Control+Enter')
  await page.locator('.result').getByRole('link', { name: 'items' }).waitFor()
  await page.getByRole('button', { name: 'As text' }).click()
  await page.getByRole('textbox', { name: 'Result' }).getByText('Collection').waitFor()
  await page.getByRole('button', { name: 'As JSON' }).click()
  await page.getByRole('textbox', { name: 'Result' }).getByText('"@ref"').first().waitFor()
  await page.getByRole('textbox', { name: 'Result' }).getByText('1.0').waitFor()
})

test('an error is an alert and is underlined at its place', { skip }, async () => {
  const page = await stage.signedIn(stage.admin, 'shell')
  await submitQuery(page, 'Do(\n  1,\n  Divide(1, 0)\n)')
  await page.getByRole('alert').getByText('invalid argument').waitFor()
  assert.equal(await underlinedText(page), 'Divide(1, 0)')
  await submitQuery(page, 'Add(1, ')
  await page
    .getByRole('alert')
    .getByText(/^Line 1, column/)
    .waitFor()
})

test('an unknown function is underlined while typing, and an incomplete query is not', { skip }, async () => {
  const page = await stage.signedIn(stage.admin, 'shell')
  await typeInto(page, 'Query', 'Paginate(Documnts(Collection("items")))')
  await page.locator('.cm-lintRange-error', { hasText: 'Documnts' }).waitFor()
  await typeInto(page, 'Query', 'Paginate(Documents(Collection("items"))')
  await page.locator('.cm-lintRange-error').waitFor({ state: 'detached' })
})

test('completion offers names of the language and of the database', { skip }, async () => {
  const page = await stage.signedIn(stage.admin, 'shell')
  await page.getByRole('textbox', { name: 'Query' }).click()
  await page.keyboard.type('Paginat')
  await page.getByRole('option', { name: /^Paginate/ }).waitFor()
  await typeInto(page, 'Query', '')
  await page.keyboard.type('Documents(ite')
  await page.getByRole('option', { name: /items/ }).click()
  await page.getByRole('textbox', { name: 'Query' }).getByText('Documents(Collection("items"))').waitFor()
})

test('tabs and history survive a reload', { skip }, async () => {
  const page = await stage.signedIn(stage.admin, 'shell')
  await submitQuery(page, '"first"')
  await page.locator('.result').getByText('first').waitFor()
  await page.getByRole('button', { name: 'Open new tab' }).click()
  await typeInto(page, 'Query', '"second"')
  await page.reload()
  await page.getByRole('textbox', { name: 'Query' }).getByText('"second"').waitFor()
  await page.getByRole('tab', { name: '"first"' }).click()
  await page.getByRole('textbox', { name: 'Query' }).getByText('"first"').waitFor()
  await page.getByText('History').click()
  await page.getByRole('listitem').getByRole('button', { name: '"first"' }).waitFor()
})

test('queries run as a role, as a document, with a key, and at a past time', { skip }, async () => {
  await stage.query({ create_collection: { object: { name: 'users' } } })
  const before = (await stage.query({ to_string: { now: null } })) as string
  await stage.query({ create: { ref: { collection: 'users' }, id: '7' }, params: { object: {} } })
  const page = await stage.signedIn(stage.admin, 'shell')
  await page.getByLabel('Run as').selectOption('server-readonly')
  await submitQuery(page, 'Create(Collection("items"))')
  await page.getByRole('alert').getByText('permission denied').waitFor()
  await page.getByLabel('Run as').selectOption('document')
  await page.getByLabel('Document').fill('users/7')
  await submitQuery(page, 'CurrentIdentity()')
  await page.locator('.result').getByRole('link', { name: 'users/7' }).waitFor()
  await page.getByLabel('Run as').selectOption('key')
  await page.getByLabel('Secret of the key').fill('nonsense')
  await page.getByRole('button', { name: 'Run' }).click()
  await page.getByRole('alert').getByText('rejects the secret').waitFor()
  await stage.visit(page, `shell?at=${encodeURIComponent(before)}`)
  await submitQuery(page, 'Exists(Ref(Collection("users"), "7"))')
  await page.locator('.result').getByText('false').waitFor()
})
