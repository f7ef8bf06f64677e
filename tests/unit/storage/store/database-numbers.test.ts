// Paths of databases are checked even in stored data: a number belongs to one database, no database contains itself,
// and a reference means the database at its stored place.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { micros } from '../../../../src/base/micros.ts'
import { native, Ref, rootDatabase } from '../../../../src/values/value.ts'
import { Bench, data, object } from './support.ts'

const databaseRef = (parent: bigint, id: bigint) => new Ref(parent, native.databases, id)

test('a database cannot get the number of another database or of the root', async () => {
  await using bench = new Bench()
  await bench.write(transaction => {
    transaction.put(databaseRef(rootDatabase, 11n), object({ name: 'own' }))
    transaction.put(databaseRef(rootDatabase, 12n), object({ name: 'other' }))
  })
  for (const taken of [12n, rootDatabase]) {
    await assert.rejects(
      bench.put(databaseRef(11n, taken), object({ name: 'up' })),
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
    const names = catalogue.lineage(12n).map(({ name }) => name)
    assert.deepEqual(names, ['other'])
    assert.equal(catalogue.databaseAt(databaseRef(rootDatabase, 12n))?.name, 'other')
    assert.equal(catalogue.databaseAt(databaseRef(11n, 12n)), undefined)
    assert.equal(catalogue.databaseAt(databaseRef(11n, rootDatabase)), undefined)
    assert.equal(catalogue.database(rootDatabase), undefined)
  })
})

test('databases that contain each other fail the request and do not crash the process', async () => {
  for (const circle of [[21n], [21n, 22n], [21n, 22n, 23n, 24n, 25n]]) {
    await using bench = new Bench()
    await bench.write(transaction => {
      for (const [at, id] of circle.entries())
        transaction.put(databaseRef(circle.at(at - 1) as bigint, id), object({ name: `d${id}` }))
      // Also for a database below the cycle.
      transaction.put(databaseRef(21n, 30n), object({ name: 'inner' }))
    })
    for (const id of [...circle, 30n]) {
      assert.throws(
        () => bench.read(({ catalogue }) => catalogue.isLive(id)),
        /no database contains itself/,
        String(id),
      )
    }
  }
})

test('past versions have the same size limit as present ones', async () => {
  await using bench = new Bench()
  const large = data({ text: 'x'.repeat(8_400_000) })
  await assert.rejects(
    bench.write(transaction => transaction.insertVersion(new Ref(rootDatabase, 1024, 1n), micros(5), large)),
    /exceeds threshold/,
  )
})
