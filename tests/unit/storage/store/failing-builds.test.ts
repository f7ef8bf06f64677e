// An index that cannot be built affects only its owner: other builds and the sweeper continue. The index has the reason,
// and the build is retried after a change.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMemory } from '../../../../src/storage/kv/memory.ts'
import { Background } from '../../../../src/storage/store/background.ts'
import { BuildFailure, indexBuilderLimits } from '../../../../src/storage/store/index-builder.ts'
import { openTestEngine, type TestEngine } from '../../../support/engine.ts'
import { SteppedStore } from '../../../support/seeded-store.ts'

const object = (fields: object) => ({ object: fields })
const many = Array.from({ length: 400 }, (_, n) => n)
/** More combinations than an index may have for one document. */
const wide = object({ data: object({ a: many, b: many }) })
const narrow = object({ data: object({ a: [1], b: [2] }) })
const documents = indexBuilderLimits.synchronousIndexBuildMax + 10

const fill = {
  foreach: {
    lambda: 'n',
    expr: { create: { collection: 'c' }, params: object({ data: object({ a: { var: 'n' } }) }) },
  },
  collection: Array.from({ length: documents }, (_, n) => n),
}
const wideIndex = {
  create_index: object({
    name: 'wide',
    source: { collection: 'c' },
    terms: [object({ field: ['data', 'a'] }), object({ field: ['data', 'b'] })],
  }),
}
const plainIndex = (name: string) => ({
  create_index: object({ name, source: { collection: 'c' }, terms: [object({ field: ['data', 'a'] })] }),
})

/** Creates a database with many documents in a collection `c`, and a key for it. */
async function database(engine: TestEngine, name: string): Promise<string> {
  await engine.query({ create_database: object({ name }) })
  const key = await engine.query({ create_key: object({ role: 'admin', database: { database: name } }) })
  const { secret } = key as { secret: string }
  await engine.query({ create_collection: object({ name: 'c' }) }, { secret })
  await engine.query(fill, { secret })
  return secret
}

async function shown(engine: TestEngine, secret: string, name: string): Promise<Record<string, unknown>> {
  return (await engine.query({ get: { index: name } }, { secret })) as Record<string, unknown>
}

test('a failing build is reported, delays no other build, and succeeds after its document has changed', async () => {
  await using engine = openTestEngine()
  const errors: unknown[] = []
  const background = new Background(engine.store, error => errors.push(error))
  const [one, two] = [await database(engine, 'one'), await database(engine, 'two')]
  const culprit = (await engine.query({ create: { collection: 'c' }, params: wide }, { secret: one })) as {
    ref: unknown
  }
  await engine.query(wideIndex, { secret: one })
  await engine.query(plainIndex('beside'), { secret: one })
  await engine.query(plainIndex('elsewhere'), { secret: two })
  await background.runAll()
  assert.equal((await shown(engine, one, 'beside')).active, true)
  assert.equal((await shown(engine, two, 'elsewhere')).active, true)
  const failed = await shown(engine, one, 'wide')
  assert.equal(failed.active, false)
  assert.match(
    String(failed.build_error),
    /^Document \d+ of c: Index entries for doc \d+ \(160000\) exceeds threshold/,
  )
  assert.equal(errors.length, 1)
  assert.ok(errors[0] instanceof BuildFailure)
  assert.deepEqual(engine.store.check(), [])

  // Without a change, the background does nothing and writes nothing.
  const { time } = engine.store.read(() => null)
  assert.equal(await background.runOnce(), false)
  assert.equal(engine.store.changes(time, 10).length, 0)

  await engine.query({ update: culprit.ref, params: narrow }, { secret: one })
  await background.runAll()
  const built = await shown(engine, one, 'wide')
  assert.equal(built.active, true)
  assert.equal('build_error' in built, false)
  const found = (await engine.query(
    { paginate: { match: { index: 'wide' }, terms: [1, 2] } },
    { secret: one },
  )) as {
    data: unknown[]
  }
  assert.deepEqual(found.data, [culprit.ref])
  assert.deepEqual(engine.store.check(), [])

  // The version with too many entries is history now. Other versions can be inserted, and the document can be deleted.
  const insert = { insert: culprit.ref, ts: { time: '2020-01-01T00:00:00Z' }, action: 'create' }
  await engine.query({ ...insert, params: narrow }, { secret: one })
  assert.equal((await engine.send({ ...insert, params: wide }, { secret: one })).status, 400)
  await engine.query({ delete: culprit.ref }, { secret: one })
  assert.deepEqual(engine.store.check(), [])
})

test('a build whose bindings take too long fails, and delays no other build', async () => {
  await using engine = openTestEngine()
  const [one, two] = [await database(engine, 'one'), await database(engine, 'two')]
  const long = { repeat: { repeat: 'a\u0301', number: 1024 }, number: 1000 }
  const fields = object({ long: { query: { lambda: 'd', expr: { length: { casefold: long } } } } })
  const source = object({ collection: { collection: 'c' }, fields })
  const terms = [object({ binding: 'long' })]
  await engine.query({ create_index: object({ name: 'slow', source, terms }) }, { secret: one })
  await engine.query(plainIndex('elsewhere'), { secret: two })
  const errors: unknown[] = []
  const background = new Background(engine.store, error => errors.push(error))
  await background.runAll()
  assert.equal(errors.length, 1)
  assert.equal((await shown(engine, two, 'elsewhere')).active, true)
  const failed = await shown(engine, one, 'slow')
  assert.equal(failed.active, false)
  assert.match(String(failed.build_error), /^Document \d+ of c: Computing the bindings takes too long\./)
  await engine.query({ delete: { index: 'slow' } }, { secret: one })
  await background.runAll()
  assert.deepEqual(engine.store.check(), [])
})

