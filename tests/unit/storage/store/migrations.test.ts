// Stored versions have the shape of their collection: in every kind of read, whenever they were written, and during the
// rewrite in the background.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { micros } from '../../../../src/base/micros.ts'
import { readMigration } from '../../../../src/model/schema/migration-effects.ts'
import { appendSteps, type Step } from '../../../../src/model/schema/migration-steps.ts'
import { Background } from '../../../../src/storage/store/background.ts'
import { continueRewrite } from '../../../../src/storage/store/document-rewriter.ts'
import { versionShapeTime } from '../../../../src/storage/store/records.ts'
import { isObject, type Ref, type Value } from '../../../../src/values/value.ts'
import { Bench, data, documentRef, field, matchIds, second } from './support.ts'

const move = (from: string, to: string): Step => ({ kind: 'move', from: [from], to: [to] })

/** A collection of documents `{a: <id>}`; version 0 is superseded. */
async function filled(count = 3): Promise<Bench & { jars: Ref; before: number }> {
  const bench = new Bench(undefined, { readMigration })
  const jars = await bench.createCollection('jars', { history_days: 30n })
  await bench.commit(transaction => {
    for (let id = 0; id < count; id++) transaction.put(documentRef(jars, id), data({ a: -1n }))
  })
  bench.now += second
  const before = await bench.commit(transaction => {
    for (let id = 0; id < count; id++) transaction.put(documentRef(jars, id), data({ a: BigInt(id) }))
  })
  bench.now += second
  return Object.assign(bench, { jars, before })
}

function migrate(bench: Bench, jars: Ref, ...steps: readonly Step[]): Promise<number> {
  return bench.commit(transaction => {
    const fields = transaction.get(jars)?.fields
    const changed = new Map<string, Value>(fields)
    appendSteps(changed, fields, steps)
    transaction.put(jars, changed)
  })
}

function names(fields: ReadonlyMap<string, Value> | undefined): readonly string[] {
  const found = fields?.get('data')
  return found !== undefined && isObject(found) ? [...found.keys()] : []
}

function stepsOf(bench: Bench, jars: Ref): number {
  const steps = bench.read(transaction => transaction.get(jars)?.fields.get('internal_migrations'))
  return Array.isArray(steps) ? steps.length : 0
}

test('documents are read in the present shape, now and in the past, also from the cache', async () => {
  await using bench = await filled()
  const first = documentRef(bench.jars, 1)
  // Read often enough to be cached.
  for (let time = 0; time < 3; time++) bench.get(first)
  await migrate(bench, bench.jars, move('a', 'b'))
  bench.read(transaction => {
    assert.deepEqual(transaction.get(first)?.fields, data({ b: 1n }))
    assert.deepEqual(transaction.get(first, micros(bench.before))?.fields, data({ b: 1n }))
    const contents = Array.from(transaction.versions(first), ({ fields }) => fields)
    assert.deepEqual(contents, [data({ b: -1n }), data({ b: 1n })])
  })
  await migrate(bench, bench.jars, move('b', 'c'))
  for (let time = 0; time < 3; time++) {
    assert.deepEqual(bench.get(first)?.fields, data({ c: 1n }))
  }
})

test('writes store the present shape, into the past too, and later steps apply to it', async () => {
  await using bench = await filled()
  const { jars, before } = bench
  await migrate(bench, jars, move('a', 'b'))
  bench.now += second
  await bench.write(transaction => {
    transaction.put(documentRef(jars, 0), data({ b: 10n, a: 'kept' }))
    transaction.insertVersion(documentRef(jars, 1), micros(before - 1000), data({ b: 11n, a: 'kept' }))
    transaction.insertVersion(documentRef(jars, 9), micros(before), data({ b: 19n, a: 'kept' }))
  })
  bench.read(transaction => {
    assert.deepEqual(transaction.get(documentRef(jars, 0))?.fields, data({ b: 10n, a: 'kept' }))
    assert.deepEqual(transaction.get(documentRef(jars, 9))?.fields, data({ b: 19n, a: 'kept' }))
    const past = transaction.get(documentRef(jars, 1), micros(before - 1000))
    assert.deepEqual(past?.fields, data({ b: 11n, a: 'kept' }))
    assert.deepEqual(transaction.get(documentRef(jars, 1))?.fields, data({ b: 1n }))
  })
  await migrate(bench, jars, { kind: 'drop', path: ['a'] })
  bench.read(transaction => {
    for (const id of [0, 9]) assert.deepEqual(names(transaction.get(documentRef(jars, id))?.fields), ['b'])
  })
})

