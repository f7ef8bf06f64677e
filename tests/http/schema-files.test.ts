// Schema files below `/schema/1`, where no conformance case covers them: concurrent pushes, permissions, and malicious
// bodies.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { importSchema } from '../support/graphql.ts'
import { keyOfNewDatabase, query, sendFql } from '../support/http.ts'
import { serverOfFile } from '../support/server.ts'

const server = serverOfFile()
let databases = 0

function newDatabase(): Promise<string> {
  databases += 1
  return keyOfNewDatabase(server, `d${databases}`, 'admin')
}

interface SchemaResponse {
  readonly status: number
  readonly body: {
    readonly error?: { readonly message: string }
    readonly version?: number
    readonly content?: string
    readonly diff?: string
  }
}

async function request(
  secret: string,
  method: string,
  path: string,
  body?: FormData | string,
): Promise<SchemaResponse> {
  const response = await fetch(`${server.url}/schema/1/${path}`, {
    method,
    headers: { authorization: `Bearer ${secret}` },
    ...(body !== undefined && { body }),
  })
  return { status: response.status, body: (await response.json()) as SchemaResponse['body'] }
}

function push(secret: string, files: Readonly<Record<string, string>>, query = ''): Promise<SchemaResponse> {
  const form = new FormData()
  for (const [name, text] of Object.entries(files)) form.append(name, new Blob([text]))
  return request(secret, 'POST', `update${query}`, form)
}

async function ask(secret: string, query: string): Promise<unknown> {
  const answer = await sendFql(server, secret, query)
  return (answer.json as { data?: unknown }).data
}

test('of two pushes for the same version, one succeeds', async () => {
  const secret = await newDatabase()
  const { body } = await push(secret, { 'main.fsl': 'function one() { 1 }' })
  const pushes = [2, 3, 4].map(value =>
    push(secret, { 'main.fsl': `function one() { ${value} }` }, `?version=${body.version}`),
  )
  const statuses = (await Promise.all(pushes)).map(({ status }) => status)
  assert.deepEqual(statuses.sort(), [200, 409, 409])
})

test('concurrent pushes end with the schema of one of them', async () => {
  const secret = await newDatabase()
  const texts = Array.from({ length: 8 }, (_, index) => `collection C${index} {}`)
  const answers = await Promise.all(texts.map(text => push(secret, { 'main.fsl': text })))
  for (const { status } of answers) assert.equal(status, 200)
  const { body } = await request(secret, 'GET', 'files/main.fsl')
  assert.ok(texts.includes(body.content ?? ''))
  const names = await ask(secret, 'Collection.all().map(.name).toArray()')
  assert.deepEqual(names, [body.content?.slice('collection '.length, -' {}'.length)])
})

test('invalid bodies are rejected, and nothing is changed', async () => {
  const secret = await newDatabase()
  await push(secret, { 'main.fsl': 'collection Kept {}' })
  const texts = [
    `a ${'{ a '.repeat(20_000)}`,
    `function f() { ${'('.repeat(20_000)} }`,
    '/*'.repeat(10_000),
    '@alias(a) '.repeat(5000),
    `collection A { a: ${'Array<'.repeat(5000)} }`,
    '"'.repeat(10_000),
    'collection \u0000 {}',
  ]
  for (const text of texts) {
    const { body, status } = await push(secret, { 'main.fsl': text })
    assert.equal(status, 400)
    assert.match(body.error?.message ?? '', /^error: /)
  }
  const form = { 'content-type': 'multipart/form-data; boundary=x' }
  const head = '--x\r\ncontent-disposition: form-data; name="main.fsl"\r\n\r\n'
  for (const bytes of [
    Buffer.from('--x\r\njunk'),
    Buffer.from([0xff, 0xfe, 0]),
    Buffer.from(`${head}\xc3(`, 'latin1'),
  ]) {
    const response = await fetch(`${server.url}/schema/1/update`, {
      method: 'POST',
      headers: { ...form, authorization: `Bearer ${secret}` },
      body: bytes,
    })
    assert.equal(response.status, 400)
    assert.deepEqual(await response.json(), { error: { message: 'Invalid request' } })
  }
  assert.deepEqual(await ask(secret, 'Collection.all().map(.name).toArray()'), ['Kept'])
})

test('a body that is too long is rejected in the same form', async () => {
  const secret = await newDatabase()
  const { body, status } = await push(secret, { 'main.fsl': 'x'.repeat(8_400_000) })
  assert.deepEqual([status, body], [413, { error: { message: 'Request entity is too large' } }])
})

