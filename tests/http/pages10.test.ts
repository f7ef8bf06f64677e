// All pages of a set together are the whole set, for every caller: a cursor fixes the snapshot, and changes nothing
// else. Each set is read in pages of two elements with cursors, and on one page.

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { fql, keyOfNewDatabase, query, send, sendFql } from '../support/http.ts'
import { serverOfFile } from '../support/server.ts'

const server = serverOfFile()
let admin: string
/** A secret for each set of rights. */
const secrets = new Map<string, string>()

const posts = 10
const productsOfShop = 17

const schema = [
  'Collection.create({ name: "Author" })',
  `Collection.create({
    name: "Post",
    computed_fields: { writer: { body: "doc => doc.author!.name" }, whole: { body: "doc => doc.author" } },
    indexes: { byAuthor: { terms: [{ field: "author" }], values: [{ field: "n" }] }, byTime: { values: [{ field: "ts" }] } }
  })`,
  `Collection.create({
    name: "Product",
    indexes: { byShop: { terms: [{ field: "shop" }], values: [{ field: "n" }] } }
  })`,
  `Collection.create({ name: "Shop", computed_fields: { products: { body: "doc => Product.byShop(doc)" } } })`,
  'Function.create({ name: "nameOf", body: "post => post.author!.name" })',
  'Function.create({ name: "productsOf", body: "shop => Product.byShop(shop).map(.n)" })',
]

const documents = [
  '["Ann", "Bo", "Cy"].forEach(name => Author.create({ name: name, public: name != "Cy" }))',
  `Set.sequence(0, ${posts}).forEach(n => Post.create({
    n: n,
    author: Author.firstWhere(.name == ["Ann", "Bo", "Cy"][n % 3]),
    public: n % 4 != 1
  }))`,
  'Set.sequence(0, 3).forEach(n => Shop.create({ n: n, public: n != 1 }))',
  `Shop.all().toArray().forEach(shop => Set.sequence(0, ${productsOfShop}).forEach(n =>
    Product.create({ n: n, shop: shop, public: n % 2 == 0 })))`,
]

const collections = ['Author', 'Post', 'Product', 'Shop']
const rights: Readonly<Record<string, object | undefined>> = {
  everything: undefined,
  'read only': { read: true },
  'read of public documents': { read: 'doc => doc.public' },
  'read of public documents, history of all': { read: 'doc => doc.public', history_read: true },
  'read by a predicate that follows references': { read: 'doc => (doc.author ?? doc)!.public' },
}

async function secretWith(name: string, actions: object): Promise<string> {
  const functions = ['nameOf', 'productsOf', 'oldName', 'oldCaller']
  const privileges = [
    ...collections.map(resource => ({ resource, actions })),
    ...functions.map(resource => ({ resource, actions: { call: true } })),
  ]
  await fql(server, admin, 'Role.create({ name: name, privileges: privileges })', { name, privileges })
  const key = await fql(server, admin, 'Key.create({ role: name })', { name })
  return (key as { secret: string }).secret
}

before(async () => {
  admin = await keyOfNewDatabase(server, 'pages', 'admin')
  for (const text of schema) await fql(server, admin, text)
  const version4 = (name: string, expr: object) =>
    query(server, admin, {
      create_function: { object: { name, body: { query: { lambda: 'post', expr } } } },
    })
  const post = { var: 'post' }
  await version4('oldName', {
    select: ['data', 'name'],
    from: { get: { select: ['data', 'author'], from: { get: post } } },
  })
  await version4('oldCaller', { call: { function: 'nameOf' }, arguments: post })
  for (const text of documents) await fql(server, admin, text)
  for (const [index, [name, actions]] of Object.entries(rights).entries()) {
    secrets.set(name, actions === undefined ? admin : await secretWith(`role${index}`, actions))
  }
})

