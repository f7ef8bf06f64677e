// The pages Logs and Why denied.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { query, send, sendFql } from '../support/http.ts'
import { accessibilityFaults, settled, skip, stageOfFile, submitQuery } from './stage.ts'

const stage = stageOfFile(async () => {
  await stage.query({ create_collection: { object: { name: 'users' } } })
})

test('the log shows sums, charts, queries and single requests, and can be exported', { skip }, async () => {
  const user = 'Create(Collection("users"), { credentials: { password: "pw" } })'
  const id = await stage.run(`Select(["ref", "id"], ${user})`)
  await stage.run(`Login(Ref(Collection("users"), "${id}"), { password: "pw" })`)
  await send(stage.server, { secret: stage.admin, query: { divide: [1, 0] } })
  await query(stage.server, stage.server.rootSecret, { add: [1, 2] })
  const page = await stage.signedIn(stage.admin)
  await page.getByRole('link', { name: 'Logs' }).click()
  await page.getByRole('figure', { name: 'Requests and errors' }).locator('canvas').waitFor()
  const requests = page.getByRole('region', { name: 'Requests' }).getByRole('table')
  await requests.getByRole('cell', { name: /"login"/ }).waitFor()
  assert.equal(
    await requests.getByRole('cell', { name: /"add"/ }).count(),
    0,
    'the log of this database only',
  )
  await page.getByLabel('Sort by').selectOption('frequent')
  await page
    .getByRole('region', { name: 'Queries' })
    .getByRole('cell', { name: /"login"/ })
    .waitFor()
  await page.getByLabel('Status').selectOption('4xx')
  await page.getByLabel('Contains text').fill('divide')
  await page.getByRole('button', { name: 'Search' }).click()
  await requests.getByRole('cell', { name: /"login"/ }).waitFor({ state: 'detached' })
  await requests.getByRole('cell', { name: /"divide"/ }).waitFor()
  await page.getByRole('button', { name: 'Export this period' }).click()
  await page.getByRole('cell', { name: 'ready' }).waitFor()
  const downloading = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download' }).click()
  assert.match((await downloading).suggestedFilename(), /\.gz$/)
})

test('a search that continues over several requests shows its progress', { skip }, async () => {
  const page = await stage.signedIn(stage.admin, 'functions')
  const held = Promise.withResolvers<void>()
  let requests = 0
  await page.route('**/api/v1/logs/_records*', async route => {
    if (++requests > 1) {
      await held.promise
      return route.continue()
    }
    const { time_end: end, time_start: start } = route.request().postDataJSON()
    const middle = (Date.parse(start) + Date.parse(end)) / 2
    const since = { next_token: `${middle}.0`, searched_since: new Date(middle).toISOString() }
    return route.fulfill({ json: { records: [], details: [], ...since, kept_since: null } })
  })
  await stage.follow(page, 'logs')
  await page.getByText('0 found so far; about 50 % of the period searched…').waitFor()
  held.resolve()
  await page.getByText('of the period searched').waitFor({ state: 'detached' })
  assert.ok(requests > 1)
})

/** Sends requests of an application that the service rejects, in both languages. */
async function brokenApp(): Promise<void> {
  await stage.query({ create_collection: { object: { name: 'orders' } } })
  const secret = await stage.keyOf('server', ', data: { name: "checkout" }')
  const params = { object: { data: { object: { total: { add: ['hunter2', 1] } } } } }
  const create = { create: { collection: 'orders' }, params }
  await send(stage.server, { secret, query: create, headers: { 'x-fauna-tags': 'job=billing' } })
  await sendFql(stage.server, secret, 'orders.byId("hunter2")')
}

test('the log page explains a 400 of an application', { skip }, async () => {
  await brokenApp()
  const page = await stage.signedIn(stage.admin, 'logs')
  const errors = page.getByRole('region', { name: 'Errors', exact: true })
  const error = errors.getByRole('row', { name: /400 invalid argument: Number expected, String provided/ })
  await error.getByRole('button', { name: 'Show requests' }).click()
  await page.waitForURL(/[?&]error=invalid\+argument/)
  const requests = page.getByRole('region', { name: 'Table of requests' })
  const row = requests.getByRole('row', { name: /job=billing/ })
  assert.match((await row.textContent()) ?? '', /"collection":"orders".*Number expected.*checkout/)
  await row.getByRole('button').click()
  const opened = page.getByRole('dialog')
  await opened.getByText('Rejected with status 400: invalid argument').waitFor()
  await opened.getByText('Number expected, String provided.').waitFor()
  await opened.getByText('params › object › data › object › ? › add › 0').waitFor()
  const told = (await opened.textContent()) ?? ''
  const facts = [
    /a key, checkout, \d+/,
    /Rolesserver/,
    /Collectionsorders/,
    /job=billing/,
    /Attempts1/,
    /Laneordinary/,
  ]
  for (const fact of facts) assert.match(told, fact)
  assert.doesNotMatch(told, /hunter2/)
  assert.deepEqual(await accessibilityFaults(page), [])
  await page.emulateMedia({ colorScheme: 'dark' })
  assert.deepEqual(await accessibilityFaults(page, ['color-contrast']), [], 'in the dark')
  await page.emulateMedia({ colorScheme: 'light' })
  await opened.getByRole('button', { name: 'Filter by this key' }).click()
  await requests.getByRole('row', { name: /orders\.byId\(\?\)/ }).waitFor()
  await eventually(
    'the list has the two requests of the key',
    async () => (await requests.getByRole('row', { name: /checkout/ }).count()) === 2,
  )
  await requests
    .getByRole('row', { name: /orders\.byId/ })
    .getByRole('button')
    .click()
  await opened.getByText('line 1, column').waitFor()
})

