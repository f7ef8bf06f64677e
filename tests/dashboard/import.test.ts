// Imports files in the browser: the preview, the report, and the same results as `terrarium import`.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { formError } from '../../dashboard/src/service/import-errors.ts'
import { sha256 } from '../../dashboard/src/service/sha256.ts'
import { accessibilityFaults, skip, stageOfFile } from './stage.ts'

const stage = stageOfFile()

/** Opens the page that imports into a new collection. */
async function importing(collection: string): Promise<Page> {
  await stage.query({ create_collection: { object: { name: collection } } })
  return stage.signedIn(stage.admin, `collections/${collection}/import`)
}

async function choose(page: Page, name: string, content: string | Buffer): Promise<void> {
  const buffer = Buffer.from(content)
  await page.getByLabel('File', { exact: true }).setInputFiles({ name, mimeType: 'text/plain', buffer })
  await page.getByRole('region', { name: 'Preview' }).waitFor()
}

async function load(page: Page): Promise<string> {
  await page.getByRole('button', { name: 'Import' }).click()
  const report = page.getByRole('region', { name: 'Report' })
  return (await report.getByRole('status').textContent()) ?? ''
}

const all = async (collection: string) =>
  (await stage.run(
    `Select("data", Map(Paginate(Documents(Collection("${collection}")), { size: 1000 }), r => Select("data", Get(r))))`,
  )) as Record<string, unknown>[]

test('ids of rows use the same hash as the command line', () => {
  for (const length of [0, 3, 55, 56, 63, 64, 65, 500]) {
    const text = 'é'.repeat(length)
    assert.deepEqual(Buffer.from(sha256(text)), createHash('sha256').update(text).digest())
  }
})

test('errors name the fields of the form instead of the options of the command line', () => {
  const messageOf = (text: string) => formError(new Error(text)).message
  assert.equal(
    messageOf('line 1: no text (--skip-bad N skips N of them)'),
    'line 1: no text. Turn on “Skip documents that cannot be imported” to skip it',
  )
  assert.equal(
    messageOf(
      'line 1: data.id: Unexpected field provided (--row-ids uses `id` as the id of the document; --skip-bad N skips N of them)',
    ),
    'line 1: data.id: Unexpected field provided. Turn on “Use the field id as the id of the document”, or turn on “Skip documents that cannot be imported” to skip it',
  )
})

test('lines and arrays are imported, and rejected documents are listed with their line', {
  skip,
}, async () => {
  const page = await importing('lines')
  const lines = Array.from({ length: 250 }, (_, at) => `{"n": ${at}}`)
  await choose(page, 'lines.ndjson', `${lines.join('\n')}\n{"n": \n{"n": 251}\n`)
  assert.match(await load(page), /^251 documents created, 1 documents rejected/)
  await page.getByRole('alert').getByText('line 251: broken JSON').waitFor()
  await choose(
    page,
    'array.json.gz',
    gzipSync('[{"a": 9007199254740993, "at": {"@ts": "2024-01-01T00:00:00Z"}}]'),
  )
  assert.match(await load(page), /^1 documents created/)
  const stored = await all('lines')
  assert.equal(stored.length, 252)
  assert.ok(
    stored.some(({ at }) => (at as { '@ts'?: string } | undefined)?.['@ts'] === '2024-01-01T00:00:00Z'),
  )
})

test('the preview shows documents as they will be stored, with the types, separators and encodings of terrarium import', {
  skip,
}, async () => {
  const page = await importing('table')
  const table = 'name;amount;zip\r\n"Müller; Ann";3;01234\r\n"two\nlines";4.5;99999\r\n'
  await choose(page, 'table.csv', Buffer.from(table, 'latin1').toString('latin1'))
  await page.getByText('separated by semicolons').waitFor()
  await choose(page, 'latin.csv', 'name;n\nplain;1\n')
  const buffer = Buffer.from(table, 'latin1')
  await page
    .getByLabel('File', { exact: true })
    .setInputFiles({ name: 'latin.csv', mimeType: 'text/csv', buffer })
  await page.getByRole('alert').getByText('is not valid UTF-8; choose its encoding').waitFor()
  await page.getByText('Format options').click()
  await page.getByLabel('Encoding').selectOption('windows-1252')
  await page.getByRole('cell', { name: 'Müller; Ann' }).waitFor()
  await page.getByRole('cell', { name: '3text' }).waitFor()
  await page.getByRole('button', { name: 'Use amount: double' }).click()
  await page.getByRole('cell', { name: '3double' }).waitFor()
  assert.deepEqual(await accessibilityFaults(page), [])
  assert.match(await load(page), /^2 documents created/)
  assert.deepEqual(await all('table'), [
    { name: 'Müller; Ann', amount: 3, zip: '01234' },
    { name: 'two\nlines', amount: 4.5, zip: '99999' },
  ])
  // A second import of the same file finds the documents unchanged.
  assert.match(await load(page), /^0 documents created, 2 documents unchanged \(already there\)/)
})