const sets = [
  'Post.all() { n, author { name } }',
  'Post.all() { n, writer }',
  'Post.all().map(p => p { n, author })',
  'Post.all().map(.author!.name)',
  'Post.all().map(.writer)',
  'Post.all().map(.whole!.name)',
  'Post.all().where(.author!.name == "Ann").map(.n)',
  'Post.where(.writer == "Ann").map(.n)',
  'Post.all().map(p => Author.byId(p.author!.id)!.name)',
  'Post.all().map(p => Author.firstWhere(.name == p.author!.name)!.name)',
  'Post.all().map(p => Author.all().map(.name).toArray())',
  'Post.all().map(p => p.author.exists())',
  'Post.all().map(p => p.author == null)',
  'Post.all().map(nameOf)',
  'Post.all().map(p => nameOf(p))',
  'Post.all().map(p => oldName(p))',
  'Post.all().map(p => oldCaller(p))',
  'Post.all().map(p => at (TransactionTime()) { p.author!.name })',
  'Post.all().order(desc(.author!.name), .n) { n, author { name } }',
  'Post.all().map(.author!.name).distinct()',
  'Post.all().map(.author!.name).concat(Post.all().map(.writer)).reverse()',
  'Post.all().map(.writer).take(7).drop(1)',
  'Author.all().flatMap(a => Post.byAuthor(a)).map(.n)',
  'Shop.all().map(s => { c: s.products.count() })',
  'Shop.all().flatMap(s => Product.byShop(s)).map(.n)',
  'Shop.all().flatMap(s => s.products).map(.n)',
  'Shop.all().flatMap(s => productsOf(s))',
  'Shop.all().map(s => { n: s.n, products: Product.byShop(s).map(.n) })',
  'Shop.all().map(s => { n: s.n, products: s.products.map(p => p.shop!.n) })',
  'Shop.all().map(s => [[s.products { n, shop { n } }].toSet()])',
  'Post.all().map(p => { n: p.n, author: p.author?.name })',
  'Post.all().map(p => { n: p.n, known: p.author ?? "nobody" })',
  'Post.all().where(.author?.name == "Bo") { n, author { name } }',
  'Post.all().map(p => ["Ann", "Bo"].toSet().where(name => p.author!.name == name))',
]

interface Page {
  readonly data: readonly unknown[]
  readonly after?: string
}

function isPage(value: unknown): value is Page {
  return typeof value === 'object' && value !== null && 'data' in value && Array.isArray(value.data)
}

/** The result of a query. Throws the code of an error. */
async function resultOf(secret: string, text: string, args: Record<string, unknown> = {}): Promise<unknown> {
  const { json } = await sendFql(server, secret, text, args)
  const { data, error } = json as { data?: unknown; error?: { code: string } }
  if (error !== undefined) throw error.code
  return data
}

/** Replaces each page in a value by all elements of its set. `size`: the size of all pages but the first. */
async function unfolded(value: unknown, secret: string, size: number | undefined): Promise<unknown> {
  if (Array.isArray(value)) {
    const all: unknown[] = []
    for (const each of value) all.push(await unfolded(each, secret, size))
    return all
  }
  if (isPage(value)) {
    const all = [...value.data]
    let { after } = value
    while (after !== undefined) {
      const text = size === undefined ? 'Set.paginate(after)' : 'Set.paginate(after, size)'
      const next = (await resultOf(secret, text, { after, size })) as Page
      assert.ok(all.length < 1000, 'the pages end')
      all.push(...next.data)
      after = next.after
    }
    return unfolded(all, secret, size)
  }
  if (typeof value !== 'object' || value === null) return value
  const fields: [string, unknown][] = []
  for (const [name, field] of Object.entries(value)) fields.push([name, await unfolded(field, secret, size)])
  return Object.fromEntries(fields)
}

/** The elements of a set, or the code of the error of a query that reads them. */
async function elements(secret: string, text: string, size?: number): Promise<unknown> {
  try {
    return await unfolded(await resultOf(secret, text), secret, size)
  } catch (error) {
    if (typeof error !== 'string') throw error
    return error
  }
}

for (const name of Object.keys(rights)) {
  test(`pages together are the whole set: ${name}`, async () => {
    const secret = secrets.get(name) as string
    for (const set of sets) {
      const whole = await elements(secret, `(${set}).pageSize(1000)`, 1000)
      const paged = await elements(secret, `(${set}).pageSize(3)`)
      assert.deepEqual([set, paged], [set, whole])
      if (rights[name] === undefined) assert.ok(Array.isArray(whole), set)
    }
  })
}

const readers = ['everything', 'read only']

