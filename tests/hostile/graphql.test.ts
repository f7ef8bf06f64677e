// Malicious clients of GraphQL: documents, schemas and metadata of any form get an answer of the protocol, and the
// service, in a process of its own, keeps working. The file takes more than 20 seconds, because it sends many requests.

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { fc } from '../support/fast-check.ts'
import { importSchema, runOperation, sendOperation, sendSchema } from '../support/graphql.ts'
import { keyOfNewDatabase, query, send } from '../support/http.ts'
import { startProcess } from '../support/server-process.ts'
import { serviceOfFile } from '../support/service-of-file.ts'

const server = serviceOfFile(startProcess)
let admin = ''
before(async () => {
  admin = await keyOfNewDatabase(server, 'victim', 'admin')
  await importSchema(server, admin, sdl)
})

const sdl = `
type User { name: String! @unique posts: [Post!] @relation friend: User meta: Meta }
type Post { title: String! author: User! tags: [String] at: Time }
type Meta @embedded { level: Int user: User }
input Filter { level: Int inner: Filter }
enum Kind { A B }
type Query { allUsers: [User!] postsByTag(tag: String): [Post!] find(filter: Filter, kind: Kind = A): String @resolver }
`

/** Fails unless a response is one of the protocol. */
function assertAnswer(
  { status, text }: { readonly status: number; readonly text: string },
  sent: string,
): void {
  assert.ok(status === 200 || status === 400 || status === 503, `${status} ${text} for ${sent.slice(0, 300)}`)
}

/** Texts of valid documents, cut into pieces that random documents combine. */
const pieces = [
  ...['{', '}', '(', ')', '[', ']', ':', '!', '=', '@', '$', '...', '|', '"', '"""', '#', '\\', '\n', ','],
  ...'query mutation subscription fragment on type input enum extend null true'.split(' '),
  ...['allUsers', 'findUserByID', 'createUser', 'updatePost', 'partialUpdatePost', 'deletePost', 'find'],
  ...'data id name posts author friend meta level user _id _ts _size _cursor'.split(' '),
  ...'connect create disconnect __schema __type __typename __proto__ constructor toString'.split(' '),
  ...'User Post Meta String Int ID Query Mutation @relation @unique @resolver'.split(' '),
  ...'@embedded @collection @index @include @skip if $v "x" 1 -1 1e999 99999999999'.split(' '),
]
const randomText = fc.array(fc.constantFrom(...pieces), { maxLength: 40 }).map(parts => parts.join(' '))

/** Valid documents with one piece replaced. */
const documents = [
  '{ allUsers(_size: 5) { data { name posts { data { title author { name } } after } meta { level user { name } } } after } }',
  'mutation { createUser(data: {name: "a", posts: {create: [{title: "t"}], connect: ["1"], disconnect: "2"}}) { _id } }',
  'query Q($v: ID!) { findUserByID(id: $v) { ...F } } fragment F on User { name friend { name } }',
  '{ __schema { types { name fields { name args { name defaultValue } type { name ofType { name } } } } } }',
  'mutation { partialUpdatePost(id: "1", data: {tags: ["a", null], at: "2020-01-01T00:00:00Z"}) { tags at } }',
]
const changedText = (texts: readonly string[]) =>
  fc
    .tuple(fc.constantFrom(...texts), fc.nat(), fc.nat(12), fc.oneof(randomText, fc.string()))
    .map(([text, at, count, inserted]) => {
      const from = at % (text.length + 1)
      return text.slice(0, from) + inserted + text.slice(from + count)
    })

test('random documents get answers of the protocol', async () => {
  const text = fc.oneof(randomText, changedText(documents), fc.string())
  const variables = fc.dictionary(fc.constantFrom('v', '__proto__', 'x'), fc.jsonValue())
  await fc.assert(
    fc.asyncProperty(text, variables, async (document, values) => {
      assertAnswer(await sendOperation(server, admin, document, values), document)
    }),
    { numRuns: 400 },
  )
})

test('random bodies get answers of the protocol', async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.json(), fc.string()), async body => {
      assertAnswer(await send(server, { secret: admin, path: '/graphql', body }), body)
    }),
    { numRuns: 100 },
  )
})

