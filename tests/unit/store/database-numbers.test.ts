// Ways along databases do not trust what is stored: a number belongs to one database, none lies in itself, and a reference
// means the database that lies where it says.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { micros } from '../../../src/base/micros.ts'
import { native, Ref, rootDatabase } from '../../../src/values/value.ts'
import { Bench, data, object } from './support.ts'

const databaseRef = (parent: bigint, id: bigint) => new Ref(parent, native.databases, id)

test('a database cannot be given the number of another one, or of the root', async () => {
  const bench = new Bench()
  await bench.write(transaction => {
    transaction.put(databaseRef(rootDatabase, 11n), object({ name: 'own' }))
    transaction.put(databaseRef(rootDatabase, 12n), object({ name: 'other' }))
  })
  for (const taken of [12n, rootDatabase]) {
    await assert.rejects(
      bench.write(transaction => transaction.put(databaseRef(11n, taken), object({ name: 'up' }))),
      /the number of a database is its own/,
    )
  }
  await assert.rejects(
    bench.write(transaction =>
      transaction.insertVersion(databaseRef(11n, 12n), micros(5), object({ name: 'up' })),
    ),
    /the history of schema objects is not rewritten/,
  )
  bench.read(({ catalogue }) => {
    assert.equal(catalogue.resolve(11n, native.databases, 'up'), undefined)
    assert.deepEqual(
      catalogue.lineage(12n).map(({ name }) => name),
      ['other'],
    )
    assert.equal(catalogue.databaseAt(databaseRef(rootDatabase, 12n))?.name, 'other')
    assert.equal(catalogue.databaseAt(databaseRef(11n, 12n)), undefined)
    assert.equal(catalogue.databaseAt(databaseRef(11n, rootDatabase)), undefined)
    assert.equal(catalogue.database(rootDatabase), undefined)
  })
  await bench.close()
})

test('databases that lie in each other end a request, and not the process', async () => {
  for (const circle of [[21n], [21n, 22n], [21n, 22n, 23n, 24n, 25n]]) {
    const bench = new Bench()
    await bench.write(transaction => {
      for (const [at, id] of circle.entries())
        transaction.put(databaseRef(circle.at(at - 1) as bigint, id), object({ name: `d${id}` }))
      // On the way into the circle, too.
      transaction.put(databaseRef(21n, 30n), object({ name: 'inner' }))
    })
    for (const id of [...circle, 30n]) {
      assert.throws(
        () => bench.read(({ catalogue }) => catalogue.isLive(id)),
        /no database contains itself/,
        String(id),
      )
    }
    await bench.close()
  }
})

test('a version of the past is no larger than a present one', async () => {
  const bench = new Bench()
  const large = data({ text: 'x'.repeat(8_400_000) })
  await assert.rejects(
    bench.write(transaction => transaction.insertVersion(new Ref(rootDatabase, 1024, 1n), micros(5), large)),
    /exceeds threshold/,
  )
  await bench.close()
})
