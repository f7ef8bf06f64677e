// Watches an event source of version 10: writes of both languages, pausing, errors of the query.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { accessibilityFaults, skip, stageOfFile, typeInto } from './stage.ts'

const stage = stageOfFile(async () => {
  await stage.query({ create_collection: { object: { name: 'items' } } })
  await stage.query({ create_collection: { object: { name: 'odd-name' } } })
})

const item = (id: string) => ({ ref: { collection: 'items' }, id })
const named = (name: string) => ({ object: { data: { object: { name } } } })

test('writes appear live, are held back during a pause, and appear again after it', { skip }, async () => {
  const page = await stage.signedIn(stage.admin)
  await page.getByRole('link', { name: 'Events' }).click()
  await page.getByLabel('All events of a collection').selectOption('items')
  const source = page.getByRole('textbox', { name: 'Source' })
  await source.getByText('items.all().eventSource()').waitFor()
  await page.getByRole('button', { name: 'Watch', exact: true }).click()
  await page.getByText('Watching: new events appear below').waitFor()
  await stage.query({ create: item('1'), params: named('first') })
  const events = page.getByRole('region', { name: 'Table of events' })
  await events.getByText(/name: "first"/).waitFor()
  assert.match((await events.getByRole('row').nth(1).textContent()) ?? '', /added/)
  await page.getByRole('button', { name: 'Pause' }).click()
  await stage.query({ update: item('1'), params: named('second') })
  await stage.query({ delete: item('1') })
  await page.getByRole('button', { name: 'Resume (2 new)' }).click()
  const rows = events.getByRole('row')
  await rows.nth(3).waitFor()
  assert.match((await rows.nth(1).textContent()) ?? '', /removed.*second/)
  assert.match((await rows.nth(2).textContent()) ?? '', /changed.*second/)
  await rows.nth(3).locator('summary').click()
  await rows.nth(3).locator('.tree').getByText('"first"').waitFor()
  assert.deepEqual(await accessibilityFaults(page), [])
  await page.getByRole('button', { name: 'Stop' }).click()
  await page.getByText('Not watching.').waitFor()
})

test('a query without an event source and a failing query show errors', { skip }, async () => {
  const page = await stage.signedIn(stage.admin, 'events', { viewport: { width: 375, height: 740 } })
  await page.getByLabel('All events of a collection').selectOption('odd-name')
  await page.getByRole('button', { name: 'Watch', exact: true }).click()
  await page.getByText('Watching: new events appear below').waitFor()
  await typeInto(page, 'Source', '1 + 2')
  await page.getByRole('button', { name: 'Switch to this source' }).click()
  await page.getByRole('alert').getByText('This query does not return an event source').waitFor()
  await typeInto(page, 'Source', 'items.all().take(2).eventSource()')
  await page.getByRole('button', { name: 'Watch', exact: true }).click()
  await page
    .getByRole('alert')
    .getByText(/streaming is not supported/)
    .first()
    .waitFor()
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 375)
})

test('a stream that the service ends shows the reason', { skip }, async () => {
  const page = await stage.signedIn(stage.admin, 'events')
  await typeInto(page, 'Source', 'items.where(x => x.n! / 0 > 1).eventSource()')
  await page.getByRole('button', { name: 'Watch', exact: true }).click()
  await page.getByText('Watching: new events appear below').waitFor()
  await stage.query({ create: item('2'), params: { object: { data: { object: { n: 1 } } } } })
  await page
    .getByRole('alert')
    .getByText(/The service ended the stream \(divide_by_zero\)/)
    .waitFor()
})
