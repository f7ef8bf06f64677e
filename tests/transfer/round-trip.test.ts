// A database that is exported and imported under another name has the same documents, and its export has the same
// bytes, in every file format and whatever the database contains. `SEED=7` replays one seed; `SEED=1000..1999` runs many.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseJson } from '../../src/values/json.ts'
import { writeJson } from '../../src/values/write-json.ts'
import { RandomSource, seedsToRun } from '../support/seeded.ts'
import { contentOf, exportTo } from './exports.ts'
import { openTestDatabase, type TestDatabase } from './importing.ts'
import { fillRandomly } from './random-database.ts'

/** TypeScript does not declare the third parameter of the reviver: the text of a number. */
type ExactParse = (
  text: string,
  revive: (name: string, value: unknown, context: { readonly source: string }) => unknown,
) => unknown

/** Lists what a page contains, with an expression for each element `each`. */
const all = (set: object, expr: unknown) => ({
  select: ['data'],
  from: { map: { lambda: 'each', expr }, collection: { paginate: set, size: 1000 } },
})
const each = { var: 'each' }

/**
 * All documents of a database and its child databases, as version 4 returns them. With `history`, also all their
 * versions; otherwise without the times of the writes. Numbers are texts, so that 1 differs from 1.0.
 */
async function documentsOf(
  database: TestDatabase,
  path: readonly string[],
  history: boolean,
): Promise<object> {
  const document = history ? [{ get: each }, all({ events: each }, each)] : { get: each }
  const query = [
    all({ databases: null }, { select: ['name'], from: { get: each } }),
    all({ collections: null }, [each, all({ documents: each }, document)]),
  ]
  const text = writeJson(await database.connection.query(path, parseJson(JSON.stringify(query))))
  const exact = (name: string, value: unknown, { source }: { readonly source: string }) =>
    name === 'ts' && !history ? undefined : typeof value === 'number' ? source : value
  const [names, collections] = (JSON.parse as ExactParse)(text, exact) as readonly [
    readonly string[],
    readonly unknown[],
  ]
  const children = await Promise.all(
    names.map(async name => [name, await documentsOf(database, [...path, name], history)] as const),
  )
  // An import may create collections in another order.
  const sorted = collections.toSorted((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1))
  return { collections: sorted, children: Object.fromEntries(children) }
}

for (const seed of seedsToRun(Array.from({ length: 20 }, (_, n) => n + 1))) {
  test(`export, import, export: seed ${seed}`, async t => {
    const first = await openTestDatabase(t)
    await fillRandomly(first, seed)
    const random = new RandomSource(seed)
    for (const fileFormat of ['json', 'jsonl', 'csv'] as const) {
      const options = {
        fileFormat,
        gzip: fileFormat === 'json' || random.below(4) === 0,
        history: random.below(2) === 0,
      }
      const folder = await exportTo(first, fileFormat, options)
      const second = await openTestDatabase(t)
      const report = await second.import([folder], { database: ['other'] })
      const failed = report.data.schema.filter(({ outcome }) => outcome === 'failed')
      assert.deepEqual([failed, report.total().bad, report.data.lost], [[], 0, {}])
      assert.deepEqual(
        await documentsOf(second, ['other'], options.history),
        await documentsOf(first, ['moved'], options.history),
        fileFormat,
      )
      const again = await exportTo(second, 'second', { ...options, database: ['other'] })
      const content = await contentOf(folder)
      assert.deepEqual(await contentOf(again), content, fileFormat)
      for (const [path, text] of Object.entries(content))
        if (/data\/.*\.json(?:\.gz)?$/.test(path)) JSON.parse(text)
    }
  })
}
