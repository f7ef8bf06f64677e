// Unsaved input: conversions keep it, leaving a page asks, and it survives a revoked secret. Also links to databases
// that the secret cannot access. The file takes more than 20 seconds, because it signs in eight times, and loads the
// code editor on most pages.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { query } from '../support/http.ts'
import { press, skip, stageOfFile, typeInto } from './stage.ts'

const stage = stageOfFile(async () => {
  await stage.query({ create_collection: { object: { name: 'items' } } })
  const body = { query: { lambda: 'x', expr: { var: 'x' } } }
  await stage.query({ create_function: { object: { name: 'same', body } } })
})

const textbox = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true })

/** Answers the next questions of a page in this order, and later ones with yes. Returns the list of questions. */
function answering(page: Page, ...answers: readonly boolean[]): string[] {
  const asked: string[] = []
  page.removeAllListeners('dialog')
  page.on('dialog', dialog => {
    asked.push(dialog.message())
    void ((answers[asked.length - 1] ?? true) ? dialog.accept() : dialog.dismiss())
  })
  return asked
}

test('every editor converts between the notations, and a failed conversion changes nothing', {
  skip,
}, async () => {
  const page = await stage.signedIn(stage.admin, 'functions/same')
  await typeInto(page, 'Definition', '{ name: "same", data: { not: "saved" }, body: Query(Lambda("x", 1)) }')
  await press(page, 'JSON')
  await textbox(page, 'Definition').getByText('"not": "saved"').waitFor()
  await press(page, 'Text')
  await textbox(page, 'Definition').getByText('not: "saved"').waitFor()
  await press(page, 'Save')
  await page.getByText('Saved.').waitFor()
  await stage.visit(page, 'shell')
  await typeInto(page, 'Query', 'Add(1, 2)')
  await press(page, 'JSON')
  await textbox(page, 'Query').getByText('"add"').waitFor()
  await press(page, 'Run')
  await page.locator('.result').getByText('3', { exact: true }).waitFor()
  await press(page, 'Text')
  await textbox(page, 'Query').getByText('Add(1, 2)').waitFor()
  for (const [text, reason] of [
    ['Add(1, 2) // the sum', 'JSON cannot contain comments'],
    ['1\n2', 'JSON can contain only one query'],
    ['Add(1', 'has no end'],
  ] as const) {
    await typeInto(page, 'Query', text)
    await press(page, 'JSON')
    await page.getByRole('alert').getByText(reason).waitFor()
    await page.getByRole('button', { name: 'Text', exact: true, pressed: true }).waitFor()
    await textbox(page, 'Query')
      .getByText(text.split('\n')[0] as string)
      .waitFor()
  }
  await stage.visit(page, 'collections/items/new')
  await typeInto(page, 'Data', '{ at: Now() }')
  await press(page, 'JSON')
  await page.getByRole('alert').getByText('must be evaluated first').waitFor()
  await textbox(page, 'Data').getByText('Now()').waitFor()
})

test('an edit discards a running conversion, even if the conversion then fails', { skip }, async () => {
  const page = await stage.signedIn(stage.admin)
  // Delays the task of the worker, which converts long texts, until the test calls `sendTask`.
  await page.addInitScript(() => {
    const { postMessage } = Worker.prototype
    Worker.prototype.postMessage = function (this: Worker, ...parameters: unknown[]) {
      const sendTask = () =>
        new Promise(resolve => {
          this.addEventListener('message', resolve, { once: true })
          Reflect.apply(postMessage, this, parameters)
        })
      Object.assign(globalThis, { sendTask })
    }
  })
  await stage.visit(page, 'shell')
  await typeInto(page, 'Query', `Add(1, 2) // ${'the sum '.repeat(30_000)}`)
  await press(page, 'JSON')
  await page.waitForFunction(() => 'sendTask' in globalThis)
  await typeInto(page, 'Query', 'Add(3, 4)')
  await page.evaluate(async () => {
    await (globalThis as unknown as { sendTask: () => Promise<void> }).sendTask()
    for (let frame = 0; frame < 2; frame++) await new Promise(resolve => requestAnimationFrame(resolve))
  })
  assert.equal(await page.getByRole('alert').count(), 0)
  await page.getByRole('button', { name: 'Text', exact: true, pressed: true }).waitFor()
})

test('one editor of a role is read-only while the other has changes', { skip }, async () => {
  await stage.query({ create_role: { object: { name: 'reader' } } })
  const page = await stage.signedIn(stage.admin, 'roles/reader')
  await page.getByLabel('Resource').selectOption({ label: 'items (collection)' })
  await press(page, 'Add resource')
  await page.getByText('The other editor on this page has unsaved changes').waitFor()
  await press(page, 'Save privileges')
  await page.getByText('Saved.').waitFor()
  await page.getByText('The other editor on this page has unsaved changes').waitFor({ state: 'detached' })
  await textbox(page, 'Definition').getByText('privileges').waitFor()
  await typeInto(page, 'Definition', '{ name: "reader", data: { a: 1 } }')
  await page.getByText('The other editor on this page has unsaved changes').waitFor()
  assert.equal(await page.getByLabel('read of items', { exact: true }).isDisabled(), true)
})

