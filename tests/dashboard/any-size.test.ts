// Sorts, counts, changes and deletes all documents of collections that are larger than a page of the service.
// The file takes more than 20 seconds, because it shows, sorts and counts 10 600 documents in Chromium.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { cellsOf, createDocuments, createUniqueIndex, dataOf, filterBy } from './documents-page.ts'
import { accessibilityFaults, skip, stageOfFile } from './stage.ts'

const stage = stageOfFile()

const update = (collection: string, id: string, data: object) =>
  stage.query({ update: { ref: { collection }, id }, params: { object: { data: { object: data } } } })

/** The service's count of the documents with a state. */
const countOf = (collection: string, state: string) =>
  stage.run(
    `Count(Filter(Documents(Collection("${collection}")), r => Equals(Select(["data", "state"], Get(r)), "${state}")))`,
  )

/** The cells of the first data column. */
const cells = cellsOf(0)

/** The texts of the first data column, starting at a row. */
async function cellsFrom(page: Page, from: number, count: number): Promise<readonly string[]> {
  return (await page.locator(cells).allTextContents()).slice(from, from + count)
}

/** Resolves when the cell of the first data column in a row has this text. Rows start at 1. */
async function showsCell(page: Page, row: number, text: string): Promise<void> {
  // A locator by role would compute the accessible names of a thousand rows at each attempt.
  const isShown = (wanted: { cells: string; row: number; text: string }) =>
    document.querySelectorAll(wanted.cells)[wanted.row - 1]?.textContent === wanted.text
  await page.waitForFunction(isShown, { cells, row, text })
}

/** Delays the first write of documents until `release` is called. */
async function holdFirstWrite(page: Page, form: 'update' | 'delete') {
  const held = Promise.withResolvers<void>()
  const seen = Promise.withResolvers<void>()
  await page.route('**/', async route => {
    if (route.request().postData()?.includes(`"${form}":{"ref"`)) {
      seen.resolve()
      await held.promise
    }
    await route.continue()
  })
  return { isSeen: seen.promise, release: held.resolve }
}

const total = 10_600

test('sorting without an index and an exact count cover all documents', { skip }, async () => {
  const counted = Array.from({ length: total }, (_, at) => ({ at: total - at }))
  await createDocuments(stage, 'large', counted)
  const page = await stage.signedIn(stage.admin, 'collections/large')
  await page.getByText('More than 10000 documents').waitFor()
  await page.getByRole('button', { name: 'Count all' }).click()
  await page.getByText(`Exactly ${total} documents.`).waitFor()
  await page.getByRole('button', { name: 'at', exact: true }).click()
  await page.getByText(`${total} found.`).waitFor()
  assert.deepEqual(await cellsFrom(page, 0, 3), ['1', '2', '3'])
  await page.getByRole('button', { name: 'at', exact: true }).click()
  await page.locator('[aria-sort=descending]').waitFor()
  await page.getByText(`${total} found.`).waitFor()
  assert.deepEqual(await cellsFrom(page, 0, 3), ['10600', '10599', '10598'])
  // Rows after those in memory are read again.
  for (let rows = 50; rows <= 1000; rows += 50) {
    await showsCell(page, rows, String(total + 1 - rows))
    await page.locator('button', { hasText: 'Show more' }).click()
  }
  await showsCell(page, 1050, String(total + 1 - 1050))
  assert.deepEqual(await cellsFrom(page, 999, 3), ['9601', '9600', '9599'])
})

/** Delays later pages of documents until `release` is called. Counts are not delayed. */
async function holdLaterPages(page: Page): Promise<() => void> {
  const held = Promise.withResolvers<void>()
  await page.route('**/', async route => {
    const body = route.request().postData() ?? ''
    if (body.includes('"after":[') && body.includes('{"get":')) await held.promise
    await route.continue()
  })
  return held.resolve
}

test('a scan of all documents and a scan of an index show how much is done', { skip }, async () => {
  const values = '[{ field: ["data", "at"] }, { field: "ref" }]'
  await stage.run(`CreateIndex({ name: "all_by_at", source: Collection("large"), values: ${values} })`)
  for (const source of ['', 'index=all_by_at&']) {
    const page = await stage.signedIn(stage.admin, 'functions')
    const release = await holdLaterPages(page)
    await stage.follow(page, `collections/large?${source}sort=none`)
    await page.getByText('200 documents scanned, about 2 %').waitFor()
    release()
    await page.getByText(`${total} found.`).waitFor()
  }
})