test('charts and lists exclude requests of the dashboard until the user includes them', {
  skip,
}, async () => {
  const page = await stage.signedIn(stage.admin)
  // A page that is left before it sends its queries never sends them.
  await settled(page)
  await page.getByRole('link', { name: 'Logs' }).click()
  await page.getByRole('region', { name: 'Table of requests' }).waitFor()
  await settled(page)
  const own = page
    .getByRole('region', { name: 'Table of requests' })
    .getByRole('row', { name: /source=dashboard/ })
  const total = page.getByLabel('Totals').locator('dd').first()
  const shown = async () => Number(await total.textContent())
  const before = await shown()
  assert.equal(await own.count(), 0)
  await page.getByLabel("Include the dashboard's own requests").check()
  await own.first().waitFor()
  await eventually('the totals include the requests of the dashboard', async () => (await shown()) > before)
  await page.waitForURL(/dashboard=1/)
})

test('fields, charts and lists show one span, in one time zone', { skip }, async () => {
  const page = await stage.signedIn(stage.admin, 'logs', { timezoneId: 'Asia/Kolkata' })
  await settled(page)
  await page.getByRole('button', { name: 'Times: Asia/' }).click()
  await page.getByLabel('From (UTC)').fill('2026-01-05T10:00')
  await page.getByLabel('To (UTC)').fill('2026-01-05T11:30')
  await page.waitForURL(/from=2026-01-05T10%3A00%3A00\.000Z&to=2026-01-05T11%3A30/)
  assert.equal(await page.getByLabel('Period', { exact: true }).inputValue(), 'custom')
  await page.getByText('No request in this period matches the filters.').waitFor()
  await page.getByText('This database had no requests in this period.').waitFor()
  await page.getByLabel('To (UTC)').fill('2026-01-05T09:00')
  await page.getByText('The end must be after the start.').waitFor()
  await page.getByRole('button', { name: 'Times: UTC' }).click()
  assert.equal(await page.getByLabel(/^From \(Asia/).inputValue(), '2026-01-05T15:30')
  await page.getByLabel('Period', { exact: true }).selectOption('15m')
  await page.getByRole('region', { name: 'Table of requests' }).getByRole('button').first().waitFor()
})

test('changes compare the period with the previous one, also on a narrow screen', { skip }, async () => {
  const page = await stage.signedIn(stage.admin, 'logs?changes=1', { viewport: { width: 390, height: 844 } })
  await page.getByText('so there is no comparison').waitFor()
  await settled(page)
  const isWide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)
  assert.ok(!isWide, 'the page does not scroll sideways')
  await page.getByRole('region', { name: 'Table of requests' }).getByRole('button').first().click()
  const dialog = page.getByRole('dialog')
  await dialog.waitFor()
  const box = await dialog.boundingBox()
  assert.ok(box && box.x >= 0 && box.x + box.width <= 390)
  assert.deepEqual(await accessibilityFaults(page), [])
})

test('Why denied explains denials for roles and users', { skip }, async () => {
  const read = 'Query(Lambda("ref", Equals(CurrentIdentity(), Var("ref"))))'
  const privileges = `[{ resource: Collection("users"), actions: { read: ${read} } }]`
  const membership = '{ resource: Collection("users") }'
  await stage.run(`CreateRole({ name: "member", membership: ${membership}, privileges: ${privileges} })`)
  for (const id of ['1', '2']) await stage.run(`Create(Ref(Collection("users"), "${id}"), {})`)
  const page = await stage.signedIn(stage.admin)
  await page.getByRole('link', { name: 'Why denied' }).click()
  await page.getByLabel('Caller').selectOption('document')
  await page.getByLabel('Document').fill('users/1')
  await submitQuery(page, 'Get(Ref(Collection("users"), "2"))', 'Explain')
  const decision = page.getByRole('row', { name: /denied read users/ })
  assert.match((await decision.textContent()) ?? '', /member.*predicate is false/)
  await submitQuery(page, 'Get(Ref(Collection("users"), "1"))', 'Explain')
  await page.getByText('The query is allowed.').waitFor()
  await page.getByRole('button', { name: 'Version 10' }).click()
  await submitQuery(page, 'Collection("users").byId("2")!', 'Explain')
  const denied = page.getByRole('row', { name: 'denied read users users/2' })
  assert.match((await denied.textContent()) ?? '', /member.*predicate is false/)
})

test('Why denied lists each checked privilege once, with its number and its outcome', { skip }, async () => {
  await stage.run('CreateCollection({ name: "letters" })')
  const actions = ['false', 'true', 'Query(Lambda("ref", false))'].map(
    read => `{ resource: Collection("letters"), actions: { read: ${read} } }`,
  )
  await stage.run(`CreateRole({ name: "postman", privileges: [${actions.join(', ')}] })`)
  await stage.run('Create(Ref(Collection("letters"), "1"), {})')
  const page = await stage.signedIn(stage.admin, 'denied')
  await page.getByLabel('Caller').selectOption('role postman')
  await submitQuery(page, 'Get(Ref(Collection("letters"), "1"))', 'Explain')
  const decision = page.getByRole('row', { name: /allowed read letters/ })
  await decision.waitFor()
  assert.deepEqual(await decision.getByRole('listitem').allTextContents(), [
    'postman no. 1: does not allow the action',
    'postman no. 2: without a condition',
    'postman no. 3: its predicate is false',
  ])
})
