// An export that is imported under another name and exported again has the same bytes, whatever the database contains.
// `SEED=7` replays one seed; `SEED=1000..1999` runs many.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RandomSource, seedsToRun } from '../support/seeded.ts'
import { contentOf, exportTo } from './exports.ts'
import { openTestDatabase } from './importing.ts'
import { fillRandomly } from './random-database.ts'

/** The files with parsed documents. Documents from CSV have the order of the columns, which deepEqual does not compare. */
function parsed(files: Readonly<Record<string, string>>) {
  return Object.entries(files).map(([path, text]) => [
    path,
    path.endsWith('.jsonl') || path.endsWith('.jsonl.gz')
      ? text
          .trimEnd()
          .split('\n')
          .map(line => JSON.parse(line) as unknown)
      : text,
  ])
}

for (const seed of seedsToRun(Array.from({ length: 20 }, (_, n) => n + 1))) {
  test(`export, import, export: seed ${seed}`, async t => {
    const first = await openTestDatabase(t)
    await fillRandomly(first, seed)
    const random = new RandomSource(seed)
    const options = {
      fileFormat: random.below(2) === 0 ? 'json' : random.below(2) === 0 ? 'jsonl' : 'csv',
      gzip: random.below(4) === 0,
      history: random.below(2) === 0,
    } as const
    const folder = await exportTo(first, 'first', options)
    const second = await openTestDatabase(t)
    const report = await second.import([folder], { database: ['other'] })
    const failed = report.data.schema.filter(({ outcome }) => outcome === 'failed')
    assert.deepEqual([failed, report.total().bad, report.data.lost], [[], 0, {}])
    const again = await exportTo(second, 'second', { ...options, database: ['other'] })
    assert.deepEqual(await contentOf(again), await contentOf(folder))
    if (options.fileFormat !== 'csv') return
    const lines = { ...options, fileFormat: 'jsonl' } as const
    const one = await exportTo(first, 'first lines', lines)
    const other = await exportTo(second, 'second lines', { ...lines, database: ['other'] })
    assert.deepEqual(parsed(await contentOf(other)), parsed(await contentOf(one)))
  })
}
