// Imports every format in which data of the hosted service exists today, each from a handmade file, and compares the
// documents.

import assert from 'node:assert/strict'
import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { document, fixtures, openTestDatabase, type TestDatabase } from './importing.ts'

const printed = (collection: string, id: string) => JSON.stringify(document(collection, id))

async function assertTaggedExport(database: TestDatabase): Promise<void> {
  const cups = await database.get('Product', '101')
  assert.equal(
    cups,
    `{"ref":${printed('Product', '101')},"ts":1742641138290000,"data":{"name":"cups","price":698,"big":5000000000,` +
      `"w":1.5,"odd":"NaN","due":{"@date":"2025-05-30"},"at":{"@ts":"2025-01-01T00:00:00.000000001Z"},` +
      `"bin":{"@bytes":"3q2+7w=="},"category":${printed('Category', '7')},"escaped":{"@obj":{"@x":"y"}},` +
      `"list":[1,null,true],"id":"mine","ts":1},"ttl":{"@ts":"2999-01-01T00:00:00Z"}}`,
  )
  const plates = await database.data('Product', '102')
  assert.match(plates, /"gone":\{"id":"9","collection":"Deleted"\}/)
  assert.match(plates, /"index":"\[legacy index product_by_name\]"/)
  assert.match(plates, /"hook":null/)
}

test('a tagged export with two parts', async t => {
  const database = await openTestDatabase(t)
  const report = await database.import(['tagged'])
  await assertTaggedExport(database)
  assert.equal(await database.ask({ exists: { collection: 'Empty' } }), 'true')
  assert.deepEqual(report.data.collections.Product, {
    read: 2,
    written: 2,
    equal: 0,
    kept: 0,
    replaced: 0,
    conflicting: 0,
    bad: 0,
    expired: 0,
    newIds: 0,
  })
  assert.deepEqual(Object.keys(report.data.dangling), ['Product → Category'])
  const place = report.data.dangling['Product → Category']?.places[0] ?? ''
  assert.match(place, /Product_00_000001\.json:1 \(record 1, byte 1\): 8$/)
  assert.equal(Object.keys(report.data.lost).length, 3)
  assert.ok(report.data.lost['a reference to index product_by_name, which does not exist (Product)'])
  assert.match(report.text(), /a stored lambda/)
})

test('a tagged export logs its users in with their old passwords', async t => {
  const database = await openTestDatabase(t)
  await database.import(['tagged'])
  const login = (password: string) => ({
    login: document('User', '11'),
    params: { object: { password } },
  })
  assert.match(await database.ask(login('s3cret-of-ada')), /"secret":/)
  await assert.rejects(database.ask(login('wrong')), /authentication failed|was not found or/i)
})

test('an export compressed with gzip', async t => {
  const database = await openTestDatabase(t)
  const copy = join(database.folder, 'tagged')
  await cp(join(fixtures, 'tagged'), copy, { recursive: true })
  for (const entry of await readdir(copy, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || entry.name.startsWith('metadata')) continue
    const path = join(entry.parentPath, entry.name)
    await writeFile(`${path}.gz`, gzipSync(await readFile(path)))
    await rm(path)
  }
  await database.import([copy])
  await assertTaggedExport(database)
})

test('references to an existing index are references again', async t => {
  const database = await openTestDatabase(t)
  await database.import(['simple-schema'])
  const index = {
    name: 'product_by_name',
    source: { collection: 'Product' },
    terms: [{ object: { field: ['data', 'name'] } }],
  }
  await database.ask({ create_index: { object: index } })
  await database.import(['tagged'])
  const index102 = await database.ask({
    select: ['data', 'index'],
    from: { get: document('Product', '102') },
  })
  assert.equal(index102, '{"@ref":{"id":"product_by_name","collection":{"@ref":{"id":"indexes"}}}}')
})

