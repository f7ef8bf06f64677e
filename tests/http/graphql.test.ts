// GraphQL requests that the shared cases do not contain: limits, errors of values, other HTTP forms, and changes of the
// schema by FQL.

import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { requestBodyLimits } from '../../src/server/http/request-body.ts'
import { dataOf, importSchema, runOperation, sendOperation, sendSchema } from '../support/graphql.ts'
import { keyOfNewDatabase, query, send } from '../support/http.ts'
import { serverOfFile } from '../support/server.ts'

const server = serverOfFile()

const shop = `
enum Size { SMALL LARGE }
type Shop { name: String! @unique articles: [Article!] @relation owner: Person! }
type Article { title: String! size: Size price: Float parts: [Part!] shop: Shop sold: Time }
type Part @embedded { label: String! maker: Person weight: Int }
type Person { name: String! }
type Query {
  allShops: [Shop!]!
  articlesBySize(size: Size): [Article!]
  shopByName(name: String!): Shop
}
`

let admin = ''
before(async () => {
  admin = await keyOfNewDatabase(server, 'shop', 'admin')
  await importSchema(server, admin, shop)
})

const run = (text: string, variables: object = {}) => runOperation(server, admin, text, variables)

/** The message of the only error. */
async function failure(text: string, variables: object = {}): Promise<string> {
  const { errors = [] } = await run(text, variables)
  assert.equal(errors.length, 1, JSON.stringify(errors))
  return errors[0]?.message ?? ''
}

const nested = (levels: number): string =>
  levels === 0 ? 'name' : `articles { data { shop { ${nested(levels - 1)} } } }`

describe('limits of operations', () => {
  test('selections may be 20 levels deep', async () => {
    assert.equal((await run(`{ allShops { data { ${nested(5)} } } }`)).errors, undefined)
    assert.match(await failure(`{ allShops { data { ${nested(6)} } } }`), /nested too deeply. Max: 20 levels/)
  })

  test('fragments count with their selections', async () => {
    const spread = `fragment F on Shop { ${nested(6)} } { allShops { data { ...F } } }`
    assert.match(await failure(spread), /nested too deeply/)
    const cycle =
      'fragment A on Shop { ...B } fragment B on Shop { ...A name } { allShops { data { ...A } } }'
    assert.match(await failure(cycle), /Cannot spread fragment 'A' within itself/)
  })

  test('a fragment counts within a field that the same fragment selects beside it', async () => {
    const fragments = Array.from({ length: 6 }, (_, at) => {
      const inner = at === 5 ? 'name' : `...F${at + 1}`
      return `fragment F${at} on Shop { articles { data { shop { ${inner} } } } ${inner} }`
    })
    const text = `{ allShops { data { ...F0 } } } ${fragments.join('\n')}`
    assert.match(await failure(text), /nested too deeply. Max: 20 levels/)
  })

  test('fragments that no operation uses count, too, and so does each fragment of the same name', async () => {
    const repeated = `fragment F on Shop { ${'name '.repeat(101)} }`
    const unused = `{ allShops { data { name } } } ${repeated}`
    const twice = `${repeated} fragment F on Shop { name } { allShops { data { ...F } } }`
    for (const text of [unused, twice])
      assert.match(await failure(text), /'name' is selected too often. Max: 100 times/)
    const within = '{ allShops { data { name } } } fragment F on Shop { name }'
    assert.match(await failure(within), /Fragment 'F' is not used/)
  })

  test('the number of fields is limited, also when fragments multiply them', async () => {
    const names = Array.from({ length: 14 }, (_, at) => `F${at}`)
    const fragments = names.map((name, at) => {
      const inner = names[at + 1]
      return `fragment ${name} on Shop { ${inner === undefined ? 'name' : `...${inner} ...${inner}`} }`
    })
    const tooMany = await failure(`${fragments.join('\n')} { allShops { data { ...F0 } } }`)
    assert.match(tooMany, /selects too many fields. Max: 5000/)
  })

  test('a field may be selected 100 times, also in merged selections', async () => {
    const times = (count: number) => `{ allShops { data { ${'name '.repeat(count)} } } }`
    assert.equal((await run(times(100))).errors, undefined)
    assert.match(await failure(times(101)), /'name' is selected too often. Max: 100 times/)
    const merged = 'allShops { data { name name } } '.repeat(51)
    assert.match(await failure(`{ ${merged} }`), /'name' is selected too often/)
  })

  test('aliases, tokens, brackets and reads of the schema are limited', async () => {
    const aliases = Array.from({ length: 501 }, (_, at) => `a${at}: allShops { after }`).join(' ')
    assert.match(await failure(`{ ${aliases} }`), /too many aliases. Max: 500/)
    assert.match(await failure(`{ allShops(x: [${'1 '.repeat(10_001)}]) { after } }`), /too many tokens/)
    assert.match(await failure(`{ allShops(x: ${'['.repeat(101)}`), /nested too deeply. Max: 100 levels/)
    const reads = Array.from({ length: 11 }, (_, at) => `a${at}: __schema { types { name } }`).join(' ')
    assert.match(await failure(`{ ${reads} }`), /reads the schema too often. Max: 10 times/)
  })

  test('the sizes of nested pages multiply', async () => {
    const pages = (inner: number) =>
      `{ allShops(_size: 1000) { data { articles(_size: ${inner}) { data { title } } } } }`
    assert.equal((await run(pages(600))).errors, undefined)
    assert.match(await failure(pages(601)), /up to 601000 elements. Max: 600000/)
  })
})

