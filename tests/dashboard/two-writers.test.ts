// Conflicts: when two users change one object, every form of the dashboard shows the second one the conflict. Tests of
// unsaved input are in `unsaved.test.ts`.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { press, skip, stageOfFile, typeInto } from './stage.ts'

const stage = stageOfFile()

const items = { collection: 'items' }
const user = { ref: { collection: 'users' }, id: '1' }
const changedMeanwhile = /Another user has changed/

/** A form that changes or deletes an existing object. */
interface Form {
  readonly name: string
  /** Creates the object of the form. Returns the address of the form. */
  readonly set: () => Promise<string>
  /** Enters the changes of the first user. */
  readonly enter: (page: Page) => Promise<void>
  /** Makes the change of the second user, who is faster. */
  readonly other: () => Promise<unknown>
  readonly submit: (page: Page) => Promise<void>
  /** Returns true while the change of the second user is intact. */
  readonly isKept: () => Promise<unknown>
}

const inDialog = (page: Page, name: string) =>
  page.getByRole('dialog').getByRole('button', { name, exact: true }).click()

/** Waits until the open dialog has loaded the version that it changes: its submit button is enabled then. */
const isLoaded = (page: Page, submit: string) =>
  page.getByRole('dialog').getByRole('button', { name: submit, exact: true, disabled: false }).waitFor()

/** A second user who writes into the data of an object. */
const otherWriter = (subject: unknown) => ({
  other: () => stage.query({ update: subject, params: { object: { data: { object: { by: 'other' } } } } }),
  isKept: async () => (await stage.query({ select: ['data', 'by'], from: { get: subject } })) === 'other',
})

/** A form that deletes: opens a dialog with the button `open`, types `typed` and confirms with the button `submit`. */
function deletion(
  thing: string,
  address: string,
  subject: unknown,
  open: string,
  submit: string,
  typed = '',
): Form {
  return {
    name: `deleting a ${thing}`,
    set: async () => address,
    enter: async page => {
      await page.getByRole('button', { name: open }).first().click()
      if (typed !== '') await page.getByLabel(`Type ${typed} to confirm`).fill(typed)
      await isLoaded(page, submit)
    },
    ...otherWriter(subject),
    submit: page => inDialog(page, submit),
  }
}

function definition(kind: string, address: string, subject: unknown, text: string): Form {
  return {
    name: `the definition of ${kind}`,
    set: async () => address,
    enter: page => typeInto(page, 'Definition', text),
    ...otherWriter(subject),
    submit: page => press(page, 'Save'),
  }
}

const create = (form: string, fields: object) => stage.query({ [form]: { object: fields } })

const item = { ref: items, id: '1' }
const index = { index: 'by_name' }
const twice = { function: 'twice' }
const reader = { role: 'reader' }
const idp = { access_provider: 'idp' }
const more = { collection: 'more' }

/** References with ids that the service has chosen. */
interface Refs {
  readonly key: { readonly ref: object; readonly id: string }
  readonly token: { readonly ref: object; readonly id: string }
}

/** Creates the objects of the forms. */
async function fillDatabase(): Promise<Refs> {
  for (const name of ['items', 'users', 'more']) await create('create_collection', { name })
  await create('create_database', { name: 'below' })
  await stage.run(
    'CreateIndex({ name: "by_name", source: Collection("items"), terms: [{ field: ["data", "n"] }] })',
  )
  await create('create_function', { name: 'twice', body: { query: { lambda: 'x', expr: { var: 'x' } } } })
  await create('create_role', { name: 'reader', data: { object: {} } })
  await create('create_access_provider', { name: 'idp', issuer: 'a', jwks_uri: 'https://idp.example/k' })
  const key = await create('create_key', { role: 'server' })
  await stage.query({ create: item, params: { object: { data: { object: { n: 1 } } } } })
  await stage.query({ create: user, params: { object: { credentials: { object: { password: 'first' } } } } })
  const token = await stage.query({ login: user, params: { object: { password: 'first' } } })
  const idOf = (made: unknown) => (made as { ref: { '@ref': { id: string } } }).ref['@ref'].id
  return {
    key: { ref: { keys: null }, id: idOf(key) },
    token: { ref: { tokens: null }, id: idOf(token) },
  }
}

