// Performance hints of version 10: each hint is reported once for each position, however often the code runs.

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { fql, keyOfNewDatabase, sendFql } from '../support/http.ts'
import { serverOfFile } from '../support/server.ts'

const server = serverOfFile()
let admin: string

before(async () => {
  admin = await keyOfNewDatabase(server, 'hints', 'admin')
  await fql(
    server,
    admin,
    'Collection.create({ name: "C", indexes: { byX: { terms: [{ field: "x" }], values: [{ field: "a" }] } } })',
  )
  await fql(server, admin, 'Set.sequence(0, 5).forEach(n => C.create({ x: 1, a: n, name: "n", other: n }))')
})

/** The first lines of the hints of a query. */
async function hintsOf(text: string): Promise<readonly string[]> {
  const { json } = await sendFql(server, admin, text, {}, { 'x-performance-hints': 'true' })
  const { summary } = json as { summary: string }
  return summary.split('\n').filter(line => line.startsWith('performance_hint'))
}

const uncovered = (name: string) =>
  `performance_hint: non_covered_document_read - .${name} is not covered by the C.byX index. See https://docs.fauna.com/performance_hint/non_covered_document_read.`
const wholeSet =
  'performance_hint: full_set_read - Using toArray() causes the full set to be read. See https://docs.fauna.com/performance_hint/full_set_read.'
const scan =
  'performance_hint: collection_scan - Using where() on collection C can cause a read of every document. See https://docs.fauna.com/performance_hint/collection_scan.'

test('a hint is reported once for each position', async () => {
  assert.deepEqual(await hintsOf('C.byX(1).map(d => d.name).toArray()'), [wholeSet, uncovered('name')])
  assert.deepEqual(await hintsOf('C.byX(1).map(d => d.name + d.name + d.other.toString()).take(9)'), [
    uncovered('name'),
    uncovered('name'),
    uncovered('other'),
  ])
  assert.deepEqual(await hintsOf('[1, 2, 3].map(n => C.where(.x == n).first())'), [scan])
})