test('after a restart a failed build is retried once', async () => {
  await using engine = openTestEngine()
  const secret = await database(engine, 'one')
  await engine.query({ create: { collection: 'c' }, params: wide }, { secret })
  await engine.query(wideIndex, { secret })
  await new Background(engine.store).runAll()
  const { ts } = await shown(engine, secret, 'wide')
  const errors: unknown[] = []
  const restarted = new Background(engine.store, error => errors.push(error))
  await restarted.runAll()
  await restarted.runAll()
  assert.equal(errors.length, 1)
  assert.equal((await shown(engine, secret, 'wide')).ts, ts)
  await engine.query({ delete: { index: 'wide' } }, { secret })
  await restarted.runAll()
  assert.deepEqual(engine.store.check(), [])
})

test('databases take turns, however many builds one of them has', async () => {
  await using engine = openTestEngine()
  const secrets = [await database(engine, 'one'), await database(engine, 'two')] as const
  for (let n = 0; n < 40; n++) await engine.query(plainIndex(`i${n}`), { secret: secrets[0] })
  await engine.query(plainIndex('only'), { secret: secrets[1] })
  const background = new Background(engine.store)
  await background.runOnce()
  assert.equal((await shown(engine, secrets[1], 'only')).active, true)
  const left = engine.store.kv.read(() => 0)
  assert.equal(left, 0)
  const states = await Promise.all(Array.from({ length: 40 }, (_, n) => shown(engine, secrets[0], `i${n}`)))
  assert.ok(
    states.some(state => state.active === false),
    'the other database is not complete yet',
  )
  await background.runAll()
  for (let n = 0; n < 40; n++) assert.equal((await shown(engine, secrets[0], `i${n}`)).active, true)
})

test('a disk failure does not count as a failure of the build', async () => {
  const stepped = new SteppedStore(openMemory())
  await using engine = openTestEngine({ kv: stepped })
  const drive = async <T>(work: Promise<T>, fate: 'applied' | 'rejected' = 'applied'): Promise<T> => {
    let isDone = false
    const done = () => {
      isDone = true
    }
    work.then(done, done)
    while (!isDone) {
      const [stage] = stepped.stages
      if (stage === 'run') stepped.run()
      else if (stage === 'apply') await stepped.apply(fate)
      else if (stage === 'answer') stepped.answer()
      await new Promise(resolve => setImmediate(resolve))
    }
    return work
  }
  await drive(engine.query({ create_collection: object({ name: 'c' }) }))
  await drive(engine.query(fill))
  await drive(engine.query(plainIndex('i')))
  const background = new Background(engine.store)
  await assert.rejects(drive(background.runOnce(), 'rejected'), /disk of the test/)
  const index = (await engine.query({ get: { index: 'i' } })) as Record<string, unknown>
  assert.equal('build_error' in index, false)
  await drive(background.runAll())
  assert.equal(((await engine.query({ get: { index: 'i' } })) as { active: boolean }).active, true)
})

const lookups: readonly (readonly [string, object])[] = [
  ['a reference into a collection that does not exist', [{ ref: { collection: 'nowhere' }, id: '1' }, 1]],
  ['a collection by name', { collection: 'nowhere' }],
  ['an index by name', { index: 'nowhere' }],
  ['a database by name', { database: 'nowhere' }],
  ['a function by name', { function: 'nowhere' }],
  ['a role by name', { role: 'nowhere' }],
]

for (const [what, expr] of lookups) {
  test(`a binding that names ${what} gives null`, async () => {
    await using engine = openTestEngine()
    await engine.query({ create_collection: object({ name: 'c' }) })
    const source = {
      collection: { collection: 'c' },
      fields: object({ b: { query: { lambda: 'd', expr } } }),
    }
    const created = await engine.send({
      create_index: object({
        name: 'bound',
        source: object(source),
        terms: [object({ binding: 'b' }), object({ field: ['data', 'a'] })],
      }),
    })
    if (created.status >= 400) {
      assert.equal(created.status, 400, created.body)
    } else {
      await engine.query({ create: { collection: 'c' }, params: narrow })
      const set = { match: { index: 'bound' }, terms: [null, 1] }
      assert.equal(((await engine.query({ paginate: set })) as { data: unknown[] }).data.length, 1)
      await engine.query(fill)
      assert.deepEqual(engine.store.check(), [])
    }
  })
}

test('a document that an index cannot store can be deleted', async () => {
  await using engine = openTestEngine()
  const secret = await database(engine, 'one')
  const culprit = (await engine.query({ create: { collection: 'c' }, params: wide }, { secret })) as {
    ref: unknown
  }
  await engine.query(wideIndex, { secret })
  const background = new Background(engine.store)
  await background.runAll()
  await engine.query({ delete: culprit.ref }, { secret })
  await background.runAll()
  assert.equal((await shown(engine, secret, 'wide')).active, true)
  assert.deepEqual(engine.store.check(), [])
})