describe('values and errors', () => {
  test('a missing required relation is an error only if it is selected', async () => {
    const create = (fields: string) => run(`mutation { createShop(data: {name: "${fields}"}) { ${fields} } }`)
    assert.deepEqual((await create('name')).data, { createShop: { name: 'name' } })
    const { data, errors = [] } = await create('name owner { name }')
    assert.equal(data, null)
    assert.deepEqual(errors[0]?.path, ['createShop', 'owner'])
    assert.match(errors[0]?.message ?? '', /^Cannot return null for non-nullable type/)
  })

  test('a null in a list of nullable pages removes only its element', async () => {
    const { createShop } = (await dataOf(
      server,
      admin,
      'mutation { createShop(data: {name: "gaps", owner: {create: {name: "o"}}, articles: {create: [{title: "a"}]}}) { _id } }',
    )) as { createShop: { _id: string } }
    await query(server, admin, {
      create: { collection: 'Article' },
      params: { object: { data: { object: { shop: { ref: { collection: 'Shop' }, id: createShop._id } } } } },
    })
    const { data, errors = [] } = await run('{ shopByName(name: "gaps") { articles { data { title } } } }')
    assert.deepEqual(data, { shopByName: { articles: { data: [{ title: 'a' }, null] } } })
    assert.deepEqual(errors[0]?.path, ['shopByName', 'articles', 'data', 1, 'title'])
  })

  test('a value of another type is an error at its field', async () => {
    await query(server, admin, {
      create: { ref: { collection: 'Article' }, id: '77' },
      params: { object: { data: { object: { title: 'x', price: 'cheap', size: 'LARGE' } } } },
    })
    const { data, errors = [] } = await run('{ findArticleByID(id: 77) { title price size } }')
    assert.deepEqual(data, { findArticleByID: { title: 'x', price: null, size: 'LARGE' } })
    assert.match(errors[0]?.message ?? '', /cannot be represented as 'Float'/)
  })

  test('partial updates keep required fields', async () => {
    const create = 'mutation { createArticle(data: {title: "p", parts: [{label: "l"}]}) { _id } }'
    const { createArticle } = (await dataOf(server, admin, create)) as { createArticle: { _id: string } }
    const update = (data: string) =>
      `mutation { partialUpdateArticle(id: ${createArticle._id}, data: {${data}}) { title } }`
    const withoutTitle = await failure(update('title: null'))
    assert.match(withoutTitle, /'Article.title' of required type 'String!' cannot be null/)
    assert.match(await failure(update('parts: [{label: null}]')), /'Part.label' of required type/)
    assert.deepEqual((await run(update('size: null'))).data, { partialUpdateArticle: { title: 'p' } })
  })

  test('inputs are checked', async () => {
    assert.match(
      await failure(
        'mutation { createArticle(data: {title: "x", parts: {label: "l", weight: 3000000000}}) { title } }',
      ),
      /^Expected type 'Int', found '3000000000'/,
    )
    assert.match(
      await failure('mutation($p: [PartInput!]) { createArticle(data: {title: "x", parts: $p}) { title } }', {
        p: [{ label: 'l', weight: 9007199254740993n.toString() }],
      }),
      /^Variable '\$p' expected value of type '\[PartInput!\]' but got/,
    )
    const misspelt = await failure('{ allShops { data { nme } } }')
    assert.match(misspelt, /^Cannot query field 'nme' on type 'Shop'\. Did you mean 'name'\?/)
    assert.match(await failure('{ findShopByID(id: "x") { name } }'), /^Numeric ID expected, 'x' provided\.$/)
    assert.match(await failure('subscription { allShops { after } }'), /./)
    assert.match(await failure('{'), /^Syntax error while parsing GraphQL query\./)
    assert.match(await failure(''), /./)
  })

  test('references in embedded objects are stored, and read again', async () => {
    const { createPerson } = (await dataOf(
      server,
      admin,
      'mutation { createPerson(data: {name: "M"}) { _id } }',
    )) as {
      createPerson: { _id: string }
    }
    const data = await dataOf(
      server,
      admin,
      'mutation($m: ID) { createArticle(data: {title: "t", parts: [{label: "a", maker: $m}, {label: "b"}]}) { parts { label maker { name } } } }',
      { m: createPerson._id },
    )
    assert.deepEqual(data, {
      createArticle: {
        parts: [
          { label: 'a', maker: { name: 'M' } },
          { label: 'b', maker: null },
        ],
      },
    })
  })
})