test('a dialog with input asks before Escape or a click outside closes it; an empty dialog closes', {
  skip,
}, async () => {
  const page = await stage.signedIn(stage.admin, 'functions')
  const asked = answering(page, false, false)
  await press(page, 'Create function')
  await page.getByLabel('Name', { exact: true }).fill('half')
  await page.keyboard.press('Escape')
  await page.mouse.click(5, 5)
  assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'half')
  assert.equal(asked.length, 2)
  await press(page, 'Cancel')
  // Edits by the editor itself, such as pasting, count as input.
  await press(page, 'Create function')
  await textbox(page, 'Body').click()
  await page.keyboard.press('Control+A')
  await page.keyboard.press('Delete')
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  assert.equal(asked.length, 3)
  await press(page, 'Create function')
  await page.getByRole('dialog').waitFor()
  await page.mouse.click(5, 5)
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: /^At:/ }).click()
  await page.keyboard.press('Escape')
  await page.getByLabel('Show data as of').waitFor({ state: 'detached' })
  assert.equal(asked.length, 3)
})

test('signing out with input asks; another tab hides its input until the next sign-in', {
  skip,
}, async () => {
  const page = await stage.signedIn(stage.admin, 'collections/items/new')
  await typeInto(page, 'Data', '{ half: "written" }')
  const other = await page.context().newPage()
  await other.goto(page.url())
  await other.getByRole('button', { name: 'Sign out' }).waitFor()
  const asked = answering(page, false)
  await press(page, 'Sign out')
  await press(page, 'Sign out of this tab')
  await textbox(page, 'Data').getByText('written').waitFor()
  assert.equal(asked.length, 1)
  await press(other, 'Sign out')
  await press(other, 'Sign out of all tabs')
  await other.getByLabel('Secret').waitFor()
  await other.reload()
  await other.getByLabel('Secret').waitFor()
  await page.getByRole('dialog').getByText('You signed out in another tab.').waitFor()
  await page.getByLabel('Secret').fill(stage.admin)
  await press(page, 'Sign in')
  await textbox(page, 'Data').getByText('written').waitFor()
  await press(page, 'Create')
  await page.getByRole('heading', { name: /^\d+$/ }).waitFor()
})

test('input survives a revoked secret', { skip }, async () => {
  const made = { create_key: { object: { role: 'server' } } }
  const key = (await stage.query(made)) as { secret: string; ref: unknown }
  const page = await stage.signedIn(key.secret, 'collections/items/new')
  await typeInto(page, 'Data', '{ kept: true }')
  await stage.query({ delete: key.ref })
  await press(page, 'Create')
  await page.getByRole('dialog').getByText('Your unsaved changes are kept').waitFor()
  await page.getByLabel('Secret').fill(stage.admin)
  await press(page, 'Sign in')
  await press(page, 'Create')
  await page.getByRole('heading', { name: /^\d+$/ }).waitFor()
  await textbox(page, 'Data').getByText('kept: true').waitFor()
})

test('a text of the shell that was never run survives a revoked secret, and signing out asks', {
  skip,
}, async () => {
  const made = { create_key: { object: { role: 'server' } } }
  const key = (await stage.query(made)) as { secret: string; ref: unknown }
  const page = await stage.signedIn(key.secret, 'shell')
  await typeInto(page, 'Query', '"precious"')
  await stage.query({ delete: key.ref })
  await press(page, 'Run')
  await page.getByRole('dialog').getByText('Your secret has expired or was revoked').waitFor()
  await page.getByLabel('Secret', { exact: true }).fill(stage.admin)
  await press(page, 'Sign in')
  await textbox(page, 'Query').getByText('precious').waitFor()
  await page.getByRole('link', { name: 'Indexes' }).click()
  const asked = answering(page, false)
  await press(page, 'Sign out')
  await press(page, 'Sign out of this tab')
  await page.getByRole('heading', { name: 'Indexes', exact: true }).waitFor()
  assert.equal(asked.length, 1)
  await page.getByRole('link', { name: 'Shell' }).click()
  await press(page, 'Run')
  await page.locator('.result').getByText('precious').waitFor()
  await press(page, 'Sign out')
  await press(page, 'Sign out of this tab')
  await page.getByLabel('Secret').waitFor()
  assert.equal(asked.length, 1, 'a query that was run is in the history')
})

test('a link means the same for every secret, and a link to another database does not sign out', {
  skip,
}, async () => {
  const root = stage.server.rootSecret
  await query(stage.server, `${stage.admin}:admin`, { create_database: { object: { name: 'old' } } })
  await query(stage.server, `${stage.admin}:old:admin`, { create_collection: { object: { name: 'things' } } })
  // A user with a key of the database follows links from a user with the root secret.
  const page = await stage.signedIn(stage.admin, 'collections/items?db=shop')
  await page.getByRole('heading', { name: 'items' }).waitFor()
  await stage.visit(page, 'collections/things?db=shop/old')
  await page.getByRole('heading', { name: 'things' }).waitFor()
  assert.match(
    await page.getByRole('link', { name: 'Indexes' }).getAttribute('href').then(String),
    /db=shop%2Fold/,
  )
  await query(stage.server, stage.admin, { update: { database: 'old' }, params: { object: { name: 'new' } } })
  await stage.visit(page, 'collections/things?db=shop/old')
  await page.getByRole('alert').getByText('It may have been renamed, moved or deleted').waitFor()
  await page.getByRole('link', { name: 'Open this page in shop', exact: true }).click()
  await page.getByRole('heading', { name: 'things', exact: true }).waitFor()
  await stage.visit(page, '?db=elsewhere')
  await page.getByRole('alert').getByText('This address belongs to another database').waitFor()
  // A user with the root secret follows a link from a user with the key.
  const boss = await stage.signedIn(root, 'collections/items?db=shop')
  await boss.getByRole('heading', { name: 'items' }).waitFor()
  await stage.visit(boss, 'collections/items?at=rubbish')
  await boss.getByRole('alert').getByText('Use the format').waitFor()
  await boss.getByRole('link', { name: 'Back to now' }).click()
})
