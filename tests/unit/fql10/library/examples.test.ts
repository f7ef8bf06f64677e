// Runs every example of the library, so that the results in the reference are correct.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Members } from '../../../../src/fql10/library/entry.ts'
import { allTables, dataTables } from '../../../../src/fql10/library/tables.ts'
import { run } from '../support.ts'

/** The examples of a table with fixed results. */
function examplesOf({ entries, apply }: Members) {
  const all = [...entries.values(), ...(apply === undefined ? [] : [apply])]
  return all.map(({ example }) => example).filter(([, result]) => result !== '…')
}

for (const table of allTables) {
  // tests/http/v10-examples.test.ts runs these examples in a database.
  if (dataTables.includes(table)) continue
  const examples = examplesOf(table)
  if (examples.length === 0) continue
  test(`examples of ${table.name}`, () => {
    for (const [query, expected] of examples) {
      assert.deepEqual(run(query, { format: 'decorated' }).data, expected, query)
    }
  })
}
