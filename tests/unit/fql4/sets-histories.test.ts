// Histories of sets and documents in queries, on a store in memory: elements added to and removed from combined sets,
// joins, event cursors, reads at a past time.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTestEngine } from '../../support/engine.ts'

interface Event {
  readonly ts: number
  readonly action: string
  readonly document: unknown
  readonly data?: unknown
}

interface Page {
  readonly data: readonly Event[]
  readonly before?: unknown
  readonly after?: unknown
}

type Fields = Readonly<Record<string, unknown>>

const object = (fields: Fields) => ({ object: fields })
const things = { '@ref': { id: 'things', collection: { '@ref': { id: 'collections' } } } }
const thing = (id: number) => ({ '@ref': { id: String(id), collection: things } })
const match = (index: string, term: unknown) => ({ match: { index }, terms: term })
const documents = { documents: { collection: 'things' } }
const params = (data: Fields) => object({ data: object(data) })
const create = (id: number, data: Fields) => ({
  create: { ref: { collection: 'things' }, id },
  params: params(data),
})
const update = (id: number, data: Fields) => ({ update: thing(id), params: params(data) })

class Things {
  readonly #engine = openTestEngine()

  async open(): Promise<this> {
    await this.#engine.query({ create_collection: object({ name: 'things' }) })
    for (const name of ['a', 'b']) await this.index(`by_${name}`, name)
    return this
  }

  async index(name: string, term: string, ...values: readonly string[]): Promise<void> {
    const field = (path: string) => object({ field: ['data', path] })
    const fields = { name, source: { collection: 'things' }, terms: [field(term)], values: values.map(field) }
    await this.#engine.query({ create_index: object(fields) })
  }

  /** Performs a write and returns its time. */
  async at(query: object): Promise<number> {
    const { body, status, txnTime } = await this.#engine.send(query)
    assert.ok(status < 300, body)
    return txnTime
  }

