// Sets and pages in queries, on a store in memory: cursors, bounds, literals, errors and their positions, permissions,
// costs of reads.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTestEngine, type TestEngine } from '../../support/engine.ts'

interface Page {
  readonly data: readonly unknown[]
  readonly before?: unknown
  readonly after?: unknown
}

type Fields = Readonly<Record<string, unknown>>

const object = (fields: Fields) => ({ object: fields })
const things = { '@ref': { id: 'things', collection: { '@ref': { id: 'collections' } } } }
const thing = (id: number) => ({ '@ref': { id: String(id), collection: things } })
const match = (index: string, ...terms: readonly unknown[]) =>
  terms.length === 0 ? { match: { index } } : { match: { index }, terms }
const create = (id: number, data: Fields) => ({
  create: { ref: { collection: 'things' }, id },
  params: object({ data: object(data) }),
})

function index(
  name: string,
  terms: readonly string[],
  values: readonly (string | readonly [string, 'down'])[],
) {
  const field = (path: string) => (path === 'ref' ? ['ref'] : ['data', path])
  return {
    create_index: object({
      name,
      source: { collection: 'things' },
      terms: terms.map(path => object({ field: field(path) })),
      values: values.map(value =>
        object(
          typeof value === 'string' ? { field: field(value) } : { field: field(value[0]), reverse: true },
        ),
      ),
    }),
  }
}

/** Runs `work` on a database with a collection of things and the writes `given`, made one after the other. */
async function withThings(
  given: readonly object[],
  work: (engine: TestEngine, read: (query: object) => Promise<Page>) => Promise<void>,
): Promise<void> {
  await using engine = openTestEngine()
  await engine.query({ create_collection: object({ name: 'things' }) })
  for (const query of given) await engine.query(query)
  await work(engine, async query => (await engine.query(query)) as Page)
}

async function failure(engine: TestEngine, query: object, secret?: string) {
  const { body, status } = await engine.send(query, secret === undefined ? {} : { secret })
  const [error] = JSON.parse(body).errors ?? []
  assert.ok(error, `the query succeeded with ${status}: ${body}`)
  const { position, code, description } = error
  return { status, position, code, description }
}

const fiveByNumber = [index('by_n', [], ['n']), ...[1, 2, 3, 4, 5].map(n => create(n, { n }))]

test('sizes: none, too few, too many', () =>
  withThings(fiveByNumber, async (engine, read) => {
    const page = (start: Fields) => read({ paginate: match('by_n'), ...start })
    assert.deepEqual(await page({ size: 0 }), { data: [] })
    assert.deepEqual(await page({ size: 0, after: 2 }), { before: [2], data: [], after: [2] })
    assert.deepEqual(await page({ size: -1, after: 2 }), { before: [2], data: [] })
    assert.deepEqual(await page({ size: -1, before: 2 }), { data: [], after: [2] })
    assert.deepEqual(await page({ size: 1_000_000 }), { data: [1, 2, 3, 4, 5] })
    const { position, description } = await failure(engine, { paginate: match('by_n'), size: null })
    assert.deepEqual([position, description], [['size'], 'Integer expected, Null provided.'])
  }))

test('null is the end of the values, even where null is a value', () =>
  withThings(
    [index('pairs', [], ['a', 'b']), create(1, { a: 1, b: 1 }), create(2, { b: 2 })],
    async (_, read) => {
      const page = (start: Fields) => read({ paginate: match('pairs'), ...start })
      assert.deepEqual((await page({ before: null })).data, [
        [1, 1],
        [null, 2],
      ])
      assert.deepEqual((await page({ after: null })).data, [])
      assert.deepEqual((await page({ after: [null, 2] })).data, [[null, 2]])
      assert.deepEqual((await read({ paginate: { range: match('pairs'), from: null, to: [] } })).data, [])
      assert.equal((await read({ paginate: { range: match('pairs'), from: [], to: null } })).data.length, 2)
    },
  ))

test('a filter fills pages, and its failures have positions in the query', () =>
  withThings(fiveByNumber, async (engine, read) => {
    const literal = (expr: unknown) => ({
      '@set': {
        filter: { lambda: 'n', expr },
        collection: {
          '@set': { match: { '@ref': { id: 'by_n', collection: { '@ref': { id: 'indexes' } } } } },
        },
      },
    })
    assert.deepEqual(await read({ paginate: literal(true), size: 2 }), { data: [1, 2], after: [3, thing(3)] })
    const even = { equals: [{ bitand: [{ var: 'n' }, 1] }, 0] }
    assert.deepEqual(await read({ paginate: literal(even), size: 1 }), { data: [2], after: [4, thing(4)] })
    assert.deepEqual(await failure(engine, { paginate: literal({ var: 'n' }) }), {
      status: 400,
      position: ['paginate', 'filter'],
      code: 'invalid argument',
      description: 'Boolean expected, Integer provided.',
    })
  }))

test('errors of a join have the position of its lambda', () =>
  withThings(fiveByNumber, async engine => {
    const join = (expr: unknown) => ({ paginate: { join: match('by_n'), with: { lambda: 'n', expr } } })
    assert.deepEqual(await failure(engine, join({ var: 'n' })), {
      status: 400,
      position: ['paginate', 'with'],
      code: 'invalid argument',
      description: 'Set expected, Integer provided.',
    })
    const unequal = { paginate: { join: match('by_n'), with: { lambda: ['a', 'b'], expr: match('by_n') } } }
    assert.deepEqual((await failure(engine, unequal)).position, ['paginate', 'with', 'lambda'])
    const name = await failure(engine, { join: match('by_n'), with: 'by_n' })
    assert.deepEqual(
      [name.position, name.description],
      [['with'], 'Lambda or Index Ref expected, String provided.'],
    )
    const missing = await failure(engine, { join: match('by_n'), with: { index: 'nope' } })
    assert.deepEqual([missing.position, missing.code], [['with'], 'invalid ref'])
  }))