test('documents keep their ids and go into this collection; a conflict stops the import or replaces the document', {
  skip,
}, async () => {
  const page = await importing('copies')
  const collection = { '@ref': { id: 'originals', collection: { '@ref': { id: 'collections' } } } }
  const line = (n: number) =>
    JSON.stringify({ ref: { '@ref': { id: '7', collection } }, ts: 1_700_000_000_000_000, data: { n } })
  await choose(page, 'documents.json', `${line(1)}\n`)
  await page.getByText('Import documents of originals into their own collections').waitFor()
  assert.match(await load(page), /^1 documents created/)
  await choose(page, 'documents.json', `${line(2)}\n`)
  await page.getByRole('button', { name: 'Import' }).click()
  await page.getByRole('alert').getByText('conflict (see “If a document already exists”)').waitFor()
  // Another file shows neither the error nor the progress of this import.
  await choose(page, 'others.json', `${line(3)}\n`)
  await page.getByRole('alert').waitFor({ state: 'detached' })
  await page.getByRole('region', { name: 'Progress' }).waitFor({ state: 'detached' })
  await choose(page, 'documents.json', `${line(2)}\n`)
  await page.getByLabel('If a document already exists').selectOption('replace')
  assert.match(await load(page), /1 documents replaced/)
  assert.deepEqual(await all('copies'), [{ n: 2 }])
})

test('a stopped import continues with the same file, and leaving the page asks while it runs', {
  skip,
}, async () => {
  const page = await importing('many')
  const lines = Array.from({ length: 3000 }, (_, at) => `{"n": ${at}}`).join('\n')
  await choose(page, 'many.jsonl', lines)
  let written = 0
  const held = Promise.withResolvers<void>()
  await page.route('**/api/v1/transfer/write', async route => {
    if (++written > 6) await held.promise
    await route.continue().catch(() => undefined)
  })
  await page.getByRole('button', { name: 'Import' }).click()
  await page.getByRole('button', { name: 'Stop' }).waitFor()
  const asked: string[] = []
  page.removeAllListeners('dialog')
  page.on('dialog', dialog => {
    asked.push(dialog.message())
    void dialog.dismiss()
  })
  await page.getByRole('link', { name: 'Indexes' }).click()
  assert.equal(asked.length, 1)
  await page.getByRole('button', { name: 'Stop' }).click()
  await page.getByText('The import has stopped.').waitFor()
  held.resolve()
  await page.unroute('**/api/v1/transfer/write')
  assert.match(await load(page), /documents created/)
  assert.equal(await stage.query({ count: { documents: { collection: 'many' } } }), 3000)
})

test('hostile columns and values of a file cannot become code', { skip }, async () => {
  const page = await importing('harm')
  const name = '<img src=x onerror=alert(1)>\u202e'
  const value = `${name}${'x'.repeat(2000)}`
  await choose(page, `${name}.csv`, `${name};b\n${value};"a"\n1;2;${value}\n`)
  assert.equal(await page.locator('main img').count(), 0)
  assert.match(await load(page), /^1 documents created, 1 documents rejected/)
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 1280)
})

test('a secret without the right to import gets an explanation', { skip }, async () => {
  await stage.query({ create_collection: { object: { name: 'others' } } })
  const page = await stage.signedIn(await stage.keyOf('server'), 'collections/others/import')
  await page.getByText('Sign in with the root secret or an admin key').waitFor()
})

test('JSON objects keep their ids on request', { skip }, async () => {
  const page = await importing('rows')
  await choose(page, 'rows.jsonl', '{"id": 7, "n": 1}\n{"id": "8", "n": 2}\n{"n": 3}\n{"id": "x", "n": 4}\n')
  const asked = page.getByLabel('Use the field id as the id of the document')
  assert.equal(await asked.isChecked(), false)
  await asked.check()
  await page.getByRole('cell', { name: '7', exact: true }).waitFor()
  assert.match(await load(page), /^3 documents created, 1 documents rejected/)
  await page.getByRole('alert').getByText('a row with "x", which is not a valid id').waitFor()
  const stored = await all('rows')
  assert.deepEqual(stored.map(({ n }) => n).sort(), [1, 2, 3])
  assert.ok(stored.every(data => !('id' in data)))
  const seventh = { ref: { collection: 'rows' }, id: '7' }
  assert.equal(await stage.query({ select: ['data', 'n'], from: { get: seventh } }), 1)
})