test('a filter is counted exactly on request', { skip }, async () => {
  const page = await stage.signedIn(stage.admin, 'collections/large')
  await filterBy(page, 'at', 'lte', '10500')
  await page.getByText('found so far').waitFor()
  await page.getByRole('button', { name: 'Count all' }).click()
  await page.getByText('Exactly 10500 documents.').waitFor()
  assert.deepEqual(await accessibilityFaults(page), [])
})

test('all matches of a filter are changed, with a check at the write, a stop and a continuation', {
  skip,
}, async () => {
  const parcels = Array.from({ length: 700 }, (_, at) => ({ state: at < 600 ? 'new' : 'old' }))
  await createDocuments(stage, 'parcels', parcels)
  const page = await stage.signedIn(stage.admin, 'collections/parcels')
  await filterBy(page, 'state', 'is', 'new')
  await page.getByRole('button', { name: 'Change all matching' }).click()
  await page.getByText('Exactly 600 documents.').waitFor()
  await page.getByLabel('Field', { exact: true }).fill('state')
  await page.getByLabel('New value').fill('sent')
  assert.deepEqual(await accessibilityFaults(page), [])
  const { isSeen, release } = await holdFirstWrite(page, 'update')
  await page.getByRole('button', { name: 'Change 600 documents' }).click()
  await isSeen
  await update('parcels', '7', { state: 'lost' })
  await page.getByRole('button', { name: 'Stop', exact: true }).click()
  release()
  await page.getByText('99 of 600 done, 1 skipped').waitFor()
  assert.equal(await countOf('parcels', 'sent'), 99)
  await page.getByRole('button', { name: 'Continue', exact: true }).click()
  await page.getByText('599 documents changed; 1 skipped').waitFor()
  await page.getByText('0 found.').waitFor()
  assert.equal(await countOf('parcels', 'sent'), 599)
  assert.deepEqual(await dataOf(stage, 'parcels', '7'), { state: 'lost' })
  assert.equal(await countOf('parcels', 'old'), 100)
})

test('a lost connection stops a change, which can continue, and each failed document is listed', {
  skip,
}, async () => {
  await createUniqueIndex(stage, 'one_owner', 'parcels', 'owner')
  const page = await stage.signedIn(stage.admin, 'collections/parcels')
  await filterBy(page, 'state', 'is', 'old')
  await page.getByText('50 found').or(page.getByText('100 found')).first().waitFor()
  await page.getByRole('button', { name: 'Change all matching' }).click()
  await page.getByText('Exactly 100 documents.').waitFor()
  await page.getByLabel('Field', { exact: true }).fill('owner')
  await page.getByLabel('New value').fill('me')
  let writes = 0
  await page.route('**/', async route => {
    const isWrite = route.request().postData()?.includes('"update":{"ref"')
    if (isWrite && ++writes === 4) return route.abort()
    return route.continue()
  })
  await page.getByRole('button', { name: 'Change 100 documents' }).click()
  await page.getByRole('alert').getByText('The service cannot be reached').waitFor()
  await page.getByRole('button', { name: 'Continue', exact: true }).click()
  await page.getByRole('alert').getByText('99 of 100 documents failed').waitFor()
  const downloading = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download all 99 errors' }).click()
  const chunks: Buffer[] = []
  for await (const chunk of await (await downloading).createReadStream()) chunks.push(chunk as Buffer)
  const lines = Buffer.concat(chunks).toString('utf8').trimEnd().split('\n')
  assert.equal(lines.length, 99)
  assert.match(lines[0] ?? '', /^parcels\/602: .*unique/)
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.context().close()
  stage.forgetFaults()
})

test('all matches of a filter are deleted, and all documents of a collection only after its name is typed', {
  skip,
}, async () => {
  const page = await stage.signedIn(stage.admin, 'collections/parcels')
  await filterBy(page, 'state', 'is', 'sent')
  await page.getByRole('button', { name: 'Delete all matching' }).click()
  await page.getByRole('button', { name: 'Delete 599 documents' }).click()
  await page.getByText('599 documents deleted.').waitFor()
  await page.getByText('0 found.').waitFor()
  await page.getByRole('button', { name: 'Remove filter' }).click()
  await page.getByText('101 documents', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Delete all matching' }).click()
  const submit = page.getByRole('button', { name: 'Delete 101 documents' })
  await submit.waitFor()
  assert.equal(await submit.isDisabled(), true)
  await page.getByLabel('Type parcels to confirm').fill('parcels')
  await submit.click()
  await page.getByText('101 documents deleted.').waitFor()
  await page.getByText('There are no documents').waitFor()
  assert.equal(await stage.query({ count: { documents: { collection: 'parcels' } } }), 0)
})
