// Schema objects that an import creates in more than one step. Their free data refers to documents, which are imported
// later, or belongs to an object of a schema file, or their names are not allowed in files of version 10.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { TransferConnection } from '../../src/transfer/connection.ts'
import { TransferError } from '../../src/transfer/record.ts'
import { memberOf } from '../../src/transfer/references.ts'
import { parseJson } from '../../src/values/json.ts'
import type { Json } from '../../src/values/value.ts'
import { writeJson } from '../../src/values/write-json.ts'
import { contentOf, exportTo } from './exports.ts'
import { openTestDatabase, type TestDatabase } from './importing.ts'

const object = (fields: object) => ({ object: fields })
const b1 = { ref: { collection: 'b' }, id: '1' }
const data = object({ owner: b1, list: [b1] })
const b = [{ create_collection: object({ name: 'b' }) }, { create: b1, params: object({}) }]

const cases: Readonly<Record<string, { readonly file?: string; readonly queries: readonly object[] }>> = {
  'data of a collection that refers to a document': {
    queries: [...b, { create_collection: object({ name: 'a', data }) }],
  },
  'data of a collection that refers to a document of its own': {
    queries: [...b, { update: { collection: 'b' }, params: object({ data }) }],
  },
  'data of a database that refers to a document': {
    queries: [...b, { create_database: object({ name: 'child', data }) }],
  },
  'data of other objects that refers to a document': {
    queries: [
      ...b,
      { create_index: object({ name: 'all', source: { collection: 'b' }, data }) },
      { create_function: object({ name: 'one', body: { query: { lambda: 'x', expr: 1 } }, data }) },
      { create_role: object({ name: 'reader', privileges: [], data }) },
      { create_key: object({ role: 'server', data }) },
    ],
  },
  'a role of version 4 that a file refers to': {
    file: 'collection A { n: Int }',
    queries: [
      {
        create_role: object({
          name: 'makers',
          privileges: object({
            resource: { collection: 'A' },
            actions: object({ create: { query: { lambda: 'x', expr: true } } }),
          }),
        }),
      },
      {
        create_access_provider: object({
          name: 'them',
          issuer: 'https://them.example',
          jwks_uri: 'https://them.example/keys',
          roles: { role: 'makers' },
        }),
      },
    ],
  },
  'names of version 4 beside files of version 10': {
    file: 'collection A { n: Int }',
    queries: [
      ...b,
      {
        create_role: object({
          name: 'odd-role',
          privileges: object({ resource: { collection: 'A' }, actions: object({ read: true }) }),
          membership: object({ resource: { collection: 'b' } }),
        }),
      },
      {
        create_access_provider: object({
          name: 'odd-them',
          issuer: 'https://them.example',
          jwks_uri: 'https://them.example/keys',
          roles: { role: 'odd-role' },
        }),
      },
    ],
  },
}

/** Queries that give free data to a collection and a role. */
const ownData = [
  { update: { collection: 'b' }, params: object({ data }) },
  { update: { role: 'makers' }, params: object({ data }) },
]

const plainData = object({ text: 'kept', '@x': 1, list: [{ '@date': '2020-02-29' }] })
const access = 'issuer "https://them.example"\n  jwks_uri "https://them.example/keys"'

/** Free data, which no schema file expresses, of every kind of object in a file. */
const fileCases: typeof cases = Object.fromEntries(
  Object.entries({ 'a value': plainData, 'a reference to a document': data }).map(([what, own]) => [
    `data with ${what} of objects in a file`,
    {
      file: `collection A { n: Int }\nfunction one() { 1 }\n@role(reader)\nfunction two() { 2 }
role reader {\n  privileges A { read }\n}\naccess provider them {\n  ${access}\n  role reader\n}`,
      queries: [
        ...b,
        { update: { collection: 'A' }, params: object({ data: own }) },
        { update: { function: 'one' }, params: object({ data: own }) },
        { update: { function: 'two' }, params: object({ data: own }) },
        { update: { role: 'reader' }, params: object({ data: own }) },
        { update: { access_provider: 'them' }, params: object({ data: own }) },
      ],
    },
  ]),
)

/** Fields of schema objects without a schema file, which no other test of exports gives. */
const otherFields: typeof cases = {
  'fields of databases, indexes and keys': {
    queries: [
      ...b,
      { create_database: object({ name: 'child', priority: 7, protected: true, typechecked: true, data }) },
      { create_database: object({ name: 'crate', container: true, data: plainData }) },
      {
        create_index: object({
          name: 'all',
          source: { collection: 'b' },
          partitions: 3,
          permissions: object({ read: 'public' }),
        }),
      },
      {
        create_key: object({
          role: 'server',
          name: 'n',
          priority: 5,
          ttl: { time: '2100-01-01T00:00:00Z' },
          data: plainData,
        }),
      },
      { create_key: object({ role: 'client', database: { database: 'child' } }) },
    ],
  },
}

async function filled(t: TestContext, { file, queries }: (typeof cases)[string]): Promise<TestDatabase> {
  const database = await openTestDatabase(t)
  await database.connection.query([], parseJson('{"create_database":{"object":{"name":"moved"}}}'))
  if (file !== undefined) {
    await database.connection.pushSchema(['moved'], [{ name: 'main.fsl', text: file }], false)
  }
  for (const query of queries) await database.ask(query)
  return database
}

