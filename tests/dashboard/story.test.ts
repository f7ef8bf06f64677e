// A user without knowledge of the query languages creates a database, a collection and a user with a password, finds
// the login of the user in the log, and revokes the token.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runText, send } from '../support/http.ts'
import { createNamed, skip, stageOfFile, typeInto } from './stage.ts'

const stage = stageOfFile()

test('a user is created, the login is found in the log and ended, all in the browser', { skip }, async () => {
  const { server } = stage
  const page = await stage.signedIn(server.rootSecret)
  const create = async (kind: string, name: string) => {
    await createNamed(page, `Create ${kind}`, name)
  }
  await create('database', 'garden')
  await page.getByRole('heading', { name: 'garden' }).waitFor()
  await create('collection', 'people')
  await page.getByRole('heading', { name: 'people' }).waitFor()
  await page.getByRole('link', { name: 'Create document' }).click()
  await typeInto(page, 'Data', '{ name: "Ann" }')
  await page.getByText('Id and password').click()
  await page.getByLabel('Password').fill('correct horse')
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByRole('heading', { name: /^\d+$/ }).waitFor()
  const person = new URL(page.url())
  const id = person.pathname.split('/').at(-1)

  // Ann's own program logs in.
  const login = `Login(Ref(Collection("people"), "${id}"), { password: "correct horse" })`
  const token = (await runText(server, `${server.rootSecret}:garden:server`, login)) as { secret: string }
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
  await page.getByText('no user is logged in').waitFor()
  assert.equal(await status(), 401)
})
