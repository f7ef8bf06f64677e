// Combined sets as a caller with a role: the members are combined with all elements, and the result shows only the
// elements whose documents the caller may read. The data is a small app: people follow, block and write posts, and nobody
// may read who follows or blocks whom.

import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { keyOfNewDatabase, runText, sendText } from '../support/http.ts'
import { serverOfFile } from '../support/server.ts'

const server = serverOfFile()
let admin: string
let reader: string
let nobody: string

/** The post `id`, as a response shows it. */
const post = (id: number) => ref('posts', id)
const ref = (collection: string, id: number) => ({
  '@ref': {
    id: String(id),
    collection: { '@ref': { id: collection, collection: { '@ref': { id: 'collections' } } } },
  },
})

const index = (name: string, collection: string, terms: readonly string[], values: readonly string[]) =>
  `CreateIndex({ name: "${name}", source: Collection("${collection}"),
     terms: [${terms.map(field => `{ field: ["data", "${field}"] }`)}],
     values: [${values.map(field => `{ field: ["data", "${field}"] }`)}] })`

const create = (collection: string, id: number, data: object) =>
  `Create(Ref(Collection("${collection}"), "${id}"), { data: ${JSON.stringify(data)} })`

const read = (resource: string, actions = 'read: true') =>
  `{ resource: ${resource}, actions: { ${actions} } }`

async function keyOfRole(name: string, privileges: readonly string[]): Promise<string> {
  await runText(server, admin, `CreateRole({ name: "${name}", privileges: [${privileges}] })`)
  return (await runText(server, admin, `Select("secret", CreateKey({ role: Role("${name}") }))`)) as string
}

before(async () => {
  admin = await keyOfNewDatabase(server, 'social', 'admin')
  for (const name of ['follows', 'blocks', 'posts', 'secrets'])
    await runText(server, admin, `CreateCollection({ name: "${name}" })`)
  for (const text of [
    index('followees', 'follows', ['who'], ['whom']),
    index('blocked', 'blocks', ['who'], ['whom']),
    index('by_author', 'posts', ['author'], []),
    index('authors', 'posts', [], ['author']),
    index('all_follows', 'follows', [], []),
    index('secret_authors', 'secrets', [], ['author']),
    index('unreadable', 'posts', [], ['author']),
    create('follows', 1, { who: 'me', whom: 'ann' }),
    create('blocks', 1, { who: 'me', whom: 'bob' }),
    create('posts', 1, { author: 'ann' }),
    create('posts', 2, { author: 'bob' }),
    create('posts', 3, { author: 'cy' }),
    create('secrets', 1, { author: 'ann' }),
    create('secrets', 2, { author: 'dee' }),
  ])
    await runText(server, admin, text)
  const indexes = ['followees', 'blocked', 'by_author', 'authors', 'all_follows', 'secret_authors']
  const mayReadIndexes = indexes.map(name => read(`Index("${name}")`))
  reader = await keyOfRole('reader', [
    ...mayReadIndexes,
    read('Collection("posts")', 'read: true, history_read: true'),
  ])
  nobody = await keyOfRole('nobody', mayReadIndexes)
})

/** Returns the result of a query for the caller who may read posts. */
const asReader = (text: string) => runText(server, reader, text)

const data = async (set: string, secret = reader) =>
  ((await runText(server, secret, `Paginate(${set})`)) as { data: unknown[] }).data

const followed = 'Join(Match("followees", "me"), Index("by_author"))'

describe('a join through hidden documents', () => {
  test('has the same elements for every function', async () => {
    assert.deepEqual(
      await asReader(
        `[Count(${followed}), Exists(${followed}), IsEmpty(${followed}), First(${followed}),
          ContainsValue(Ref(Collection("posts"), "1"), ${followed}), Select("ref", Get(${followed}))]`,
      ),
      [1, true, false, post(1), true, post(1)],
    )
  })

  test('shows the events of the readable targets', async () => {
    const events = (await data(`Events(${followed})`)) as { action: string; document: unknown }[]
    const received = events.map(({ action, document }) => [action, document])
    assert.deepEqual(received, [['add', post(1)]])
  })
})

describe('hidden documents of a member', () => {
  test('take part in an intersection', async () => {
    assert.deepEqual(await data('Intersection(Match("authors"), Match("followees", "me"))'), ['ann'])
    // The element is the one of the first member, whose document is hidden here.
    assert.deepEqual(await data('Intersection(Match("followees", "me"), Match("authors"))'), [])
  })

  test('cause no events of their own', async () => {
    const set = 'Events(Union(Match("authors"), Match("secret_authors")))'
    assert.equal((await data(set)).length, 3)
    assert.equal(await asReader(`Count(${set})`), 3)
    assert.equal((await data(set, nobody)).length, 0)
  })
})