  async page(set: object, options: Fields = {}): Promise<Page> {
    return (await this.#engine.query({ paginate: set, events: true, ...options })) as Page
  }

  /** Action and document id of every event. */
  async events(set: object, options: Fields = {}): Promise<readonly string[]> {
    const { data } = await this.page(set, options)
    return data.map(
      ({ action, document }) => `${action} ${(document as ReturnType<typeof thing>)['@ref'].id}`,
    )
  }

  async failure(query: object): Promise<unknown> {
    const { position, description } = JSON.parse((await this.#engine.send(query)).body).errors[0]
    return { position, description }
  }

  async count(set: object): Promise<number> {
    return ((await this.#engine.query({ paginate: set })) as { data: readonly unknown[] }).data.length
  }

  close(): Promise<void> {
    return this.#engine.close()
  }
}

async function withThings(work: (things: Things) => Promise<void>): Promise<void> {
  const things = await new Things().open()
  try {
    await work(things)
  } finally {
    await things.close()
  }
}

test('a union adds and removes the elements of its members, once', () =>
  withThings(async things => {
    await things.at(create(1, { a: 1, b: 1 }))
    await things.at(update(1, { b: 2 }))
    await things.at({ delete: thing(1) })
    const set = { union: [match('by_a', 1), match('by_b', 1)] }
    assert.deepEqual(await things.events(set), ['add 1', 'remove 1', 'remove 1'])
    const { data } = await things.page(set, { sources: true, size: 1 })
    assert.equal((data[0] as unknown as { sources: readonly unknown[] }).sources.length, 2)
  }))

test('a join shows events of its target sets while the source contained their element', () =>
  withThings(async things => {
    await things.index('followed', 'follower', 'who')
    await things.at(create(10, { a: 'bob' }))
    await things.at(create(1, { follower: 'ann', who: 'bob' }))
    await things.at(create(11, { a: 'bob' }))
    await things.at({ delete: thing(1) })
    await things.at(create(12, { a: 'bob' }))
    await things.at(create(2, { follower: 'ann', who: 'bob' }))
    await things.at({ delete: thing(11) })
    const lambda = { lambda: 'who', expr: match('by_a', { var: 'who' }) }
    for (const link of [lambda, { index: 'by_a' }]) {
      const set = { join: match('followed', 'ann'), with: link }
      assert.deepEqual(await things.events(set), ['add 11', 'remove 11'])
      assert.equal(await things.count(set), 2)
    }
  }))

test('a singleton is added and removed, and its document created, updated and deleted', () =>
  withThings(async things => {
    await things.at(create(1, { n: object({ x: 1, y: 1 }), old: true }))
    await things.at(update(1, { n: object({ x: 2 }), old: null }))
    await things.at({ delete: thing(1) })
    assert.deepEqual(await things.events({ singleton: thing(1) }), ['add 1', 'remove 1'])
    assert.deepEqual(
      (await things.page(thing(1))).data.map(({ action, data }) => [action, data]),
      [
        ['create', { n: { x: 1, y: 1 }, old: true }],
        ['update', { n: { x: 2 }, old: null }],
        ['delete', null],
      ],
    )
  }))

test('histories are read forwards and backwards in pages, combined ones also within one time', () =>
  withThings(async things => {
    await things.at({ do: [1, 2, 3].map(id => create(id, { a: 1 })) })
    await things.at({ do: [1, 2].map(id => update(id, { a: 2, b: 1 })) })
    const sets = [match('by_a', 1), documents, { union: [match('by_a', 1), match('by_b', 1)] }]
    for (const set of sets) {
      const all = (await things.page(set)).data
      for (const [start, end] of [
        ['after', 'before'],
        ['before', 'after'],
      ] as const) {
        const walked: Event[] = []
        let cursor: unknown = start === 'after' ? 0 : null
        while (cursor !== undefined) {
          const page: Page = await things.page(set, { size: 1, [start]: { quote: cursor } })
          assert.ok(page[end] !== undefined, 'the given cursor is shown')
          walked.push(...page.data)
          cursor = page[start]
        }
        assert.deepEqual(start === 'after' ? walked : walked.toReversed(), all)
      }
    }
  }))

test('times as cursors: the events of their own time that they include', () =>
  withThings(async things => {
    const ts = await things.at(create(1, { a: 1 }))
    const set = match('by_a', 1)
    const time = {
      '@ts': new Date(ts / 1000).toISOString().replace('Z', `${String(ts % 1000).padStart(3, '0')}Z`),
    }
    for (const cursor of [ts, time]) {
      assert.deepEqual(await things.events(set, { after: cursor }), ['add 1'])
      assert.deepEqual(await things.events(set, { before: cursor }), [])
    }
    assert.deepEqual(await things.events(set, { after: object({ ts }) }), [])
    assert.deepEqual(await things.events(set, { before: object({ ts }) }), ['add 1'])
    assert.deepEqual((await things.page(set, { before: ts })).after, { ts, action: 'add' })
    assert.deepEqual((await things.page(thing(1), { before: 7 })).after, { ts: 7, action: 'create' })
    const at = await things.at({ delete: thing(1) })
    assert.deepEqual(await things.events(set, { after: at }), [], 'remove events come before add events')
  }))

test('the history of a native collection continues from a time with the events of that time', () =>
  withThings(async things => {
    const ts = await things.at({ create_collection: object({ name: 'others' }) })
    assert.deepEqual(await things.events({ collections: null }, { after: object({ ts }) }), ['add others'])
    assert.deepEqual(await things.events({ collections: null }, { after: object({ ts: ts + 1 }) }), [])
  }))

test('an event cursor reports its error with the position', () =>
  withThings(async things => {
    const failure = (cursor: unknown) => things.failure({ paginate: { events: documents }, after: cursor })
    const expected = (position: readonly string[], description: string) => ({ position, description })
    const keys = await failure(object({ ts: 1, foo: 1 }))
    assert.deepEqual(keys, expected(['after'], 'Cannot create event cursor with keys ts, foo'))
    assert.deepEqual(
      await failure(object({ ts: 1, action: 'update' })),
      expected(['after', 'action'], "String 'add', or 'remove' expected, String provided."),
    )
    const document = await failure(object({ ts: 1, action: 'add', document: { collection: 'nope' } }))
    assert.deepEqual(document, expected(['after', 'document'], "Ref refers to undefined collection 'nope'"))
    const noCursor = expected(['after'], 'Object, Integer, Time, or Date expected, String provided.')
    assert.deepEqual(await failure('now'), noCursor)
  }))

test('at a past time histories end there and sets have their former content', () =>
  withThings(async things => {
    const first = await things.at(create(1, { a: 1 }))
    const second = await things.at(create(2, { a: 1, b: 1 }))
    await things.at({ delete: thing(1) })
    const set = match('by_a', 1)
    assert.deepEqual(await things.events(set, { ts: second }), ['add 1', 'add 2'])
    assert.deepEqual(await things.events({ difference: [set, match('by_b', 1)] }, { ts: second }), [
      'add 1',
      'add 2',
      'remove 2',
    ])
    assert.equal((await things.page(documents, { ts: first, events: false })).data.length, 1)
    assert.equal((await things.page({ reverse: set }, { ts: second, events: false })).data.length, 2)
    const rejected = await things.failure({ paginate: set, ts: 0 }).catch((error: unknown) => error)
    assert.match(JSON.stringify(rejected), /Requested timestamp/)
  }))

test('a query sees the events of its own writes', () =>
  withThings(async things => {
    const set = { intersection: [match('by_a', 1), documents] }
    const query = {
      do: [create(1, { a: 1 }), { select: ['data', 0, 'action'], from: { paginate: set, events: true } }],
    }
    assert.deepEqual(await things.failure(query).catch(() => 'no failure'), 'no failure')
    assert.deepEqual(await things.events(set), ['add 1'])
  }))
