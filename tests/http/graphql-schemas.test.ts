// GraphQL requests around changes of the schema: databases without a schema, imports that meet existing objects, and
// relations that several fields could form.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dataOf, importSchema, runOperation, sendSchema } from '../support/graphql.ts'
import { keyOfNewDatabase, query, runText, send } from '../support/http.ts'
import { serverOfFile } from '../support/server.ts'

const server = serverOfFile()

test('mutations of a database without a schema get an error', async () => {
  const secret = await keyOfNewDatabase(server, 'empty', 'admin')
  const failure = async (text: string) => (await runOperation(server, secret, text)).errors
  const none = [{ message: 'Schema is not configured for mutations.' }]
  assert.deepEqual(await failure('mutation { createCat(data: {name: "a"}) { name } }'), none)
  await importSchema(server, secret, 'enum Kind { A }')
  assert.deepEqual(await failure('mutation { __typename }'), none)
  assert.deepEqual(await failure('subscription { cats }'), [
    { message: 'Schema is not configured for subscriptions.' },
  ])
})

test('every caller may read the generated schema, and only some callers the imported schema', async () => {
  const secret = await keyOfNewDatabase(server, 'texts', 'admin')
  const sdl = '# my cats\ntype Cat { name: String! }'
  await importSchema(server, secret, sdl)
  const read = async (key: string, path: string) => {
    const { status, text } = await send(server, { secret: key, method: 'GET', path })
    return { status, text }
  }
  const client = (await query(server, secret, { create_key: { object: { role: 'client' } } })) as {
    secret: string
  }
  assert.deepEqual(await read(secret, '/import'), { status: 200, text: sdl })
  assert.equal((await read(client.secret, '/import')).status, 403)
  for (const key of [secret, client.secret]) {
    const { status, text } = await read(key, '/import?schema=generated')
    assert.equal(status, 200)
    assert.match(text, /^type Cat {[^}]*_id: ID![^}]*name: String!\n}/m)
    assert.match(text, /createCat\(/)
  }
  assert.equal((await read('wrong', '/import?schema=generated')).status, 401)
})

test('invalid scalars and variables are errors that name the type, the value and the reason', async () => {
  const secret = await keyOfNewDatabase(server, 'scalars', 'admin')
  await importSchema(
    server,
    secret,
    'enum Size { S M } type Cat { born: Date at: Time big: Long size: Size }',
  )
  const failure = async (data: string, variables: object = {}) => {
    const parameters = 'cat' in variables ? '($cat: CatInput!)' : ''
    const text = `mutation${parameters} { createCat(data: ${data}) { born } }`
    const { errors = [] } = await runOperation(server, secret, text, variables)
    return errors[0]?.message.split(' (line')[0]
  }
  assert.equal(await failure('{born: "x"}'), `Expected type 'Date', found '"x"'. Date value expected`)
  assert.equal(await failure('{at: 5}'), `Expected type 'Time', found '5'. Time value expected`)
  assert.equal(await failure('{big: "5"}'), `Expected type 'Long', found '"5"'. Long value expected`)
  const variable = (json: string) =>
    `Variable '$cat' expected value of type 'CatInput!' but got: ${json}. Reason: `
  assert.equal(
    await failure('$cat', { cat: { size: 'XL' } }),
    `${variable('{"size":"XL"}')}Enum value 'XL' is undefined in enum type 'Size'. Known values are: S, M.`,
  )
  const born = await failure('$cat', { cat: { born: 'x' } })
  assert.equal(born, `${variable('{"born":"x"}')}Date value expected`)
})

test('overriding fails if an index without metadata has another definition', async () => {
  const secret = await keyOfNewDatabase(server, 'indexed', 'admin')
  const sdl = 'type Cat { name: String! age: Int } type Query { catsByName(name: String!): [Cat!] }'
  await importSchema(server, secret, 'type Cat { name: String! age: Int }')
  const createIndex = (field: string) =>
    runText(
      server,
      secret,
      `CreateIndex({ name: "catsByName", source: Collection("Cat"), terms: [{ field: ["data", "${field}"] }] })`,
    )
  await createIndex('age')
  const { status, text } = await sendSchema(server, secret, sdl, 'override')
  assert.deepEqual([status, text], [400, "The index 'catsByName' exists already and has other terms."])
  assert.equal(await query(server, secret, { exists: { index: 'catsByName' } }), true)
  await query(server, secret, { delete: { index: 'catsByName' } })
  await createIndex('name')
  await importSchema(server, secret, sdl, 'override')
  assert.deepEqual(await dataOf(server, secret, '{ catsByName(name: "a") { data { age } } }'), {
    catsByName: { data: [] },
  })
})

test('two fields without names are a pair, also beside a relation with a name', async () => {
  const secret = await keyOfNewDatabase(server, 'paired', 'admin')
  await importSchema(
    server,
    secret,
    `type Author { name: String! posts: [Post!] @relation watched: [Post!] @relation(name: "watch") }
     type Post { title: String! author: Author! }
     type Query { allAuthors: [Author!] }`,
  )
  await dataOf(
    server,
    secret,
    `mutation { createAuthor(data: {name: "A", posts: {create: {title: "own"}}, watched: {create: {title: "other"}}}) { _id } }`,
  )
  const titles = (...all: string[]) => ({ data: all.map(title => ({ title })) })
  assert.deepEqual(
    await dataOf(
      server,
      secret,
      '{ allAuthors { data { posts { data { title } } watched { data { title } } } } }',
    ),
    { allAuthors: { data: [{ posts: titles('own'), watched: titles('other') }] } },
  )
})
