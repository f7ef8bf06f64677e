// Bindings that look up names, while names are renamed, deleted and reused. Entries use the meaning of a name at the time
// when their document was written, and a later evaluation gives the same entries.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Background } from '../../../../src/storage/store/background.ts'
import { openTestEngine, type TestEngine } from '../../../support/engine.ts'
import { RandomSource } from '../../../support/random-source.ts'
import { seedsToRun } from '../../../support/seeded.ts'

const object = (fields: object) => ({ object: fields })
const field = (name: string) => ({ select: ['data', name], from: { var: 'd' } })

/** The reference whose collection a document names. */
const target = { query: { lambda: 'd', expr: { ref: { collection: field('to') }, id: '123' } } }

const indexOf = (name: string) => ({
  create_index: object({
    name,
    source: object({ collection: { collection: 'notes' }, fields: object({ target }) }),
    terms: [object({ field: ['data', 'n'] })],
    values: [object({ binding: 'target' }), object({ field: ['ref'] })],
  }),
})

async function withNotes(): Promise<TestEngine> {
  const engine = openTestEngine()
  await engine.query({ create_collection: object({ name: 'notes' }) })
  return engine
}

async function make(engine: TestEngine, to: string): Promise<unknown> {
  const params = object({ data: object({ n: 1, to }) })
  return ((await engine.query({ create: { collection: 'notes' }, params })) as { ref: unknown }).ref
}

/** The collections that the index points to; `null` for a name that did not resolve. */
async function targets(engine: TestEngine, index = 'by_target'): Promise<unknown[]> {
  const set = { match: { index }, terms: [1] }
  const { data } = (await engine.query({ paginate: set })) as {
    data: [{ '@ref': { collection: { '@ref': { id: string } } } } | null, unknown][]
  }
  return data.map(([ref]) => ref?.['@ref'].collection['@ref'].id ?? null)
}

test('entries keep the meaning of a name from when their document was written', async () => {
  const engine = await withNotes()
  const query = async (expression: object) => {
    const result = await engine.query(expression)
    assert.deepEqual(engine.store.check(), [], JSON.stringify(expression))
    return result
  }
  await query(indexOf('by_target'))
  await query({ create_collection: object({ name: 'users' }) })
  const early = await make(engine, 'nobody')
  const first = await make(engine, 'users')
  assert.deepEqual(await targets(engine), ['users', null])
  await query({ update: { collection: 'users' }, params: object({ name: 'people' }) })
  assert.deepEqual(await targets(engine), ['people', null], 'the same collection under its new name')
  await query({ create_collection: object({ name: 'users' }) })
  const second = await make(engine, 'users')
  assert.deepEqual(await targets(engine), ['people', 'users', null])
  const change = (ref: unknown) => query({ update: ref, params: object({ data: object({ more: 1 }) }) })
  await change(first)
  assert.deepEqual(await targets(engine), ['users', 'users', null], 'written again, it means the new one')
  await query({ delete: { collection: 'people' } })
  await query({ create_collection: object({ name: 'nobody' }) })
  assert.deepEqual(await targets(engine), ['users', 'users', null])
  await change(early)
  assert.deepEqual(await targets(engine), ['users', 'users', 'nobody'])
  await query(indexOf('later'))
  await query({ delete: second })
  await query({ delete: { collection: 'users' } })
  await query({ delete: first })
  await query({ delete: early })
  assert.deepEqual(await targets(engine), [])
  assert.deepEqual(await targets(engine, 'later'), [])
  await engine.close()
})

test('an index over older documents resolves names as of its own creation', async () => {
  const engine = await withNotes()
  await make(engine, 'users')
  await engine.query({ create_collection: object({ name: 'users' }) })
  await engine.query(indexOf('by_target'))
  assert.deepEqual(await targets(engine), ['users'])
  const past = { time: '2020-01-01T00:00:00Z' }
  const params = object({ data: object({ n: 1, to: 'users' }) })
  const ref = { ref: { collection: 'notes' }, id: '7' }
  await engine.query({ insert: ref, ts: past, action: 'create', params })
  assert.deepEqual(await targets(engine), ['users', 'users'], 'and so does what is written into the past')
  assert.deepEqual(engine.store.check(), [])
  await engine.close()
})

test('a name that the same query creates does not resolve for its documents, now and later', async () => {
  const engine = await withNotes()
  await engine.query(indexOf('by_target'))
  const params = object({ data: object({ n: 1, to: 'users' }) })
  const create = { create: { collection: 'notes' }, params }
  await engine.query({ do: [{ create_collection: object({ name: 'users' }) }, create] })
  assert.deepEqual(await targets(engine), [null])
  await engine.query({
    do: [{ update: { collection: 'users' }, params: object({ name: 'people' }) }, create, indexOf('other')],
  })
  assert.deepEqual(await targets(engine), ['people', null])
  assert.deepEqual(await targets(engine, 'other'), ['people', 'people'])
  assert.deepEqual(engine.store.check(), [])
  await engine.close()
})

for (const seed of seedsToRun([1, 2, 3, 4])) {
  test(`whatever happens to names, every entry matches its version (seed ${seed})`, async () => {
    const random = new RandomSource(seed)
    const pick = <T>(of: readonly T[]): T => of[random.below(of.length)] as T
    const engine = await withNotes()
    const names = ['a', 'b', 'c']
    const ids = ['1', '2', '3', '4']
    const document = () => ({ ref: { collection: 'notes' }, id: pick(ids) })
    const params = () => object({ data: object({ n: 1, to: pick(names) }) })
    const past = () => ({ time_subtract: { now: null }, offset: random.below(900), unit: 'millis' })
    const steps: readonly (() => object)[] = [
      () => ({ create_collection: object({ name: pick(names) }) }),
      () => ({ update: { collection: pick(names) }, params: object({ name: pick(names) }) }),
      () => ({ delete: { collection: pick(names) } }),
      () => ({ create: document(), params: params() }),
      () => ({ update: document(), params: params() }),
      () => ({ delete: document() }),
      () => ({ insert: document(), ts: past(), action: 'update', params: params() }),
      () => ({ remove: document(), ts: past(), action: 'create' }),
      () => indexOf(`i${random.below(3)}`),
      () => ({
        do: [{ create_collection: object({ name: pick(names) }) }, { update: document(), params: params() }],
      }),
    ]
    let done = 0
    for (let step = 0; step < 120; step++) {
      const expression = pick(steps)()
      const { body, status } = await engine.send(expression)
      assert.ok(status < 500, `${JSON.stringify(expression)}: ${body}`)
      if (status < 300) done++
      assert.deepEqual(engine.store.check(), [], JSON.stringify(expression))
    }
    assert.ok(done > 25, `${done} steps did something`)
    await new Background(engine.store).runAll()
    assert.deepEqual(engine.store.check(), [])
    await engine.close()
  })
}
