// Generated queries of version 10: each gets a documented answer, never an internal error. `SEED=7` replays one seed;
// `SEED=1000..1999` runs many.

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { fql, sendFql } from '../support/http.ts'
import { RandomSource } from '../support/random-source.ts'
import { seedsToRun } from '../support/seeded.ts'
import { serverOfFile } from '../support/server.ts'
import { QueryMaker } from './grammar10.ts'

const server = serverOfFile()
before(async () => {
  for (const query of [
    'Collection.create({ name: "Author", indexes: { byA: { terms: [{ field: "a" }] } } })',
    'Function.create({ name: "twice", body: "x => [x, x]" })',
    'Set.sequence(1, 40).forEach(n => Author.create({ id: n, a: n % 3, b: { c: [n, "x"] } }))',
  ]) {
    await fql(server, server.rootSecret, query)
  }
})

/** Queries per seed. */
const count = 2_000
/** Number of concurrent requests. */
const atOnce = 16

/** Documented statuses; 440 and 503 mean that the time limit was exceeded. */
const documented: ReadonlySet<number> = new Set([200, 400, 409, 440, 503])

async function assertDocumented(seed: number): Promise<void> {
  const maker = new QueryMaker(new RandomSource(seed))
  const wrong: string[] = []
  const statuses = new Map<number, number>()
  let left = count
  const ask = async () => {
    while (left-- > 0 && wrong.length < 10) {
      const query = maker.query()
      const headers = {
        'x-query-timeout-ms': '2000',
        'x-format': 'tagged',
        'x-performance-hints': 'true',
        'x-typecheck': String(left % 2 === 0),
      }
      const { status, text } = await sendFql(server, server.rootSecret, query, {}, headers)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      if (!documented.has(status)) wrong.push(`${status} for ${query}\n${text.slice(0, 300)}`)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, ask))
  assert.deepEqual(wrong, [])
  // Some queries must succeed, because nonsense alone would prove little.
  assert.ok((statuses.get(200) ?? 0) > count / 20, JSON.stringify([...statuses]))
  assert.doesNotMatch(server.stderr(), /a request failed|internal/i)
}

for (const seed of seedsToRun([20_261_122, 20_261_123])) {
  test(`queries from seed ${seed} are answered as documented`, () => assertDocumented(seed))
}