for (const [name, of] of Object.entries({ ...cases, ...fileCases, ...otherFields })) {
  test(`export, import, export: ${name}`, async t => {
    const first = await filled(t, of)
    const folder = await exportTo(first, 'first')
    const second = await openTestDatabase(t)
    const foreseen = await second.import([folder], { database: ['other'], dryRun: true })
    const report = await second.import([folder], { database: ['other'] })
    for (const { data } of [foreseen, report]) {
      const failed = data.schema.filter(({ outcome }) => outcome === 'failed')
      assert.deepEqual(failed, [])
    }
    assert.deepEqual([report.total().bad, report.data.lost], [0, {}])
    const again = await exportTo(second, 'second', { database: ['other'] })
    assert.deepEqual(await contentOf(again), await contentOf(folder))
    assert.deepEqual(await dataOfObjects(second, 'other'), await dataOfObjects(first, 'moved'))
  })
}

test('an import that breaks after any query of its schema is resumed with the same schema objects', async t => {
  const first = await filled(t, {
    ...(cases['a role of version 4 that a file refers to'] as (typeof cases)[string]),
    queries: [...b, ...(cases['a role of version 4 that a file refers to']?.queries ?? []), ...ownData],
  })
  const folder = await exportTo(first, 'first')
  const content = await sortedContentOf(folder)
  for (let broken = true, at = 1; broken; at++) {
    const second = await openTestDatabase(t)
    const connection = breakingAfter(second.connection, at)
    broken = await second.import([folder], { connection, database: ['other'] }).then(
      () => false,
      () => true,
    )
    await second.import([folder], { database: ['other'] })
    const again = await exportTo(second, 'second', { database: ['other'] })
    assert.deepEqual(await sortedContentOf(again), content, `after ${at} queries`)
    assert.deepEqual(await dataOfObjects(second, 'other'), await dataOfObjects(first, 'moved'))
  }
})

/** The content of an export, with the items of its schema file in order of their text. */
async function sortedContentOf(folder: string) {
  const content = await contentOf(folder)
  const items = content['schema/main.fsl']?.split(/\n{2,}/).map(item => item.trim())
  return { ...content, 'schema/main.fsl': items?.filter(item => item !== '').sort() }
}

/** A connection that fails after a number of queries. */
function breakingAfter(connection: TransferConnection, queries: number): TransferConnection {
  let count = 0
  return {
    ...connection,
    async query(...question) {
      if (count++ >= queries) throw new TransferError('the connection is broken')
      return connection.query(...question)
    },
  }
}

/** The free data of all schema objects of a database, by kind. */
async function dataOfObjects({ connection }: TestDatabase, name: string): Promise<readonly string[]> {
  const sets = ['databases', 'collections', 'indexes', 'functions', 'roles', 'access_providers']
  const fields = { get: { var: 'o' } }
  const named = object({
    data: { select: ['data'], from: fields, default: null },
    name: { select: ['name'], from: fields },
  })
  const ofSet = (set: string) => ({
    map: { lambda: 'o', expr: named },
    collection: { paginate: { [set]: null } },
  })
  const answers = sets.map(set => connection.query([name], parseJson(JSON.stringify(ofSet(set)))))
  const ofKinds = await Promise.all(answers)
  return ofKinds.map(page =>
    JSON.stringify((memberOf(page, 'data') as readonly Json[]).map(each => writeJson(each)).sort()),
  )
}

test('data that refers to a missing document is reported', async t => {
  const database = await filled(t, {
    queries: [...b, { update: { collection: 'b' }, params: object({ data }) }],
  })
  await database.ask({ delete: b1 })
  const folder = await exportTo(database, 'first')
  const second = await openTestDatabase(t)
  const report = await second.import([folder], { database: ['other'] })
  const reasons = report.data.schema.flatMap(({ kind, name, reason }) =>
    reason ? [`${kind} ${name}: ${reason}`] : [],
  )
  assert.match(reasons.join(), /^collection b: it has no data: .*Reference was not found/)
})

test('a GraphQL schema survives an export and an import', async t => {
  const database = await openTestDatabase(t)
  const { connection } = database
  const ask = (path: readonly string[], expression: object) =>
    connection.query(path, parseJson(JSON.stringify(expression)))
  await ask([], { create_database: object({ name: 'moved' }) })
  const sdl = [
    '# The kinds of pets.',
    'enum Kind { CAT DOG }',
    'type Pet { name: String! @unique kind: Kind home: Home owner: Person }',
    'type Home @embedded { street: String }',
    'type Person { name: String! pets: [Pet!] @relation friends: [Friend] @relation }',
    'type Friend { name: String! persons: [Person!] @relation }',
    'type Query { allPets: [Pet!] hello(kind: Kind): String @resolver(name: "say") }',
  ].join('\n')
  await connection.importGraphql(['moved'], sdl)
  const folder = await exportTo(database, 'first')
  const files = await contentOf(folder)
  assert.equal(files['schema/schema.gql'], sdl)
  await ask([], { create_database: object({ name: 'copy' }) })
  const report = await database.import([folder], { database: ['copy'] })
  assert.equal(report.data.schema.find(({ name }) => name === 'schema.gql')?.outcome, 'created')
  const copied = await exportTo(database, 'second', { database: ['copy'] })
  assert.equal((await contentOf(copied))['schema/schema.gql'], sdl)
  const gql = { select: ['data', 'gql', 'meta'] }
  for (const from of [
    { get: { collection: 'Pet' } },
    { get: { index: 'allPets' } },
    { get: { function: 'say' } },
  ]) {
    const [before, after] = await Promise.all(['moved', 'copy'].map(name => ask([name], { ...gql, from })))
    assert.deepEqual(after, before)
  }
})