/** Forms that change objects. */
function changes(): readonly Form[] {
  return [
    {
      name: 'the settings of a collection',
      set: async () => 'collections/items/settings',
      enter: page => page.getByLabel('Days until documents expire').fill('9'),
      other: () => stage.query({ update: items, params: { object: { history_days: null } } }),
      submit: page => press(page, 'Save'),
      isKept: async () =>
        (await stage.query({ contains_field: 'history_days', in: { get: items } })) === false,
    },
    {
      name: 'a document',
      set: async () => 'collections/items/1',
      enter: page => typeInto(page, 'Data', '{ n: 3 }'),
      other: () => stage.query({ update: item, params: { object: { data: { object: { n: 2 } } } } }),
      submit: page => press(page, 'Save'),
      isKept: async () => (await stage.query({ select: ['data', 'n'], from: { get: item } })) === 2,
    },
    {
      name: 'a version that is restored',
      set: async () => 'collections/items/1/history',
      enter: async page => {
        await page.getByRole('button', { name: /^create/ }).click()
        await press(page, 'Restore this version')
      },
      other: () => stage.query({ update: item, params: { object: { data: { object: { n: 4 } } } } }),
      submit: page => inDialog(page, 'Restore'),
      isKept: async () => (await stage.query({ select: ['data', 'n'], from: { get: item } })) === 4,
    },
    {
      name: 'a table of privileges',
      set: async () => 'roles/reader',
      enter: async page => {
        await page.getByLabel('Resource').selectOption({ label: 'items (collection)' })
        await press(page, 'Add resource')
      },
      other: () => stage.run('Update(Role("reader"), { membership: [{ resource: Collection("users") }] })'),
      submit: page => press(page, 'Save privileges'),
      isKept: () =>
        stage.run('Equals("users", Select(["membership", 0, "resource", "id"], Get(Role("reader"))))'),
    },
    {
      name: 'a password',
      set: async () => 'collections/users/1',
      enter: async page => {
        await page.getByRole('button', { name: /password$/ }).click()
        await page.getByLabel('New password').fill('mine')
        await page.getByRole('dialog').getByText('This replaces the password').waitFor()
      },
      other: () =>
        stage.run('Update(Ref(Collection("users"), "1"), { credentials: { password: "theirs" } })'),
      submit: page => inDialog(page, 'Set password'),
      isKept: () => stage.query({ identify: user, password: 'theirs' }),
    },
    {
      name: 'the name of a database',
      set: async () => '',
      enter: async page => {
        await press(page, 'Rename below')
        await page.getByLabel('Name', { exact: true }).fill('beneath')
        await isLoaded(page, 'Rename')
      },
      other: () => stage.run('Update(Database("below"), { data: { a: 1 } })'),
      submit: page => inDialog(page, 'Rename'),
      isKept: () => stage.query({ exists: { database: 'below' } }),
    },
  ]
}

/** Forms that edit a definition. */
function definitions({ key, token }: Refs): readonly Form[] {
  return [
    definition('an index', 'indexes/by_name', index, '{ name: "by_n", source: Collection("items") }'),
    definition('a function', 'functions/twice', twice, '{ name: "thrice" }'),
    definition('a role', 'roles/reader', reader, '{ name: "writer" }'),
    definition('a key', `keys/${key.id}`, key, '{ role: "admin" }'),
    definition('a token', `tokens/${token.id}`, token, '{ data: { mine: true } }'),
    definition('an access provider', 'access-providers/idp', idp, '{ name: "other" }'),
  ]
}

/** Forms that delete objects. */
function deletions({ key, token }: Refs): readonly Form[] {
  return [
    deletion('document', 'collections/items/1', item, 'Delete', 'Delete document'),
    deletion('index', 'indexes/by_name', index, 'Delete', 'Delete index', 'by_name'),
    deletion('function', 'functions/twice', twice, 'Delete', 'Delete function', 'twice'),
    deletion('role', 'roles/reader', reader, 'Delete', 'Delete role', 'reader'),
    deletion('key', `keys/${key.id}`, key, 'Delete', 'Delete key'),
    deletion('key from the list', 'keys', key, `Revoke ${key.id}`, 'Revoke key'),
    deletion('token', `tokens/${token.id}`, token, 'Delete', 'Delete token'),
    deletion('token from the list', 'tokens', token, `Revoke ${token.id}`, 'Revoke token'),
    deletion('provider', 'access-providers/idp', idp, 'Delete', 'Delete access provider', 'idp'),
    deletion(
      'collection',
      'collections/more/settings',
      more,
      'Delete collection',
      'Delete collection',
      'more',
    ),
    deletion('database', '', { database: 'below' }, 'Delete below', 'Delete database', 'below'),
  ]
}

test('every form reports a conflict to the second writer, and overwrites nothing', {
  skip,
}, async t => {
  const refs = await fillDatabase()
  const forms = [...changes(), ...definitions(refs), ...deletions(refs)]
  const page = await stage.signedIn(stage.admin)
  for (const { name, set, enter, other, submit, isKept } of forms) {
    await t.test(name, async () => {
      await stage.follow(page, await set())
      await enter(page)
      await other()
      await submit(page)
      await page.getByRole('alert').getByText(changedMeanwhile).waitFor()
      assert.equal(await isKept(), true, 'the change of the other user is kept')
    })
  }
})

test('a name that another user has taken is rejected, and the input stays', {
  skip,
}, async t => {
  const query = { query: { lambda: 'x', expr: { var: 'x' } } }
  const provider = { issuer: 'https://idp.example/', jwks_uri: 'https://idp.example/keys' }
  const page = await stage.signedIn(stage.admin)
  const forms: readonly (readonly [address: string, open: string, form: string, fields: object])[] = [
    ['', 'Create collection', 'create_collection', {}],
    ['', 'Create database', 'create_database', {}],
    ['indexes', 'Create index', 'create_index', { source: items }],
    ['functions', 'Create function', 'create_function', { body: query }],
    ['roles', 'Create role', 'create_role', {}],
    ['access-providers', 'Create access provider', 'create_access_provider', provider],
  ]
  for (const [address, open, form, fields] of forms) {
    await t.test(open, async () => {
      await stage.follow(page, address)
      await press(page, open)
      await page.getByLabel('Name', { exact: true }).fill('taken')
      if (form === 'create_access_provider') {
        await page.getByLabel('Issuer').fill('https://other.example/')
        await page.getByLabel('JWKS URI').fill('https://other.example/keys')
      }
      await create(form, { name: 'taken', ...fields })
      await inDialog(page, 'Create')
      await page.getByRole('dialog').getByRole('alert').waitFor()
      assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'taken')
    })
  }
})
