// The logs and the page that tells why something was denied.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { query, send } from '../support/http.ts'
import { openStage, type Stage, skip, typeInto } from './stage.ts'

let stage: Stage

before(async () => {
  if (skip) return
  stage = await openStage()
  await stage.query({ create_collection: { object: { name: 'users' } } })
})

after(() => stage?.close())

test('the log shows sums, charts, queries and single requests, and is exported', { skip }, async () => {
  const id = await stage.query({
    select: ['ref', 'id'],
    from: {
      create: { collection: 'users' },
      params: { object: { credentials: { object: { password: 'pw' } } } },
    },
  })
  await stage.query({ login: { ref: { collection: 'users' }, id }, params: { object: { password: 'pw' } } })
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
  await page.getByLabel('Show first').selectOption('frequent')
  await page
    .getByRole('region', { name: 'Queries' })
    .getByRole('cell', { name: /"login"/ })
    .waitFor()
  await page.getByLabel('Status').selectOption('4xx')
  await page.getByLabel('Holds the text').fill('divide')
  await page.getByRole('button', { name: 'Search' }).click()
  await requests.getByRole('cell', { name: /"login"/ }).waitFor({ state: 'detached' })
  await requests.getByRole('cell', { name: /"divide"/ }).waitFor()
  await page.getByRole('button', { name: 'Export this time' }).click()
  await page.getByRole('cell', { name: 'ready' }).waitFor()
  const downloading = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download' }).click()
  assert.match((await downloading).suggestedFilename(), /\.gz$/)
  stage.assertNoFaults()
})

test('why something was denied is told for roles and users', { skip }, async () => {
  const lambda = { query: { lambda: 'ref', expr: { equals: [{ current_identity: null }, { var: 'ref' }] } } }
  await stage.query({
    create_role: {
      object: {
        name: 'member',
        membership: { object: { resource: { collection: 'users' } } },
        privileges: [
          { object: { resource: { collection: 'users' }, actions: { object: { read: lambda } } } },
        ],
      },
    },
  })
  for (const id of ['1', '2']) {
    await stage.query({ create: { ref: { collection: 'users' }, id }, params: { object: {} } })
  }
  const page = await stage.signedIn(stage.admin)
  await page.getByRole('link', { name: 'Why denied' }).click()
  await page.getByLabel('Asked by').selectOption('document')
  await page.getByLabel('Document').fill('users/1')
  await typeInto(page, 'Query', 'Get(Ref(Collection("users"), "2"))')
  await page.getByRole('button', { name: 'Explain' }).click()
  const decision = page.getByRole('row', { name: /denied read users/ })
  assert.match((await decision.textContent()) ?? '', /member.*predicate is false/)
  await typeInto(page, 'Query', 'Get(Ref(Collection("users"), "1"))')
  await page.getByRole('button', { name: 'Explain' }).click()
  await page.getByText('It is allowed.').waitFor()
  await page.getByRole('button', { name: 'Version 10' }).click()
  await typeInto(page, 'Query', 'Collection("users").byId("2")!')
  await page.getByRole('button', { name: 'Explain' }).click()
  const read = page.getByRole('row', { name: 'denied read users users/2' })
  assert.match((await read.textContent()) ?? '', /member.*predicate is false/)
  stage.assertNoFaults()
})
