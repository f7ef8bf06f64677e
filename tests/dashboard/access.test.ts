// Creates, uses and deletes indexes, functions, roles, keys, passwords and tokens in the browser. The file takes more
// than 20 seconds, because each of its nine tests signs in and goes through several pages.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runText, send, sendText } from '../support/http.ts'
import { createNamed, skip, stageOfFile, submitQuery, typeInto } from './stage.ts'

const stage = stageOfFile(async () => {
  for (const name of ['items', 'users']) await stage.query({ create_collection: { object: { name } } })
})

/** Creates a document with these fields, in text form. Returns its id. */
const create = async (collection: string, fields = '{}') =>
  String(await stage.run(`Select(["ref", "id"], Create(Collection("${collection}"), ${fields}))`))

async function tokenOf(id: string, password: string): Promise<string> {
  const login = `Login(Ref(Collection("users"), "${id}"), { password: "${password}" })`
  return ((await stage.run(login)) as { secret: string }).secret
}

test('a form creates an index, whose page leads to its entries', { skip }, async () => {
  await create('items', '{ data: { name: "tea", price: 4 } }')
  await create('items', '{ data: { name: "rice", price: 2 } }')
  const page = await stage.signedIn(stage.admin, 'indexes')
  await page.getByRole('button', { name: 'Create index' }).click()
  await page.getByLabel('Name', { exact: true }).fill('items_by_name')
  await page.getByLabel('Collection').selectOption('items')
  await page.getByLabel('Field 1').first().fill('name')
  await page.getByLabel('Field 1').last().fill('price')
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByRole('link', { name: 'Show entries' }).click()
  await page.getByLabel('name', { exact: true }).fill('tea')
  await page.getByRole('button', { name: 'Look up' }).click()
  await page.getByRole('cell', { name: 'tea' }).waitFor()
  await page.getByRole('cell', { name: 'rice' }).waitFor({ state: 'detached' })
})

test('the form explains a unique index, and the index enforces it', { skip }, async () => {
  const page = await stage.signedIn(stage.admin, 'indexes')
  await page.getByRole('button', { name: 'Create index' }).click()
  await page.getByLabel('Name', { exact: true }).fill('users_by_email')
  await page.getByLabel('Collection').selectOption('users')
  await page.getByRole('checkbox', { name: 'Unique' }).check()
  const submit = page.getByRole('button', { name: 'Create', exact: true })
  assert.equal(await submit.isDisabled(), true, 'without a field it would enforce nothing')
  await page.getByLabel('Field 1').first().fill('email')
  await page.getByText('No two documents may have the same email.').waitFor()
  await page.getByLabel('Field 1').last().fill('ref')
  await page.getByText('Unique has no effect with ref').waitFor()
  assert.equal(await submit.isDisabled(), true)
  await page.getByLabel('Field 1').last().fill('country')
  await page.getByText('No two documents may have the same email and country in combination').waitFor()
  await submit.click()
  await page.getByRole('heading', { name: 'users_by_email' }).waitFor()
  const data = '{ data: { email: "ann@example.org", country: "se" } }'
  await create('users', data)
  await assert.rejects(create('users', data), /instance not unique/)
  await page.getByRole('link', { name: 'Indexes', exact: true }).first().click()
  await page.getByRole('cell', { name: 'yes: email + country' }).waitFor()
})

test('the suggested predicate for owners lets no user give a document to another user', {
  skip,
}, async () => {
  const page = await stage.signedIn(stage.admin, 'roles')
  await createNamed(page, 'Create role', 'owner')
  await page.getByLabel('Resource').selectOption({ label: 'items (collection)' })
  await page.getByRole('button', { name: 'Add resource' }).click()
  await page.getByLabel('write of items', { exact: true }).selectOption('if')
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.getByLabel('Member collection').selectOption('users')
  await page.getByRole('button', { name: 'Add members' }).click()
  await page.getByRole('button', { name: 'Save privileges' }).click()
  await page.getByText('Saved.').waitFor()
  const ann = await create('users', '{ credentials: { password: "ann" } }')
  const bob = await create('users')
  const userOf = (id: string) => `Ref(Collection("users"), "${id}")`
  const item = await create('items', `{ data: { owner: ${userOf(ann)} } }`)
  const secret = await tokenOf(ann, 'ann')
  const update = async (data: string) =>
    (await sendText(stage.server, secret, `Update(Ref(Collection("items"), "${item}"), { data: ${data} })`))
      .status
  assert.equal(await update('{ note: "hers" }'), 200)
  assert.equal(await update(`{ owner: ${userOf(bob)} }`), 403)
})

