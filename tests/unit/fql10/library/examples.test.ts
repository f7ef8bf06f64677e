// Every example of the library is run: what stands in the reference is so.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Members } from '../../../../src/fql10/library/definition.ts'
import { allTables, dataTables } from '../../../../src/fql10/library/tables.ts'
import { run } from '../support.ts'

/** The examples of a table whose results do not vary. */
function examplesOf({ entries, apply }: Members) {
  const all = [...entries.values(), ...(apply === undefined ? [] : [apply])]
  return all.map(({ example }) => example).filter(([, result]) => result !== '…')
}

for (const table of allTables) {
  // Played in a database, by tests/http/v10-examples.test.ts.
  if (dataTables.includes(table)) continue
  const examples = examplesOf(table)
  if (examples.length === 0) continue
  test(`examples of ${table.name}`, () => {
    for (const [query, expected] of examples) {
      assert.deepEqual(run(query, { format: 'decorated' }).data, expected, query)
    }
  })
}