test('an index that is created later has the present shape', async () => {
  await using bench = await filled()
  await migrate(bench, bench.jars, move('a', 'b'))
  const byB = await bench.createIndex('by_b', { source: bench.jars, terms: [field('b')] })
  await bench.put(documentRef(bench.jars, 2), data({ b: 7n }))
  bench.read(transaction => {
    assert.deepEqual(matchIds(transaction, byB, [1n]), [1n])
    assert.deepEqual(matchIds(transaction, byB, [2n]), [])
    assert.deepEqual(matchIds(transaction, byB, [2n], bench.before), [2n])
    assert.deepEqual(matchIds(transaction, byB, [7n]), [2n])
  })
})

test('versions are rewritten in the background in small steps; then the steps of the migration are removed', async () => {
  await using bench = await filled(700)
  const { jars } = bench
  const time = await migrate(bench, jars, move('a', 'b'))
  const background = new Background(bench.store)
  await background.runOnce()
  await bench.put(documentRef(jars, 699), data({ b: 1n }))
  assert.deepEqual(bench.store.check(), [])
  await background.runAll()
  const outdated = [...bench.rows('document'), ...bench.rows('history')].filter(
    ({ key, value }) => key.length > 19 - 1 && key[9] === 4 && versionShapeTime(value) < time,
  )
  assert.equal(outdated.length, 0)
  assert.equal(stepsOf(bench, jars), 1)
  bench.read(transaction => {
    assert.deepEqual(transaction.get(documentRef(jars, 5))?.fields, data({ b: 5n }))
    assert.equal(transaction.get(documentRef(jars, 5))?.action, 'update')
  })
  await migrate(bench, jars, move('b', 'c'))
  assert.equal(stepsOf(bench, jars), 1)
  assert.deepEqual(bench.get(documentRef(jars, 5))?.fields, data({ c: 5n }))
  await migrate(bench, jars, move('c', 'd'))
  assert.equal(stepsOf(bench, jars), 2)
})

test('a migration may add a large value to many documents', async () => {
  await using bench = await filled(200)
  const value = 'x'.repeat(100_000)
  await migrate(bench, bench.jars, {
    kind: 'add',
    path: ['b'],
    type: { kind: 'scalar', name: 'String' },
    value,
  })
  await new Background(bench.store).runAll()
  assert.deepEqual(bench.get(documentRef(bench.jars, 199))?.fields, data({ a: 199n, b: value }))
  const rewritten = bench.rows('document').filter(row => row.value.length > value.length)
  // The definition of the collection contains the value, too.
  assert.equal(rewritten.length, 201)
})

test('a step of the rewrite ends at a row that takes too long', async () => {
  await using bench = await filled(20)
  await migrate(bench, bench.jars, move('a', 'b'))
  await bench.store.write(({ rows: { catalogue, overlay, reader } }) => {
    let count = 0
    const counting = {
      isOutdated: reader.isOutdated.bind(reader),
      read(...row: Parameters<typeof reader.read>) {
        count++
        return reader.read(...row)
      },
    }
    const rows = { catalogue, overlay, reader: counting }
    continueRewrite(rows, bench.jars.database, Number(bench.jars.id), () => count === 3)
    assert.equal(count, 3)
  })
  await new Background(bench.store).runAll()
  assert.deepEqual(bench.store.check(), [])
})

test('the check finds old versions without a rewrite', async () => {
  const bench = await filled()
  await migrate(bench, bench.jars, move('a', 'b'))
  await bench.writeRows(bench.rows('build').map(({ key }) => ({ key, value: undefined })))
  assert.match(bench.store.check().join('\n'), /has an old shape without a rewrite/)
  await bench.store.close()
})

test('a deleted collection is removed with the rows of its documents', async () => {
  await using bench = await filled()
  await migrate(bench, bench.jars, move('a', 'b'))
  const other = await bench.createCollection('lids')
  const both = await bench.createIndex('both', { source: [bench.jars, other], terms: [field('b')] })
  assert.deepEqual(bench.matchIds(both, [1n]), [1n])
  bench.now += second
  await bench.delete(bench.jars)
  bench.now += second
  await new Background(bench.store).runAll()
  const left = bench.rows('indexLive').filter(({ key }) => key[11] === 0x80)
  assert.equal(left.length, 0)
})