test('a new name for an item renames it, and its documents stay', async () => {
  const secret = await newDatabase()
  await push(secret, { 'main.fsl': '// about\ncollection Shelf {}\ncollection Box {}' })
  await ask(secret, 'Shelf.create({ id: 1, a: 2 })')
  const { body, status } = await request(secret, 'POST', 'items/collections/Shelf', 'collection Rack {}')
  assert.equal(status, 200, JSON.stringify(body))
  assert.equal(await ask(secret, 'Rack.byId(1)!.a'), 2)
  const main = await request(secret, 'GET', 'files/main.fsl')
  assert.equal(main.body.content, 'collection Rack {}\ncollection Box {}')
})

test('the response to a renaming has the new version of the schema', async () => {
  const secret = await newDatabase()
  await push(secret, { 'main.fsl': 'collection Shelf {}' })
  const { body } = await request(secret, 'POST', 'items/collections/Shelf', 'collection Rack {}')
  const path = `items/collections/Rack?version=${body.version}`
  const next = await request(secret, 'POST', path, 'collection Board {}')
  assert.equal(next.status, 200, JSON.stringify(next.body))
  const stale = await request(secret, 'POST', path.replace('Rack', 'Board'), 'collection Plank {}')
  assert.equal(stale.status, 409)
})

test('an index needs terms or values', async () => {
  const secret = await newDatabase()
  const { body, status } = await push(secret, { 'main.fsl': 'collection Shelf { index e {} }' })
  assert.equal(status, 400)
  assert.match(body.error?.message ?? '', /indexes\.e: Union requires fields \[terms\], \[values\]/)
})

test('an inner object may get more fields without a migration statement, but never fewer', async () => {
  const secret = await newDatabase()
  await push(secret, { 'main.fsl': 'collection Shelf { a: { x: Int } }' })
  await ask(secret, 'Shelf.create({ a: { x: 1 } })')
  const wider = await push(secret, { 'main.fsl': 'collection Shelf { a: { x: Int, *: Any } }' })
  assert.equal(wider.status, 200, JSON.stringify(wider.body))
  for (const type of ['{ x: Int, *: String }', '{ x: Int }']) {
    const { body, status } = await push(secret, { 'main.fsl': `collection Shelf { a: ${type} }` })
    assert.equal(status, 400, type)
    assert.match(body.error?.message ?? '', /does not match the live type `\{ x: Int, \*: Any \}`/)
  }
})

test('a schema of a hundred collections is returned unchanged, and pushing it again changes nothing', async () => {
  const secret = await newDatabase()
  const text = Array.from(
    { length: 100 },
    (_, index) => `/* number ${index} */
@alias(Alias${index})
collection C${index} {
  a: String?;  b : { c: Int = 1, *: Any }
  next: Ref<C${(index + 1) % 100}>?
  list: Array<Int>?
  compute d = (.a) // short
  index byA { terms [.a]
    values [desc(.b.c), mva(.list)] }
  unique [.a, .b.c]
  check ok ((doc) => doc.a != "x#{1 + 2}")
}`,
  ).join('\n\n')
  const first = await push(secret, { 'all.fsl': text })
  assert.equal(first.status, 200, JSON.stringify(first.body))
  const again = await push(secret, { 'all.fsl': text })
  assert.equal(again.body.version, first.body.version)
  const read = await request(secret, 'GET', 'files/all.fsl')
  assert.equal(read.body.content, text)
})

test('each query appends its definitions to the files', async () => {
  const secret = await newDatabase()
  await push(secret, { 'main.fsl': '// head\ncollection Shelf {}\n' })
  await ask(secret, 'Role.create({ name: "keeper" })')
  await ask(secret, 'Collection.create({ name: "Box" })')
  const { body } = await request(secret, 'GET', 'files/main.fsl')
  const text = '// head\ncollection Shelf {}\n\nrole keeper {\n}\n\ncollection Box {\n}\n'
  assert.equal(body.content, text)
})

test('a difference lists the indexes and the parts of the GraphQL schema that a removal takes', async () => {
  const secret = await newDatabase()
  await importSchema(server, secret, 'type User { name: String! @unique } type Query { allUsers: [User!] }')
  const form = new FormData()
  form.append('main.fsl', new Blob(['collection Other {}']))
  const removed = [
    'the GraphQL type User',
    'the index unique_User_name',
    'the index allUsers with the GraphQL field Query.allUsers',
  ]
  for (const format of ['semantic', 'summary']) {
    const { body } = await request(secret, 'POST', `diff?format=${format}`, form)
    const { diff = '' } = body
    for (const part of removed) assert.ok(`${diff}\n`.includes(`  - ${part}\n`), `${part} in ${diff}`)
  }
  assert.equal((await push(secret, { 'main.fsl': 'collection Other {}' })).status, 200)
  assert.equal(await query(server, secret, { exists: { index: 'allUsers' } }), false)
})
