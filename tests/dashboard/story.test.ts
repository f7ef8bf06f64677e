// Somebody who knows no query language makes a database, a collection and a user with a password, sees that user's login
// in the log, and ends the session.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { query, send } from '../support/http.ts'
import { openStage, type Stage, skip, typeInto } from './stage.ts'

let stage: Stage

before(async () => {
  if (!skip) stage = await openStage()
})

after(() => stage?.close())

test('from nothing to a user whose login is seen and ended, all in the browser', { skip }, async () => {
  const { server } = stage
  const page = await stage.signedIn(server.rootSecret)
  const create = async (kind: string, name: string) => {
    await page.getByRole('button', { name: `New ${kind}` }).click()
    await page.getByLabel('Name', { exact: true }).fill(name)
    await page.getByRole('button', { name: 'Create' }).click()
  }
  await create('database', 'garden')
  await page.getByRole('heading', { name: 'garden' }).waitFor()
  await create('collection', 'people')
  await page.getByRole('heading', { name: 'people' }).waitFor()
  await page.getByRole('link', { name: 'New document' }).click()
  await typeInto(page, 'Data', '{ name: "Ann" }')
  await page.getByText('Id and password').click()
  await page.getByLabel('Password').fill('correct horse')
  await page.getByRole('button', { name: 'Create' }).click()
  await page.getByRole('heading', { name: /^\d+$/ }).waitFor()
  const person = new URL(page.url())
  const id = person.pathname.split('/').at(-1)

  // The login comes from Ann's own program.
  const token = (await query(server, `${server.rootSecret}:garden:server`, {
    login: { ref: { collection: 'people' }, id },
    params: { object: { password: 'correct horse' } },
  })) as { secret: string }
  const status = async () => (await send(server, { secret: token.secret, query: 1 })).status
  assert.equal(await status(), 200)

  await page.getByRole('link', { name: 'Logs' }).click()
  await page
    .getByRole('region', { name: 'Table of requests' })
    .getByRole('cell', { name: /"login"/ })
    .waitFor()
  await page.getByRole('link', { name: 'Tokens' }).click()
  await page.getByRole('button', { name: /^Revoke \d/ }).click()
  await page.getByRole('button', { name: 'Revoke token' }).click()
  await page.getByText('nobody is logged in').waitFor()
  assert.equal(await status(), 401)
  stage.assertNoFaults()
})
