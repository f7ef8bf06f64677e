// The grants of all roles of a caller together: consecutive checks of a query have different actions and resources, and
// changes of roles and memberships apply to the next query.

import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { fql, keyOfNewDatabase, runText, sendText } from '../support/http.ts'
import { serverOfFile } from '../support/server.ts'

const server = serverOfFile()
let admin: string
let databases = 0

const run = (text: string, secret = admin) => runText(server, secret, text)

/** A role with privileges, given as actions by collection, and with members, given as predicates by collection. */
async function createRole(
  name: string,
  privileges: Readonly<Record<string, object>>,
  membership: Readonly<Record<string, string | true>> = {},
): Promise<void> {
  const role = {
    name,
    privileges: Object.entries(privileges).map(([resource, actions]) => ({ resource, actions })),
    membership: Object.entries(membership).map(([resource, predicate]) =>
      predicate === true ? { resource } : { resource, predicate },
    ),
  }
  await fql(server, admin, 'Role.create(role)', { role })
}

const keyOf = async (...roles: readonly string[]) =>
  String(await run(`Select("secret", CreateKey({role: [${roles.map(each => `Role("${each}")`).join()}]}))`))

const tokenOf = async (collection: string, id: number) =>
  String(
    await run(`Select("secret", Create(Tokens(), {instance: Ref(Collection("${collection}"), "${id}")}))`),
  )

/** The ids of the documents that the caller may read, in both languages. */
async function readable(secret: string, collection: string): Promise<readonly string[]> {
  const ids = ['1', '2', '3', '4']
  const gets = ids.map(id => `Exists(Ref(Collection("${collection}"), "${id}"))`)
  const flags = (await run(`[${gets.join()}]`, secret)) as readonly boolean[]
  const found = ids.filter((_, at) => flags[at])
  const lookups = ids.map(id => `${collection}.byId("${id}").exists()`)
  assert.deepEqual(await fql(server, secret, `[${lookups.join()}]`), flags)
  return found
}

beforeEach(async () => {
  admin = await keyOfNewDatabase(server, `roles${databases++}`, 'admin')
  for (const name of ['a', 'b', 'user', 'guest']) {
    await run(`CreateCollection({name: "${name}"})`)
    await run(
      `Foreach([1, 2, 3, 4], Lambda("n", Create(Ref(Collection("${name}"), ToString(Var("n"))), {data: {n: Var("n")}})))`,
    )
  }
})

test('checks of several collections and actions in a query do not affect each other', async () => {
  await createRole('one', {
    a: { read: 'document => document.n == 1' },
    b: { read: 'document => document.n == 2' },
  })
  await createRole('two', { a: { read: 'document => document.n == 3', write: true }, b: { read: true } })
  await createRole('three', { user: { read: true, create: 'fields => fields.n == 7' } })
  const key = await keyOf('one', 'two', 'three')
  const expected = { a: ['1', '3'], b: ['1', '2', '3', '4'], user: ['1', '2', '3', '4'], guest: [] }
  for (const [name, ids] of Object.entries(expected)) assert.deepEqual(await readable(key, name), ids)
  const exists = (name: string, id: number) => `Exists(Ref(Collection("${name}"), "${id}"))`
  const places = [
    ['a', 1],
    ['b', 1],
    ['a', 2],
    ['guest', 1],
    ['a', 3],
    ['user', 1],
    ['a', 4],
  ] as const
  assert.deepEqual(await run(`[${places.map(([name, id]) => exists(name, id)).join()}]`, key), [
    ...[true, true, false, false, true, true, false],
  ])
  const update = (name: string) => `Update(Ref(Collection("${name}"), "1"), {data: {m: 1}})`
  const create = (n: number) => `Create(Collection("user"), {data: {n: ${n}}})`
  const statusOf = async (...parts: readonly string[]) =>
    (await sendText(server, key, `Do(${parts.join()})`)).status
  assert.equal(await statusOf(exists('a', 1), update('a'), exists('a', 1), create(7)), 201)
  assert.equal(await statusOf(exists('b', 1), update('b')), 403)
  assert.equal(await statusOf(update('a'), exists('user', 1), create(7), create(8)), 403)
  const writes = 'a.byId("1")!.update({ m: 2 }); user.create({ n: 7 }); b.byId("2")!.n'
  assert.equal(await fql(server, key, writes), 2)
  const denied = 'a.byId("1")!.update({ m: 2 }); b.byId("1")!.update({ m: 2 })'
  await assert.rejects(fql(server, key, denied), /permission_denied/)
})

test('an identity has the roles with a membership for its collection whose predicate accepts it', async () => {
  await createRole('all', { a: { read: 'document => document.n == 1' } }, { user: true, guest: true })
  await createRole('second', { a: { read: 'document => document.n == 2' } }, { user: 'user => user.n == 2' })
  await createRole('guests', { b: { read: true } }, { guest: 'guest => guest.n != 3' })
  await createRole('nobody', { a: { read: true }, b: { read: true } })
  const tokens = [
    await tokenOf('user', 1),
    await tokenOf('user', 2),
    await tokenOf('guest', 2),
    await tokenOf('guest', 3),
  ]
  const read = (name: string) => Promise.all(tokens.map(each => readable(each, name)))
  const all = ['1', '2', '3', '4']
  assert.deepEqual(await read('a'), [['1'], ['1', '2'], ['1'], ['1']])
  assert.deepEqual(await read('b'), [[], [], all, []])
})

test('a change of a role or a membership applies to the next query', async () => {
  const token = await tokenOf('user', 1)
  assert.deepEqual(await readable(token, 'a'), [])
  await createRole('first', { a: { read: 'document => document.n == 1' } }, { user: true })
  assert.deepEqual(await readable(token, 'a'), ['1'])
  await createRole('second', { a: { read: 'document => document.n > 2' } }, { user: true })
  assert.deepEqual(await readable(token, 'a'), ['1', '3', '4'])
  await run('Update(Role("first"), {membership: {resource: Collection("guest")}})')
  assert.deepEqual(await readable(token, 'a'), ['3', '4'])
  await fql(
    server,
    admin,
    'Role.byName("second")!.update({ privileges: { resource: "a", actions: { read: true } } })',
  )
  assert.deepEqual(await readable(token, 'a'), ['1', '2', '3', '4'])
  await run('Delete(Role("second"))')
  assert.deepEqual(await readable(token, 'a'), [])
})

test('a caller that changes its role has the earlier rights until the end of the query', async () => {
  await createRole('owner', {
    a: { read: true },
    Role: { read: true, write: true },
    Collection: { read: true },
  })
  const key = await keyOf('owner')
  const read = 'Exists(Ref(Collection("a"), "1"))'
  const change = 'Update(Role("owner"), {privileges: [{resource: Collection("b"), actions: {read: true}}]})'
  assert.deepEqual(await run(`[${read}, Select("name", ${change}), ${read}]`, key), [true, 'owner', true])
  assert.deepEqual(await readable(key, 'a'), [])
  assert.deepEqual(await readable(key, 'b'), ['1', '2', '3', '4'])
})
