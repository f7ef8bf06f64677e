// The page of indexes: indexes of both languages and unique constraints, with their states and sizes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sendFql } from '../support/http.ts'
import { accessibilityFaults, skip, stageOfFile } from './stage.ts'

const stage = stageOfFile()

const define = (query: string) => sendFql(stage.server, stage.admin, query)

test('indexes of both languages and unique constraints are listed with state and size', {
  skip,
}, async () => {
  const page = await stage.signedIn(stage.admin, 'indexes')
  await page.getByText('There are no indexes of version 4').waitFor()
  await page.getByText('No collection declares an index').waitFor()
  await define(`Collection.create({
    name: "items",
    indexes: { byName: { terms: [{ field: ".name" }], values: [{ field: ".price", order: "desc" }] } },
    constraints: [{ check: { name: "any", body: "(doc) => true" } }, { unique: [".sku"] }]
  })`)
  await define('items.create({ name: "fern", price: 3, sku: 1 }); items.create({ name: "ivy", price: 4 })')
  const terms = '[{ field: ["data", "price"] }]'
  await stage.run(`CreateIndex({ name: "by_price", source: Collection("items"), terms: ${terms} })`)
  await page.reload()
  const row = (name: string) => page.getByRole('row', { name })
  await row('by_price').getByRole('button', { name: 'Measure by_price' }).click()
  await row('by_price').getByText('2 entries').waitFor()
  assert.match((await row('items.byName').textContent()) ?? '', /index\.name\.price descready/)
  await page.getByRole('button', { name: 'Measure items.byName' }).click()
  await row('items.byName').getByText('2 entries').waitFor()
  assert.match((await row('items: unique .sku').textContent()) ?? '', /unique constraint\.sku/)
  await page.getByRole('button', { name: 'Measure items: unique .sku' }).click()
  await row('items: unique .sku').getByText('1 entry').waitFor()
  assert.deepEqual(await accessibilityFaults(page), [])
  await row('items.byName').getByRole('link').click()
  await page.getByRole('heading', { name: 'items.byName' }).waitFor()
  await page.getByText('terms [.name]').waitFor()
  await page.getByText('values [desc(.price)]').waitFor()
  await page.getByRole('button', { name: 'Measure items.byName' }).click()
  await page.getByText('2 entries').waitFor()
  assert.deepEqual(await accessibilityFaults(page), [])
  await page.getByRole('button', { name: 'Try in the shell' }).click()
  await page.getByRole('textbox', { name: 'Query' }).getByText('items.byName(/* .name */ "")').waitFor()
  await page.getByRole('button', { name: 'Run' }).click()
  await page.getByRole('region', { name: 'Result' }).getByText('data').waitFor()
  await stage.visit(page, 'collections/items/unique/0')
  await page.getByText('unique [.sku]').waitFor()
  await stage.visit(page, 'collections/items/indexes/none')
  await page.getByText('The collection does not declare this index').waitFor()
})
