// Collections in the navigation, with their sizes, and in the diagram, with their references. Also the frame of all
// pages with long names on a narrow screen, and with bidirectional text.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { layOut } from '../../dashboard/src/wire/graph-layout.ts'
import { eventually } from '../support/eventually.ts'
import { sendFql } from '../support/http.ts'
import { accessibilityFaults, createNamed, settled, signIn, skip, stageOfFile, typeInto } from './stage.ts'

const stage = stageOfFile(async () => {
  await define('Collection.create({ name: "authors" })')
  await stage.query({ create_collection: { object: { name: 'tags' } } })
  await define(`Collection.create({
    name: "books",
    fields: {
      title: { signature: "String" },
      author: { signature: "Ref<authors>" },
      more: { signature: "{ tags: Array<Ref<tags>> }?" }
    }
  })`)
  await stage.query({ create_collection: { object: { name: 'alone' } } })
  await stage.query({ create_collection: { object: { name: 'reviews' } } })
  await create('authors', '1', { name: 'Ann' })
  await create('tags', '1', {})
  await create('reviews', '1', {
    about: { ref: { collection: 'authors' }, id: '1' },
    marks: [{ ref: { collection: 'tags' }, id: '1' }],
    after: { ref: { collection: 'reviews' }, id: '1' },
  })
})

const define = (text: string) => sendFql(stage.server, stage.admin, text)

const create = (collection: string, id: string, data: object) =>
  stage.query({ create: { ref: { collection }, id }, params: { object: { data: { object: data } } } })

const navigation = (page: Page) => page.getByRole('navigation', { name: 'Sections' })

test('the navigation has the collections with their documents and bytes', { skip }, async () => {
  const page = await stage.signedIn(stage.admin)
  const link = (name: string) => navigation(page).getByRole('link', { name })
  await link('alone').getByText('0 documents, 0 B').waitFor()
  await link('reviews')
    .getByText(/^1 document, \d+ B$/)
    .waitFor()
  await link('authors').click()
  await page.getByRole('heading', { name: 'authors' }).waitFor()
  await link('authors').and(page.locator('[aria-current=page]')).waitFor()
  await create('authors', '2', { name: 'Bob' })
  await page.getByRole('link', { name: 'Settings' }).click()
  await link('authors')
    .getByText(/^2 documents/)
    .waitFor()
  await stage.visit(page, '')
  await createNamed(page, 'Create collection', 'zebras')
  await link('zebras').getByText('0 documents').waitFor()
})

test('the navigation of callers without rights shows what they may see', { skip }, async () => {
  const page = await stage.signedIn(await stage.keyOf('client'))
  await settled(page)
  await navigation(page).getByRole('link', { name: 'Shell' }).waitFor()
  assert.equal(await page.locator('.section-name').count(), 0)
})

test('the diagram shows references by types and by documents', { skip }, async () => {
  const page = await stage.signedIn(stage.admin, 'diagram')
  const row = (...cells: readonly string[]) => page.getByRole('row', { name: cells.join(' '), exact: true })
  await row('reviews', 'about', 'authors', 'documents').waitFor()
  await row('reviews', 'marks', 'tags', 'documents').waitFor()
  await row('reviews', 'after', 'reviews', 'documents').waitFor()
  await row('books', 'author', 'authors', 'field type').waitFor()
  await row('books', 'more.tags', 'tags', 'field type').waitFor()
  await navigation(page).getByRole('link', { name: 'alone' }).waitFor()
  const countOf = (selector: string) => page.locator(selector).count()
  await eventually(
    'the diagram has each collection of the navigation',
    async () => (await countOf('.diagram-box')) === (await countOf('.section-name')),
  )
  assert.deepEqual(await accessibilityFaults(page), [])
  await page.locator('.diagram-box', { hasText: 'alone' }).click()
  await page.getByRole('heading', { name: 'alone' }).waitFor()
  await stage.query({ create_database: { object: { name: 'empty' } } })
  await stage.visit(page, 'diagram?db=shop/empty')
  await page.getByText('There are no collections yet.').waitFor()
})