describe('errors of lambdas', () => {
  const failing = 'Lambda("author", Abort(Var("author")))'
  const filtered = `Filter(Match("secret_authors"), ${failing})`
  const joined = `Join(Match("secret_authors"), ${failing})`

  test('do not show hidden elements', async () => {
    const expected = [
      [filtered, []],
      [`Distinct(${filtered})`, []],
      [`Union(Match("authors"), ${filtered})`, ['ann', 'bob', 'cy']],
      [`Difference(Match("authors"), ${filtered})`, ['ann', 'bob', 'cy']],
      [`Intersection(Reverse(Match("authors")), Reverse(${filtered}))`, []],
      [joined, []],
      [`Union(Match("authors"), ${joined})`, ['ann', 'bob', 'cy']],
      [`Events(${joined})`, []],
      [`Join(${filtered}, Lambda("author", Match("authors")))`, []],
    ] as const
    for (const [set, values] of expected) assert.deepEqual(await data(set), values, set)
  })

  test('show visible elements', async () => {
    for (const set of [
      `Distinct(Filter(Match("authors"), ${failing}))`,
      `Join(Match("authors"), ${failing})`,
    ]) {
      const { status, text } = await sendText(server, reader, `Paginate(${set})`)
      assert.equal(status, 400)
      assert.match(text, /"transaction aborted","description":"ann"/)
    }
  })
})

describe('hidden documents stay hidden', () => {
  const hidden = [
    'Match("followees", "me")',
    'Match("all_follows")',
    'Documents(Collection("follows"))',
    'Distinct(Match("secret_authors"))',
    'Reverse(Match("secret_authors"))',
    'Range(Match("secret_authors"), [], [])',
    'Filter(Match("secret_authors"), Lambda("author", true))',
    'Union(Match("all_follows"), Documents(Collection("blocks")))',
    'Union(Match("secret_authors"), Match("blocked", "me"))',
    'Intersection(Documents(Collection("follows")), Match("all_follows"))',
    'Difference(Match("secret_authors"), Match("authors"))',
    'Join(Match("followees", "me"), Lambda("whom", Match("secret_authors")))',
    'Events(Match("secret_authors"))',
    'Events(Documents(Collection("follows")))',
    'Events(Difference(Match("secret_authors"), Match("authors")))',
    'Events(Join(Match("followees", "me"), Lambda("whom", Match("secret_authors"))))',
  ]
  for (const set of hidden) {
    test(`in ${set}`, async () => {
      assert.ok((await data(set, admin)).length > 0)
      assert.deepEqual(await data(set), [])
      const count = `[Count(${set}), Exists(${set}), IsEmpty(${set})]`
      assert.deepEqual(await asReader(count), [0, false, true])
      for (const read of [`First(${set})`, `Get(${set})`]) {
        const { status, text } = await sendText(server, reader, read)
        assert.ok(status === 400 || status === 403 || status === 404, `${status} ${text}`)
        assert.doesNotMatch(text, /ann|bob|dee|"follows"|"blocks"|"secrets"/)
      }
    })
  }

  test('the predicate of a filter gets no hidden element, whose value an error could show', async () => {
    const set = 'Filter(Match("secret_authors"), Lambda("author", Abort(Var("author"))))'
    assert.deepEqual(await data(set), [])
    assert.deepEqual(await data(`Reverse(Range(${set}, [], []))`), [])
  })

  test('a member that the caller may not read is ignored', async () => {
    assert.deepEqual(await data('Union(Match("unreadable"), Match("authors"))'), ['ann', 'bob', 'cy'])
    assert.deepEqual(await data('Difference(Match("authors"), Match("unreadable"))'), ['ann', 'bob', 'cy'])
    assert.deepEqual(await data('Join(Match("followees", "me"), Index("unreadable"))'), [])
    const denied = await sendText(
      server,
      reader,
      'Paginate(Difference(Match("unreadable"), Match("authors")))',
    )
    assert.equal(denied.status, 403)
  })

  test('one member with unrestricted_read shows nothing of the other members', async () => {
    const secret = await keyOfRole('half', [
      read('Index("authors")', 'unrestricted_read: true'),
      read('Index("secret_authors")'),
      read('Index("followees")', 'unrestricted_read: true'),
      read('Index("by_author")'),
    ])
    assert.deepEqual(await data('Match("authors")', secret), ['ann', 'bob', 'cy'])
    assert.deepEqual(await data('Union(Match("authors"), Match("secret_authors"))', secret), [])
    assert.deepEqual(await data(followed, secret), [])
  })
})
