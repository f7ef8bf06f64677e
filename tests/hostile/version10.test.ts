// Queries of version 10 made up from its grammar: each gets a documented answer, none an error of the service's own.
// `SEED=7` replays one seed; `SEED=1000..1999` runs many.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { send } from '../support/http.ts'
import { seedsToRun } from '../support/seeded.ts'
import { type RunningServer, startServer } from '../support/server.ts'
import { RandomSource } from '../unit/store/random-source.ts'
import { QueryMaker } from './grammar10.ts'

let server: RunningServer
before(async () => {
  server = await startServer()
  for (const query of [
    'Collection.create({ name: "Author", indexes: { byA: { terms: [{ field: "a" }] } } })',
    'Function.create({ name: "twice", body: "x => [x, x]" })',
    'Set.sequence(1, 40).forEach(n => Author.create({ id: n, a: n % 3, b: { c: [n, "x"] } }))',
  ]) {
    const body = JSON.stringify({ query })
    const { status, text } = await send(server, { path: '/query/1', secret: server.rootSecret, body })
    assert.equal(status, 200, text)
  }
})
after(() => server?.stop())

/** Queries of each seed. */
const count = 2_000
/** Requests that are under way at a time. */
const atOnce = 16

/** What a query may be answered with; 440 and 503: its time was up. */
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
      }
      const { status, text } = await send(server, {
        path: '/query/1',
        secret: server.rootSecret,
        body: JSON.stringify({ query }),
        headers,
      })
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      if (!documented.has(status)) wrong.push(`${status} for ${query}\n${text.slice(0, 300)}`)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, ask))
  assert.deepEqual(wrong, [])
  // Nonsense alone would say little.
  assert.ok((statuses.get(200) ?? 0) > count / 20, JSON.stringify([...statuses]))
  assert.doesNotMatch(server.stderr(), /a request failed|internal/i)
}

for (const seed of seedsToRun([20_261_122, 20_261_123])) {
  test(`queries from seed ${seed} are answered as documented`, () => assertDocumented(seed))
}