test('collections are left of the collections that they refer to, also with cycles', () => {
  const edge = (from: string, to: string) => ({ from, field: `${to}Of`, to })
  const { boxes, lines } = layOut(
    ['alone', 'c', 'b', 'a', 'x', 'y'],
    [edge('a', 'b'), edge('b', 'c'), edge('a', 'c'), edge('x', 'y'), edge('y', 'x')],
  )
  const at = (name: string) => boxes.find(box => box.name === name)?.x ?? Number.NaN
  assert.ok(at('a') < at('b') && at('b') < at('c'))
  assert.ok(at('x') < at('y'))
  assert.equal(boxes.length, 6)
  assert.equal(lines.length, 5)
  const overlaps = boxes.some((one, i) =>
    boxes.some(
      (other, j) =>
        i < j && one.x === other.x && one.y < other.y + other.height && other.y < one.y + one.height,
    ),
  )
  assert.equal(overlaps, false)
})

test('a long name fits the bar of a narrow screen, and a new database opens', { skip }, async () => {
  const page = await stage.signedIn(stage.admin, '', { viewport: { width: 360, height: 740 } })
  const name = 'n'.repeat(266)
  await createNamed(page, 'Create database', name)
  await page.getByRole('heading', { name }).waitFor()
  const { height, width } = await page.evaluate(() => ({
    width: document.documentElement.scrollWidth,
    height: document.querySelector('.bar')?.getBoundingClientRect().height ?? 0,
  }))
  assert.equal(width, 360)
  assert.ok(height < 130, `the head is ${height} pixels high`)
  assert.deepEqual(await accessibilityFaults(page), [])
})

test('bidirectional text does not reorder code, and control characters are visible', {
  skip,
}, async () => {
  const page = await stage.signedIn(stage.admin, 'shell')
  await typeInto(page, 'Query', '{ a: "שלום", b: "\u202e\u2066x" }')
  await page.locator('.cm-isolated').first().waitFor()
  assert.equal(await page.locator('.cm-isolated').count(), 2)
  assert.equal(await page.locator('.cm-specialChar').count(), 2)
  const places = await page.evaluate(() => {
    const root = [...document.querySelectorAll('.editor')].find(each => each.shadowRoot)?.shadowRoot
    const line = root?.querySelector('.cm-line')
    const left = (text: string) => {
      const walker = document.createTreeWalker(line as Node, NodeFilter.SHOW_TEXT)
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const from = node.textContent?.indexOf(text) ?? -1
        if (from < 0) continue
        const range = document.createRange()
        range.setStart(node, from)
        range.setEnd(node, from + 1)
        return range.getBoundingClientRect().left
      }
      return Number.NaN
    }
    return ['a', 'ש', 'b', 'x', '}'].map(left)
  })
  assert.deepEqual(
    places,
    [...places].sort((one, other) => one - other),
    'each part is to the right of the previous part',
  )
})

test('every request of the dashboard has its tag', { skip }, async () => {
  const page = await stage.open()
  const untagged: string[] = []
  page.on('request', request => {
    const url = new URL(request.url())
    if (url.pathname.startsWith('/dashboard/')) return
    const headers = request.headers()
    const isTagged = ['x-fauna-tags', 'x-query-tags'].every(name => headers[name] === 'source=dashboard')
    if (!isTagged) untagged.push(`${request.method()} ${url.pathname}`)
  })
  await signIn(page, stage.admin)
  await page.locator('#sections').waitFor({ state: 'attached' })
  await settled(page)
  for (const address of [
    'indexes',
    'schema-files',
    'graphql',
    'logs',
    'diagram',
    'events',
    'collections/authors/1/history',
  ]) {
    await stage.follow(page, address)
    await settled(page)
  }
  assert.deepEqual(untagged, [])
})