for (const name of readers) {
  test(`later pages and their nested sets show the data of the first page: ${name}`, async () => {
    const secret = secrets.get(name) as string
    const set = `Shop.all().map(s => {
      n: s.n,
      products: Product.byShop(s).pageSize(2).map(p => { n: p.n, shop: p.shop!.n }),
      listed: [Product.byShop(s).map(.n)].toSet(),
    }).pageSize(2)`
    const expected = await elements(secret, set, 1000)
    const first = (await resultOf(secret, set)) as Page
    const second = (await resultOf(secret, 'Set.paginate(after)', { after: first.after })) as Page
    await fql(
      server,
      admin,
      `Product.create({ n: 99, shop: Shop.all().last(), public: true })
       Shop.all().forEach(shop => shop.update({ n: shop.n + 100 }))`,
    )
    try {
      const shown = { data: [...first.data, ...second.data], after: second.after }
      assert.deepEqual(await unfolded(shown, secret, undefined), expected)
    } finally {
      await fql(
        server,
        admin,
        'Product.firstWhere(.n == 99)!.delete(); Shop.all().forEach(s => s.update({ n: s.n - 100 }))',
      )
    }
  })
}

test('later pages show the writes between the pages of a query, and entries with its commit time', async () => {
  const write = 'Post.all().forEach(.update({ mark: "new" }))'
  const marked = (await elements(admin, 'Post.all().map(p => { n: p.n, mark: "new" })', 1000)) as unknown[]
  const between = `let first = Post.all().map(p => { n: p.n, mark: p.mark }).paginate(3)
    ${write}
    Set.paginate(first.after!, 100)`
  assert.deepEqual(await elements(admin, between), marked.slice(3))
  const byTime = (await resultOf(admin, `${write}; Post.byTime().map(.n).pageSize(3)`)) as Page
  const whole = (await resultOf(admin, 'Post.byTime().map(.n).toArray()')) as unknown
  assert.deepEqual(await unfolded(byTime, admin, undefined), whole)
})

test('an `at` block around a cursor changes nothing', async () => {
  const past = await resultOf(admin, 'Time.now().subtract(1, "second").toString()')
  const secret = secrets.get('read only') as string
  const { after } = (await resultOf(secret, 'Post.all().map(.author!.name).pageSize(2)')) as Page
  const plain = (await resultOf(secret, 'Set.paginate(after).data', { after })) as unknown
  for (const time of ['TransactionTime()', 'Time(past)']) {
    const later = await resultOf(secret, `at (${time}) { Set.paginate(after).data }`, { after, past })
    assert.deepEqual(later, plain)
  }
})

test('pages of a set within an `at` block need the right to read the history', async () => {
  const past = (await resultOf(admin, 'Time.now().toString()')) as string
  const text = 'at (Time(past)) { Post.all().map(.author!.name).pageSize(2) }'
  const { after } = (await resultOf(admin, text, { past })) as Page
  assert.deepEqual(await resultOf(admin, 'Set.paginate(after).data', { after }), ['Cy', 'Ann'])
  const readable = await resultOf(secrets.get('read only') as string, 'Set.paginate(after).data', { after })
  assert.deepEqual(readable, [])
  const mapped = (await resultOf(
    admin,
    'let s = Post.all(); (at (Time(past)) { s.map(p => Author.byId(p.author!.id)!.name) }).pageSize(2)',
    { past },
  )) as Page
  await assert.rejects(
    () => resultOf(secrets.get('read only') as string, 'Set.paginate(after).data', { after: mapped.after }),
    error => error === 'null_value',
  )
})

test('an event source of a set from a later page reports events of the present', async () => {
  for (const name of readers) {
    const secret = secrets.get(name) as string
    const set = 'Shop.all().map(s => Product.byShop(s).where(p => p.shop!.n >= 0).map(p => p.n + p.shop!.n))'
    const { after } = (await resultOf(secret, `${set}.pageSize(2)`)) as Page
    const text = 'Set.paginate(after).data[0].eventSource()'
    const token = await resultOf(secret, text, { after })
    await fql(server, admin, 'Product.byShop(Shop.all().drop(2).first()).first()!.update({ n: 50 })')
    const { json } = await send(server, { secret, path: '/feed/1', body: JSON.stringify({ token }) })
    const { events } = json as { events: readonly { type: string; data: unknown }[] }
    const received = events.map(({ data, type }) => [type, data])
    assert.deepEqual(received, [['update', { '@int': '52' }]])
    await fql(server, admin, 'Product.byShop(Shop.all().drop(2).first()).last()!.update({ n: 0 })')
  }
})