test('a function is created, called and changed', { skip }, async () => {
  const page = await stage.signedIn(stage.admin, 'functions')
  await page.getByRole('button', { name: 'Create function' }).click()
  await page.getByLabel('Name', { exact: true }).fill('twice')
  await typeInto(page, 'Body', 'Query(Lambda("x", Multiply(Var("x"), 2)))')
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByRole('heading', { name: 'twice' }).waitFor()
  await typeInto(page, 'Arguments', '21')
  await page.getByRole('button', { name: 'Call', exact: true }).click()
  await page.locator('.result').getByText('42').waitFor()
  await typeInto(page, 'Definition', '{ name: "twice", body: Query(Lambda("x", Multiply(Var("x"), 3))) }')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved.').waitFor()
  assert.equal(await stage.query({ call: 'twice', arguments: 2 }), 6)
})

test('a role is edited as a table of resources and actions, with predicates', { skip }, async () => {
  const page = await stage.signedIn(stage.admin, 'roles')
  await createNamed(page, 'Create role', 'reader')
  await page.getByLabel('Resource').selectOption({ label: 'items (collection)' })
  await page.getByRole('button', { name: 'Add resource' }).click()
  await page.getByLabel('write of items', { exact: true }).selectOption('if')
  await typeInto(page, 'Predicate', 'Query(Lambda(["old", "new"], false))')
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.getByLabel('Member collection').selectOption('users')
  await page.getByRole('button', { name: 'Add members' }).click()
  await page.getByRole('button', { name: 'Save privileges' }).click()
  await page.getByText('Saved.').waitFor()
  const role = (await stage.run('Get(Role("reader"))')) as { privileges: unknown; membership: unknown }
  const lambda = { '@query': { api_version: '4', lambda: ['old', 'new'], expr: false } }
  const collection = (id: string) => ({ '@ref': { id, collection: { '@ref': { id: 'collections' } } } })
  assert.deepEqual(role.privileges, [
    { resource: collection('items'), actions: { read: true, write: lambda } },
  ])
  assert.deepEqual(role.membership, [{ resource: collection('users') }])
})

test('the secret of a new key is shown once, and works until the key is revoked', { skip }, async () => {
  const page = await stage.signedIn(stage.admin, 'keys')
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.getByLabel('Name', { exact: true }).fill('backend')
  await page.getByLabel('Role').selectOption('server-readonly')
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  const secret = (await page.locator('.secret').textContent()) ?? ''
  const answers = async () => (await send(stage.server, { secret, query: 1 })).status
  assert.equal(await answers(), 200)
  await page.getByRole('button', { name: 'Done' }).click()
  await page
    .getByRole('row', { name: /backend/ })
    .getByRole('button', { name: /Revoke/ })
    .click()
  await page.getByRole('button', { name: 'Revoke key' }).click()
  await page.getByRole('cell', { name: 'backend' }).waitFor({ state: 'detached' })
  assert.equal(await answers(), 401)
})