test('a simple export, with and without types', async t => {
  const plain = await openTestDatabase(t)
  const report = await plain.import(['simple'])
  assert.equal(
    await plain.data('Product', '101'),
    `{"price":698,"w":1.5,"whole":2.0,"big":9007199254740993,"due":"2025-05-30","at":"2025-01-01T00:00:00Z",` +
      `"photo":"3q2+7w==","category":${printed('Category', '7')},"lookalike":{"id":"7","coll":"Nowhere"}}`,
  )
  assert.deepEqual(report.data.lookalikes, {
    'Product.due::date': 2,
    'Product.at::time': 1,
    'Product.tags::date': 1,
    'Product.address.since::date': 1,
  })
  const flagged = await openTestDatabase(t)
  const type = ['Product.due::date', 'at::time', 'Product.photo::bytes', 'address.since::date']
  await flagged.import(['simple'], { type })
  const typed =
    /"due":\{"@date":"2025-05-30"\},"at":\{"@ts":"2025-01-01T00:00:00Z"\},"photo":\{"@bytes":"3q2\+7w=="\}/
  assert.match(await flagged.data('Product', '101'), typed)
  const pulled = await openTestDatabase(t)
  // No schema file can declare a field with the name of a keyword.
  const told = await pulled.import(['simple-schema', 'simple'], { type: ['Product.at::time'] })
  assert.match(await pulled.data('Product', '101'), typed)
  const nested = await pulled.data('Product', '102')
  assert.match(nested, /"tags":\[\{"@date":"2025-01-01"\}\],"address":\{"since":\{"@date"/)
  assert.deepEqual(told.data.lookalikes, {})
  const collection = await pulled.ask({ get: { collection: 'Product' } })
  assert.match(collection, /"history_days":3,"name":"Product","ttl_days":900/)
})

test('the lines printed by a script, with the schema objects', async t => {
  const database = await openTestDatabase(t)
  const report = await database.import(['dumps/schema.json', 'dumps/users.ndjson'])
  assert.equal(
    await database.data('users', '101'),
    `{"name":"Ada","at":{"@ts":"2021-10-18T13:20:29.194Z"},"d":{"@date":"2021-10-18"},"b":{"@bytes":"3q2+7w=="},` +
      `"boss":${printed('users', '102')},"odd":{"@obj":{"@x":1}}}`,
  )
  assert.equal(
    await database.ask({ select: ['data', 'twice'], from: { get: document('users', '102') } }),
    '{"@query":{"api_version":"4","lambda":"x","expr":{"add":[{"var":"x"},{"var":"x"}]}}}',
  )
  assert.equal(
    await database.ask({ select: ['data', 'old'], from: { get: document('users', '102') } }),
    '{"@query":{"api_version":"2.12","lambda":"x","expr":{"and":[{"var":"x"},true]}}}',
  )
  const latest = await database.ask({ select: ['data', 'latest'], from: { get: document('users', '102') } })
  assert.match(latest, /\{"@set":\{"match":\{"@ref":\{"id":"users_by_name"/)
  assert.equal(await database.ask({ call: { function: 'greet' }, arguments: 'Ada' }), '"hello Ada"')
  assert.match(await database.ask({ get: { function: 'greet' } }), /"role":\{"@ref":\{"id":"greeter"/)
  const page = await database.ask({ paginate: { match: { index: 'users_by_name' }, terms: 'Ada' } })
  assert.equal(page, `{"data":[[1634563229194000,${printed('users', '101')}]]}`)
  assert.deepEqual(Object.keys(report.data.dangling).sort(), ['users → pets', 'users → users'])
  assert.equal(await database.ask({ exists: { collection: 'pets' } }), 'true')
})

test('pages, raw responses and the spellings of older versions', async t => {
  const database = await openTestDatabase(t)
  await database.import(['dumps/page.json', 'dumps/raw.json', 'dumps/array.json'])
  assert.equal(await database.count('orders'), '2')
  assert.equal(await database.data('orders', '202'), '{"n":2}')
  assert.equal(await database.data('posts', '1'), `{"by":${printed('users', '101')},"title":"first"}`)
  assert.equal(
    await database.data('things', '301'),
    '{"text":"with \\"quotes\\", [brackets] and {braces}","whole":1,"half":1.0}',
  )
  assert.match(await database.get('things', '302'), /"ts":1634563229194000\}$/)
})

test('documents of the driver of version 10, as written by JSON.stringify', async t => {
  const database = await openTestDatabase(t)
  await database.import(['dumps/version-10.json'])
  assert.equal(
    await database.get('Item', '426100000000000001'),
    `{"ref":${printed('Item', '426100000000000001')},"ts":1742641138290000,"data":{"name":"cups",` +
      `"day":{"@date":"2025-05-30"},"at":{"@ts":"2025-01-01T00:00:00Z"},"bin":{"@bytes":"3q0="},"count":3,` +
      `"next":${printed('Item', '426100000000000002')}}}`,
  )
})

test('documents without ids get stable ids', async t => {
  const database = await openTestDatabase(t)
  const first = await database.import(['dumps/movies-backup.json'])
  assert.equal(first.counts('Movies').newIds, 2)
  const titles = {
    map: { lambda: 'r', expr: { select: ['data', 'title'], from: { get: { var: 'r' } } } },
    collection: { paginate: { documents: { collection: 'Movies' } } },
  }
  assert.equal(await database.ask(titles), '{"data":["Metropolis","M"]}')
  const second = await database.import(['dumps/movies-backup.json'])
  assert.deepEqual([second.counts('Movies').written, second.counts('Movies').equal], [0, 2])
})

test('tables whose cells are JSON keep their ids', async t => {
  const database = await openTestDatabase(t)
  await database.import(['dumps/cells.csv'], { collection: 'goods' })
  const first = await database.data('goods', '401')
  assert.equal(first, `{"name":"cups","owner":${printed('users', '101')},"tags":[1,2]}`)
  assert.equal(await database.data('goods', '402'), '{"name":"plates","owner":null,"tags":[]}')
})

test('schema files and output of the shell, in the language itself', async t => {
  const database = await openTestDatabase(t)
  await database.import(['language'])
  assert.equal(
    await database.get('accounts', '1'),
    `{"ref":${printed('accounts', '1')},"ts":1648000000000000,"data":{"email":"ada@example.org",` +
      `"at":{"@ts":"2022-01-01T00:00:00Z"},"on":{"@date":"2022-01-01"},"next":${printed('accounts', '2')}}}`,
  )
  assert.equal(await database.data('accounts', '2'), '{"email":"bob@example.org","n":1,"d":1.5}')
  assert.equal(await database.ask({ call: { function: 'double' }, arguments: 4 }), '8')
  const found = { match: { index: 'accounts_by_email' }, terms: 'bob@example.org' }
  assert.equal(await database.ask({ select: ['ref', 'id'], from: { get: found } }), '"2"')
})

test('rows of the old command line', async t => {
  const database = await openTestDatabase(t)
  const type = ['vip::bool', 'customers.since::dateString', 'score::number', 'joined::dateEpochMillis']
  await database.import(['rows'], { type })
  assert.equal(
    await database.all('customers'),
    '{"data":[{"name":"Ada, Countess","vip":true,"since":{"@ts":"2024-01-02T03:04:05Z"},"score":7,"joined":{"@ts":"2023-11-14T22:13:20Z"}},' +
      '{"name":"Bob","vip":false,"since":{"@ts":"2024-02-03T00:00:00Z"},"score":null,"joined":{"@ts":"2023-11-14T22:13:20.001Z"}}]}',
  )
  assert.equal(await database.all('letters'), '{"data":[{"a":1},{"a":2},{"a":3},{"a":4}]}')
  assert.equal(await database.all('pretty'), '{"data":[{"a":"}{"},{"a":"][","when":"2024-01-02T03:04:05Z"}]}')
})

test('everything at once, twice: the second time changes nothing', async t => {
  const database = await openTestDatabase(t)
  const paths = ['tagged', 'simple-schema', 'dumps', 'rows']
  const first = await database.import(paths)
  const second = await database.import(paths)
  assert.equal(second.total().written, 0)
  assert.equal(second.total().equal, first.total().read)
})

test('a dry run writes nothing and reports the same', async t => {
  const database = await openTestDatabase(t)
  const dry = await database.import(['tagged', 'dumps'], { dryRun: true })
  await assert.rejects(database.ask({ now: null }), /unauthorized/i)
  const real = await database.import(['tagged', 'dumps'])
  assert.equal(dry.total().read, real.total().read)
  assert.equal(dry.total().written, real.total().written)
})

test('rows of JSON keep the field id as the id of the document on request', async t => {
  const database = await openTestDatabase(t)
  const content = '{"id":7,"n":1}\n{"n":2,"id":"8"}\n{"id":null,"n":3}\n{"id":"x","n":4}\n{"id":-1,"n":5}\n'
  const rows = await database.file('rows.jsonl', content)
  const report = await database.import([rows], { hasRowIds: true, skipBad: 2 })
  assert.equal(report.data.collections.rows?.written, 3)
  assert.equal(report.data.collections.rows?.bad, 2)
  assert.equal(await database.data('rows', '7'), '{"n":1}')
  assert.equal(await database.data('rows', '8'), '{"n":2}')
  await database.import([await database.file('plain.jsonl', '{"id":7,"n":1}\n')])
  assert.equal(await database.all('plain'), '{"data":[{"id":7,"n":1}]}')
})

test('rows may contain references and values in the notation of version 10', async t => {
  const database = await openTestDatabase(t)
  const rows = [
    '{"name":"a","project":{"@ref":{"coll":{"@mod":"Project"},"id":"7"}},"n":{"@int":"5"},"at":{"@time":"2020-01-01T00:00:00Z"}}',
    '{"name":"b","project":{"@ref":{"id":"8","coll":"Project"}},"list":[{"@long":"5000000000"},{"@double":"NaN"}],"of":{"@mod":"Project"}}',
    // The notation of version 4 is still read.
    `{"name":"c","project":${printed('Project', '9')},"on":{"@date":"2020-01-01"}}`,
  ]
  const data = [
    `{"name":"a","project":${printed('Project', '7')},"n":5,"at":{"@ts":"2020-01-01T00:00:00Z"}}`,
    `{"name":"b","project":${printed('Project', '8')},"list":[5000000000,"NaN"],"of":{"@ref":{"id":"Project","collection":{"@ref":{"id":"collections"}}}}}`,
    `{"name":"c","project":${printed('Project', '9')},"on":{"@date":"2020-01-01"}}`,
  ]
  const schema = 'collection Project { *: Any }\ncollection task {\n  project: Ref<Project>?\n  *: Any\n}'
  const fsl = await database.file('project.fsl', schema)
  await database.import([fsl, await database.file('task.jsonl', rows.join('\n'))])
  assert.equal(await database.all('task'), `{"data":[${data.join(',')}]}`)
  // A field with the name of the reference of a driver's document does not make the row a driver's document.
  const ref = '"ref":{"@ref":{"coll":{"@mod":"Project"},"id":"1"}}'
  const first = `[${rows.map(row => row.replace('"name"', `${ref},"name"`)).join(',')}]`
  const report = await database.import([await database.file('first.json', first)], { collection: 'other' })
  assert.equal(report.total().written, 3)
})

test('an error about a field id of rows names the option that keeps the ids', async t => {
  const database = await openTestDatabase(t)
  const fsl = await database.file('p.fsl', 'collection P { name: String }')
  const rows = await database.file('rows.jsonl', '{"id":"12","name":"a"}\n{"id":"7","name":"b"}\n')
  await assert.rejects(
    database.import([fsl, rows], { collection: 'P' }),
    /data\.id: Unexpected field.*--row-ids uses `id` as the id/,
  )
  const options = { collection: 'P', hasRowIds: true, meaning: ['row-ids'] }
  const report = await database.import([fsl, rows], options)
  assert.equal(report.total().newIds, 0)
  assert.equal(await database.data('P', '12'), '{"name":"a"}')
})

test('an empty CSV cell in quotes is an empty string, and null on request', async t => {
  const database = await openTestDatabase(t)
  const file = await database.file('cells.csv', 'a,b,"c",due\n"",,"x",""\n,"",x,2020-01-01\n')
  const expected = {
    null: ['{"a":"","b":null,"c":"x","due":null}', '{"a":null,"b":"","c":"x","due":{"@date":"2020-01-01"}}'],
    'quoted-null': [
      '{"a":null,"b":null,"c":"x","due":null}',
      '{"a":null,"b":null,"c":"x","due":{"@date":"2020-01-01"}}',
    ],
    empty: ['{"a":"","b":"","c":"x","due":""}', '{"a":"","b":"","c":"x","due":{"@date":"2020-01-01"}}'],
  }
  for (const [emptyCells, rows] of Object.entries(expected)) {
    const options = { emptyCells: emptyCells as 'null', type: ['due::date'], meaning: [emptyCells] }
    const collection = emptyCells.replace('-', '_')
    await database.import([file], { ...options, collection })
    assert.equal(await database.all(collection), `{"data":[${rows.join(',')}]}`, emptyCells)
  }
})