describe('forms of requests', () => {
  const path = (text: string) => `/graphql?query=${encodeURIComponent(text)}`

  test('GET runs queries, and rejects mutations', async () => {
    const read = await send(server, { secret: admin, method: 'GET', path: path('{ __typename }') })
    assert.deepEqual([read.status, read.json], [200, { data: { __typename: 'Query' } }])
    const write = await send(server, {
      secret: admin,
      method: 'GET',
      path: path('mutation { createPerson(data: {name: "x"}) { name } }'),
    })
    assert.match(write.text, /which is not allowed in get requests/)
  })

  test('a browser gets directions', async () => {
    const { status, text } = await send(server, {
      method: 'GET',
      path: '/graphql',
      headers: { accept: 'text/html' },
    })
    assert.equal(status, 200)
    assert.match(text, /dashboard/)
  })

  test('a body of another form is rejected', async () => {
    for (const body of ['[]', 'no json', '"text"', '{"query": "{ __typename }", "variables": []}']) {
      const { json, status } = await send(server, { secret: admin, path: '/graphql', body })
      assert.equal(status, 400, body)
      assert.match(JSON.stringify(json), /"errors":\[\{"message":/)
    }
    for (const body of ['', '{}']) {
      const { json, status } = await send(server, { secret: admin, path: '/graphql', body })
      assert.equal(status, 200)
      assert.match(JSON.stringify(json), /^\{"errors":\[\{"message":"No usable value for query/)
    }
    const raw = { 'content-type': 'application/graphql' }
    const ask = (body: string) => send(server, { secret: admin, path: '/graphql', body, headers: raw })
    const { json } = await ask('{ __typename }')
    assert.deepEqual(json, { data: { __typename: 'Query' } })
    const { shortBodyBytes } = requestBodyLimits
    const text = (bytes: number) => `{ __typename }${'#'.repeat(bytes - 14)}`
    assert.deepEqual((await ask(text(shortBodyBytes))).json, json)
    const long = await ask(text(shortBodyBytes + 1))
    assert.equal(long.status, 413)
    assert.match(long.text, /"message": "A body of type application\/graphql must not exceed 262144 bytes\./)
  })

  test('pages of other origins may send the header of schema previews', async () => {
    const { headers } = await send(server, {
      method: 'OPTIONS',
      path: '/graphql',
      headers: { origin: 'https://app.example' },
    })
    assert.match(headers.get('access-control-allow-headers') ?? '', /x-schema-preview/)
  })
})

describe('imports', () => {
  const rejected = async (sdl: string, mode = 'merge') => {
    const { status, text } = await sendSchema(server, admin, sdl, mode)
    assert.equal(status, 400, text)
    return text
  }

  test('a rejected schema changes nothing, and says why', async () => {
    assert.match(await rejected('type A { b: B }'), /Unknown type 'B' at 'A.b'/)
    assert.match(await rejected('type A @auth { b: Int }'), /Unknown directive 'auth' at 'A'/)
    assert.match(await rejected('type A { b: Int } type A { c: Int }'), /'A' is defined twice/)
    assert.match(await rejected('input A { b: Shop }'), /'Shop' cannot be used at 'A.b'/)
    const embedded = await rejected('type A @embedded @generateUDFResolvers { b: Int }')
    assert.match(embedded, /cannot have the directive/)
    assert.match(await rejected('type A { b: [A!] @relation }'), /relates the type 'A' to itself/)
    assert.match(await rejected('type A { b: Int }', 'upsert'), /Unknown import mode 'upsert'/)
    assert.match(await rejected(`type A { ${'['.repeat(200)}Int${']'.repeat(200)} }`), /nested too deeply/)
    assert.match(await rejected(`type A { ${'b: Int '.repeat(30_000)} }`), /too many tokens/)
    assert.match(await rejected(`# ${'x'.repeat(1_100_000)}`), /too long/)
    assert.equal(await query(server, admin, { exists: { collection: 'A' } }), false)
  })

  test('a field may have a type of many nested lists', async () => {
    const secret = await keyOfNewDatabase(server, 'nested-lists', 'admin')
    await importSchema(server, secret, `type Grid { cells: ${'['.repeat(60)}Int!${']!'.repeat(60)} }`)
    const cells = `${'['.repeat(60)}1${']'.repeat(60)}`
    const data = await dataOf(server, secret, `mutation { createGrid(data: {cells: ${cells}}) { cells } }`)
    assert.deepEqual(data, { createGrid: { cells: JSON.parse(cells) } })
  })

  test('errors before the import are plain text', async () => {
    const headers = { 'x-query-timeout': 'soon', 'user-agent': 'curl/8.0' }
    const invalid = { path: '/import', secret: admin, body: 'type A { b: Int }', headers }
    const wrongMethod = { path: '/import', secret: admin, method: 'PUT' }
    for (const request of [invalid, wrongMethod]) {
      const answer = await send(server, request)
      assert.match(String(answer.status), /^40[05]$/)
      assert.equal(answer.headers.get('content-type'), 'text/plain; charset=utf-8')
      assert.match(answer.text, /^[A-Z].*\.?$/)
    }
  })

  test('ambiguous relations have to be made explicit', async () => {
    const text = await rejected('type U { owns: C! } type C { owner: U! driver: U! }')
    assert.match(text, /must be made explicit/)
  })

  test('only keys of the roles admin and server may import', async () => {
    for (const role of ['server', 'client', 'server-readonly']) {
      const key = (await query(server, admin, { create_key: { object: { role } } })) as { secret: string }
      const { status } = await sendSchema(server, key.secret, 'type Leaf { a: Int }')
      assert.equal(status, role === 'server' ? 200 : 403, role)
    }
  })

  test('a renamed collection and a removed field take effect at once', async () => {
    const secret = await keyOfNewDatabase(server, 'renamed', 'admin')
    await importSchema(server, secret, 'type Cat { name: String! } type Query { allCats: [Cat!] }')
    await dataOf(server, secret, 'mutation { createCat(data: {name: "a"}) { name } }')
    await query(server, secret, {
      update: { collection: 'Cat' },
      params: { object: { name: 'felines' } },
    })
    assert.deepEqual(await dataOf(server, secret, '{ allCats { data { name } } }'), {
      allCats: { data: [{ name: 'a' }] },
    })
    await query(server, secret, { delete: { index: 'allCats' } })
    const { errors = [] } = await runOperation(server, secret, '{ allCats { data { name } } }')
    assert.match(errors[0]?.message ?? '', /Cannot query field 'allCats'/)
  })

  test('overriding deletes the documents, and replaces the whole schema', async () => {
    const secret = await keyOfNewDatabase(server, 'overridden', 'admin')
    const dog = 'type Dog { name: String! } type Query { allDogs: [Dog!] }'
    await importSchema(server, secret, dog)
    await dataOf(server, secret, 'mutation { createDog(data: {name: "a"}) { name } }')
    await importSchema(server, secret, dog, 'override')
    assert.deepEqual(await dataOf(server, secret, '{ allDogs { data { name } } }'), { allDogs: { data: [] } })
  })

  test('an enum of an earlier import stays, until the schema is replaced', async () => {
    const secret = await keyOfNewDatabase(server, 'enums', 'admin')
    const kinds = async () =>
      (await dataOf(server, secret, '{ __type(name: "Kind") { enumValues { name } } }')).__type as
        | object
        | null
    await importSchema(server, secret, 'enum Kind { A }')
    await importSchema(server, secret, 'type Cat { kind: Kind }')
    assert.deepEqual(await kinds(), { enumValues: [{ name: 'A' }] })
    await importSchema(server, secret, 'enum Kind { A B }')
    assert.deepEqual(await kinds(), { enumValues: [{ name: 'A' }, { name: 'B' }] })
    await importSchema(server, secret, 'type Cat { name: String }', 'replace')
    assert.equal(await kinds(), null)
  })
})

describe('long messages', () => {
  const long = ', found does not exist in "'.repeat(20_000)

  test('values and tokens are shortened', async () => {
    const query =
      'query($size: Size, $id: ID!) { articlesBySize(size: $size) { after } findShopByID(id: $id) { name } }'
    for (const variables of [
      { size: long, id: '1' },
      { size: [long], id: { a: long } },
    ]) {
      const { errors = [] } = await run(query, variables)
      assert.ok(errors.length > 0)
      for (const { message } of errors) {
        assert.match(message, /^Variable '\$/)
        assert.ok(message.length < 5000, `${message.length} characters`)
      }
    }
    const text = JSON.stringify(long)
    for (const document of [
      `{ allShops ${text} }`,
      `{ allShops(size: ${text}) { after } }`,
      `{ allShops """\n${long}\n""" }`,
    ])
      assert.ok((await failure(document)).length < 5000)
    const { text: answer } = await sendSchema(server, admin, `type A { ${text} }`)
    assert.match(answer, /^Syntax error while parsing GraphQL schema definition/)
    assert.ok(answer.length < 5000)
  })

  test('a document with many lines and many errors is divided into lines once', async t => {
    const empty = {
      create: { collection: 'Article' },
      params: { object: { data: { object: { size: 'LARGE' } } } },
    }
    await query(server, admin, empty)
    const fields = Array.from(
      { length: 90 },
      (_, at) => `a${at}: articlesBySize(size: LARGE) { data { title } }`,
    )
    const text = `{ ${fields.join(' ')} }${'\n'.repeat(20_000)}`
    const split = t.mock.method(String.prototype, 'split')
    const { errors = [] } = await run(text)
    const calls = split.mock.calls.filter(({ this: divided }) => String(divided) === text)
    split.mock.restore()
    assert.equal(errors.length, 90)
    assert.equal(calls.length, 1)
  })
})

test('an operation of one tenant never uses the schema of another', async () => {
  const other = await keyOfNewDatabase(server, 'other', 'admin')
  await importSchema(server, other, 'type Shop { secret: String } type Query { allShops: [Shop!] }')
  const text = '{ allShops { data { name } } }'
  assert.equal((await runOperation(server, admin, text)).errors, undefined)
  const { status, json } = await sendOperation(server, other, text)
  assert.equal(status, 200)
  assert.match(JSON.stringify(json), /Cannot query field 'name' on type 'Shop'/)
})
