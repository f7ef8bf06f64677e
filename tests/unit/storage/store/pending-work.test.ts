// The report about background work for operators: its database, its progress, and the reason why it does not end.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readMigration } from '../../../../src/model/schema/migration-effects.ts'
import { appendSteps } from '../../../../src/model/schema/migration-steps.ts'
import { Background } from '../../../../src/storage/store/background.ts'
import { indexBuilderLimits } from '../../../../src/storage/store/index-builder.ts'
import { pendingWork } from '../../../../src/storage/store/pending-work.ts'
import type { Value } from '../../../../src/values/value.ts'
import { openTestEngine } from '../../../support/engine.ts'
import { Bench, data, documentRef, second } from './support.ts'

const object = (fields: object) => ({ object: fields })
const documents = indexBuilderLimits.synchronousIndexBuildMax + 300

test('a build is reported with its database and progress, and deleted items until they are removed', async () => {
  await using engine = openTestEngine()
  await engine.query({ create_database: object({ name: 'shop' }) })
  const key = { role: 'admin', database: { database: 'shop' } }
  const { secret } = (await engine.query({ create_key: object(key) })) as { secret: string }
  const run = (expression: object) => engine.query(expression, { secret })
  await run({ create_collection: object({ name: 'c' }) })
  for (let id = 1; id <= documents; id++) {
    await run({ create: { ref: { collection: 'c' }, id: String(id) }, params: object({}) })
  }
  const left = () => engine.store.read(pendingWork).result
  assert.deepEqual(left(), { builds: [], buildsCount: 0, removals: 0 })
  await run({ create_index: object({ name: 'all', source: { collection: 'c' } }) })
  const background = new Background(engine.store)
  const [build] = left().builds
  assert.deepEqual(build, { kind: 'index', database: ['shop'], name: 'all', share: 0, failure: undefined })
  await background.runOnce()
  const share = left().builds[0]?.share ?? 0
  assert.ok(share > 0.2 && share < 1, `${share}`)
  await background.runAll()
  assert.equal(left().buildsCount, 0)
  await run({ delete: { collection: 'c' } })
  assert.equal(left().removals, 2, 'the collection, and its index')
  await background.runAll()
  assert.equal(left().removals, 0)
})

test('the reason why a build does not end is reported', async () => {
  await using engine = openTestEngine()
  const many = Array.from({ length: 400 }, (_, n) => n)
  await engine.query({ create_collection: object({ name: 'c' }) })
  await engine.query({
    foreach: { lambda: 'n', expr: { create: { collection: 'c' } } },
    collection: Array.from({ length: indexBuilderLimits.synchronousIndexBuildMax + 1 }, (_, n) => n),
  })
  await engine.query({
    create: { collection: 'c' },
    params: object({ data: object({ a: many, b: many }) }),
  })
  const terms = ['a', 'b'].map(name => object({ field: ['data', name] }))
  await engine.query({ create_index: object({ name: 'wide', source: { collection: 'c' }, terms }) })
  await new Background(engine.store).runAll()
  assert.match(engine.store.read(pendingWork).result.builds[0]?.failure ?? '', /^Document \d+ of c: /)
})

test('a collection whose documents migrate is reported, too', async () => {
  const bench = new Bench(undefined, { readMigration })
  const jars = await bench.createCollection('jars', {})
  await bench.commit(transaction => {
    for (let id = 0; id < 600; id++) transaction.put(documentRef(jars, id), data({ a: 1n }))
  })
  bench.now += second
  await bench.commit(transaction => {
    const fields = transaction.get(jars)?.fields
    const changed = new Map<string, Value>(fields)
    appendSteps(changed, fields, [{ kind: 'move', from: ['a'], to: ['b'] }])
    transaction.put(jars, changed)
  })
  const left = () => bench.store.read(pendingWork).result
  const [build] = left().builds
  assert.deepEqual([build?.kind, build?.name, build?.share], ['collection', 'jars', 0])
  const background = new Background(bench.store)
  await background.runOnce()
  const share = left().builds[0]?.share ?? 0
  assert.ok(share > 0 && share < 1, `${share}`)
  await background.runAll()
  assert.equal(left().buildsCount, 0)
})