test('a user gets a password and logs in, and the token is revoked', { skip }, async () => {
  const id = await create('users', '{ data: { email: "ann@example.org" } }')
  const other = await create('users', '{ credentials: { password: "other" } }')
  const page = await stage.signedIn(stage.admin, `collections/users/${id}`)
  await page.getByRole('button', { name: 'Set password' }).click()
  await page.getByLabel('New password').fill('correct horse')
  await page.getByRole('dialog').getByRole('button', { name: 'Set password' }).click()
  await page.getByText('The password was set.').waitFor()
  const token = await tokenOf(id, 'correct horse')
  await tokenOf(id, 'correct horse')
  const others = await tokenOf(other, 'other')
  await page.reload()
  await page.getByText('has a password, set').waitFor()
  await page
    .getByRole('button', { name: /^Revoke \d/ })
    .nth(1)
    .waitFor()
  assert.equal(await page.getByRole('button', { name: /^Revoke \d/ }).count(), 2, 'only her own')
  await page.getByRole('button', { name: 'Revoke all' }).click()
  await page.getByRole('button', { name: 'Revoke all tokens' }).click()
  await page.getByText('This user has no tokens.').waitFor()
  assert.equal((await send(stage.server, { secret: token, query: 1 })).status, 401)
  assert.equal((await send(stage.server, { secret: others, query: 1 })).status, 200)
  await page.getByRole('button', { name: 'Log in as this user' }).click()
  await page.getByRole('button', { name: 'Create token' }).click()
  const made = (await page.locator('.secret').textContent()) ?? ''
  assert.equal(await runText(stage.server, made, 'Select("id", CurrentIdentity())'), id)
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('button', { name: /^Revoke \d/ }).waitFor()
  await page.getByRole('link', { name: 'Run queries as this user' }).click()
  await submitQuery(page, 'Select("id", CurrentIdentity())')
  await page.locator('.result').getByText(id).waitFor()
  await page.getByRole('link', { name: 'Credentials' }).click()
  await page.getByRole('link', { name: `users/${id}` }).waitFor()
})

test('an access provider is created with its roles', { skip }, async () => {
  await stage.query({ create_role: { object: { name: 'guest' } } })
  const page = await stage.signedIn(stage.admin, 'access-providers')
  await page.getByRole('button', { name: 'Create access provider' }).click()
  await page.getByLabel('Name', { exact: true }).fill('elsewhere')
  await page.getByLabel('Issuer').fill('https://idp.example/')
  await page.getByLabel('JWKS URI').fill('https://idp.example/jwks.json')
  await page.getByLabel('guest').check()
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByText('https://db.fauna.com/db/').waitFor()
  const roles = await stage.run('Select("roles", Get(AccessProvider("elsewhere")))')
  assert.equal(JSON.stringify(roles).includes('guest'), true)
})

test('each role sees the sections and actions that it may use', { skip }, async () => {
  const sections = async (secret: string) => {
    const page = await stage.signedIn(secret)
    const links = page.getByRole('navigation', { name: 'Sections' }).getByRole('link')
    const names = await links.filter({ hasNot: page.locator('.section-name') }).allTextContents()
    return { page, names }
  }
  const reader = await sections(await stage.keyOf('server-readonly'))
  const ofReaders = [
    'Overview',
    'Diagram',
    'Indexes',
    'Functions',
    'Schema files',
    'GraphQL',
    'Events',
    'Shell',
  ]
  assert.deepEqual(reader.names, ofReaders)
  await reader.page.getByRole('main').getByRole('link', { name: 'items' }).click()
  await reader.page.getByRole('cell', { name: 'tea' }).waitFor()
  assert.equal(await reader.page.getByRole('link', { name: 'Create document' }).count(), 0)
  await stage.visit(reader.page, 'roles')
  assert.match((await reader.page.getByRole('alert').textContent()) ?? '', /denied|[Ii]nsufficient/)

  const server = await sections(await stage.keyOf('server'))
  assert.deepEqual(server.names, [...ofReaders, 'Tokens', 'Credentials'])

  const id = await create('users', '{ credentials: { password: "pass" } }')
  const user = await sections(await tokenOf(id, 'pass'))
  await user.page.getByText(`as users/${id}`).waitFor()
  await user.page.getByText('Your secret may not list collections.').waitFor()
  await user.page.getByLabel('Collection', { exact: true }).fill('items')
  await user.page.getByRole('button', { name: 'Open' }).click()
  await user.page.getByRole('cell', { name: 'tea' }).waitFor()
})