test('terms may be any values except unresolved references', () =>
  withThings([index('by_a_b', ['a', 'b'], []), create(1, { a: 1, b: null })], async (engine, read) => {
    assert.deepEqual((await read({ paginate: match('by_a_b', 1, null) })).data, [thing(1)])
    assert.deepEqual((await read({ paginate: match('by_a_b', 1) })).data, [], 'too few terms match nothing')
    assert.deepEqual(
      await failure(engine, { match: { index: 'by_a_b' }, terms: [1, { collection: 'nope' }] }),
      {
        status: 400,
        position: ['terms', 1],
        code: 'invalid argument',
        description: 'Any expected, Collection Ref provided.',
      },
    )
  }))

test('errors in a literal set make it an invalid expression', () =>
  withThings(fiveByNumber, async engine => {
    const rejected = async (set: Fields) => {
      const { code, position, description } = await failure(engine, { paginate: { '@set': set } })
      return [code, position, description]
    }
    assert.deepEqual(await rejected({ match: 'nope' }), [
      'invalid expression',
      ['paginate', 'index'],
      "Ref refers to undefined index 'nope'",
    ])
    assert.deepEqual(await rejected({ union: [[1], [2]] }), [
      'invalid expression',
      ['paginate'],
      'Invalid set.',
    ])
    assert.deepEqual(await rejected({ documents: 1 }), [
      'invalid expression',
      ['paginate', 'documents'],
      'Collection Ref expected, Integer provided.',
    ])
  }))

test('invalid histories: of a history, a range, a filter', () =>
  withThings(fiveByNumber, async engine => {
    const description = 'Set does not support events history.'
    const twice = await failure(engine, { events: { events: match('by_n') } })
    assert.deepEqual([twice.position, twice.description], [[], description])
    const range = await failure(engine, { paginate: { range: match('by_n'), from: 1, to: 2 }, events: true })
    assert.deepEqual([range.position, range.description], [[], description])
  }))

test('reads are counted by page, once per query, by the partitions of the index', () =>
  withThings(
    [index('by_n', [], ['n']), index('by_k', ['k'], []), create(1, { n: 1, k: 1 })],
    async engine => {
      const cost = async (query: object) => (await engine.send(query)).metrics?.byteReadOps
      assert.equal(await cost({ paginate: match('by_n') }), 8)
      assert.equal(await cost({ paginate: match('by_k', 1) }), 1)
      assert.equal(await cost({ paginate: { documents: { collection: 'things' } } }), 8)
      assert.equal(await cost({ paginate: { union: [match('by_k', 1), match('by_n')] } }), 9)
      assert.equal(await cost([{ paginate: match('by_k', 1) }, { paginate: match('by_k', 1) }]), 1)
      assert.equal(await cost([{ paginate: match('by_k', 1) }, { paginate: match('by_k', 1), size: 1 }]), 2)
      const events = { events: match('by_k', 1) }
      const first = { select: ['data', 0], from: { paginate: events } }
      assert.equal(await cost([first, { contains_value: first, in: events }]), 2)
    },
  ))

test('a page costs the read of a page, whatever the number of elements', () =>
  withThings(
    [index('by_n', [], ['n']), { do: Array.from({ length: 500 }, (_, n) => create(n + 1, { n })) }],
    async engine => {
      const bytes = async (query: object) => (await engine.send(query)).metrics?.storageBytesRead as number
      const [few, all] = [
        await bytes({ paginate: match('by_n'), size: 2, after: 250 }),
        await bytes({ paginate: match('by_n'), size: 500 }),
      ]
      assert.ok(few * 50 < all, `${few} bytes for 2 elements, ${all} for 500`)
    },
  ))

test('roles see the elements that they may read; get of any other is denied', () =>
  withThings([index('by_k', ['k'], []), create(1, { k: 1 })], async engine => {
    const read = (resource: object, ...actions: readonly string[]) =>
      object({ resource, actions: object(Object.fromEntries(actions.map(action => [action, true]))) })
    const secretOf = async (name: string, ...privileges: readonly object[]) => {
      await engine.query({ create_role: object({ name, privileges }) })
      return ((await engine.query({ create_key: object({ role: { role: name } }) })) as { secret: string })
        .secret
    }
    const index = { index: 'by_k' }
    const nothing = await secretOf('nothing')
    const indexOnly = await secretOf('index_only', read(index, 'read'))
    const unrestricted = await secretOf('unrestricted', read(index, 'unrestricted_read'))
    const set = match('by_k', 1)
    const page = (secret: string) => engine.query({ paginate: set }, { secret })
    assert.deepEqual(await failure(engine, { paginate: set }, nothing), {
      status: 403,
      position: ['paginate'],
      code: 'permission denied',
      description: 'Insufficient privileges to perform the action.',
    })
    assert.deepEqual((await failure(engine, { first: set }, nothing)).position, ['first'])
    assert.deepEqual(await page(indexOnly), { data: [] })
    assert.deepEqual((await failure(engine, { get: set }, indexOnly)).position, [])
    assert.equal(await engine.query({ exists: set }, { secret: indexOnly }), false)
    assert.deepEqual(await page(unrestricted), { data: [thing(1)] })
    const documents = { documents: { collection: 'things' } }
    assert.deepEqual(await engine.query({ paginate: documents }, { secret: nothing }), { data: [] })
    assert.equal((await failure(engine, { paginate: { indexes: null } }, nothing)).status, 403)
    assert.equal((await failure(engine, { paginate: thing(1) }, unrestricted)).status, 403)
  }))