test('random schemas are accepted or rejected, and leave a usable database', async () => {
  const secret = await keyOfNewDatabase(server, 'schemas', 'admin')
  const modes = fc.constantFrom('merge', 'replace', 'override')
  await fc.assert(
    fc.asyncProperty(fc.oneof(randomText, changedText([sdl]), fc.string()), modes, async (text, mode) => {
      assertAnswer(await sendSchema(server, secret, text, mode), text)
      const { data } = await runOperation(server, secret, '{ __schema { queryType { name } } }')
      assert.deepEqual(data, { __schema: { queryType: { name: 'Query' } } }, text)
    }),
    { numRuns: 100 },
  )
})

/** The part of a schema object that clients can write freely. */
const typeValue = fc.letrec(tie => ({
  type: fc.oneof(
    { maxDepth: 4 },
    fc.record({ Named: fc.constantFrom('User', 'Int', 'Query', 'Nothing', 'x y', '__Type') }),
    fc.record({ List: tie('type') }),
    fc.record({ NotNull: tie('type') }),
    fc.jsonValue(),
  ),
})).type
const field = fc.record(
  {
    name: fc.oneof(fc.constantFrom('name', '_id', 'Query', 'a b', '}'), fc.string()),
    type: typeValue,
    description: fc.oneof(fc.string(), fc.jsonValue()),
    arguments: fc.array(
      fc.record({ name: fc.constantFrom('a', '_size'), type: typeValue, defaultValue: fc.string() }),
    ),
    directives: fc.array(
      fc.record({ name: fc.constantFrom('relation', 'resolver', 'x'), args: fc.jsonValue() }),
    ),
  },
  { requiredKeys: [] },
)
const meta = fc.oneof(
  fc.record({
    name: fc.oneof(fc.constantFrom('User', 'Int', 'Query', 'Mutation', 'UserPage'), fc.string()),
    fields: fc.array(field),
    directives: fc.jsonValue(),
  }),
  fc.jsonValue(),
)

test('random metadata never breaks the service', async () => {
  const secret = await keyOfNewDatabase(server, 'metadata', 'admin')
  await importSchema(server, secret, 'type User { name: String! } type Query { allUsers: [User!] }')
  await fc.assert(
    fc.asyncProperty(meta, fc.constantFrom('collection', 'index'), async (value, kind) => {
      const target = kind === 'collection' ? { collection: 'User' } : { index: 'allUsers' }
      const update = (gql: unknown) => ({
        update: target,
        params: {
          object: { data: { object: { gql: gql === null ? null : { object: { meta: { quote: gql } } } } } },
        },
      })
      await query(server, secret, update(null))
      const { status } = await send(server, { secret, query: update(value) })
      assert.ok(status < 500)
      for (const text of [
        '{ __schema { types { name fields { name } } } }',
        '{ allUsers { data { name } } }',
      ])
        assertAnswer(await sendOperation(server, secret, text), JSON.stringify(value))
    }),
    { numRuns: 100 },
  )
})

test('documents at the limits are answered', async () => {
  const repeated = `{ allUsers { data { ${'name '.repeat(800)} } } }`
  const brackets = `{ allUsers(x: ${'['.repeat(50_000)}`
  const spreads = `fragment F on User { name } { allUsers { data { ${'...F '.repeat(4000)} } } }`
  const wide = `{ ${Array.from({ length: 500 }, (_, at) => `a${at}: allUsers { data { name posts { data { title } } } }`).join(' ')} }`
  const types = Array.from(
    { length: 10 },
    (_, at) => `a${at}: __schema { types { fields { type { fields { name } } } } }`,
  )
  const many = `mutation { createUser(data: {name: "m", posts: {create: [${'{title: "t"} '.repeat(2000)}]}}) { _id } }`
  for (const text of [repeated, brackets, spreads, wide, `{ ${types.join(' ')} }`, many])
    assertAnswer(await sendOperation(server, admin, text), text)
  const { data } = await runOperation(server, admin, '{ allUsers { data { name } } }')
  assert.ok(data !== undefined)
})

test('the service had no internal error', () => {
  assert.doesNotMatch(server.stderr(), /a request failed|internal/i)
})
