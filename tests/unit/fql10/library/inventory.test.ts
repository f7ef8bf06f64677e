// The library of version 10 has exactly the names of the inventory.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allTables, globals } from '../../../../src/fql10/library/tables.ts'
import { Module } from '../../../../src/fql10/value.ts'
import { inventory } from './inventory.ts'

/** The names of the library, by the groups of the inventory. */
function built(): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, ReadonlySet<string>>([['globals', new Set(globals.keys())]])
  for (const table of allTables) {
    if (table.name === 'globals') continue
    const value = globals.get(table.name)
    const isModule = table.name.includes('.') || (value instanceof Module && value.members === table)
    const call = table.apply === undefined ? [] : ['()']
    found.set(isModule ? `module ${table.name}` : table.name, new Set([...table.entries.keys(), ...call]))
  }
  return found
}

const words = (text: string) => text.trim().split(/\s+/)
const library = built()

for (const [group, names] of Object.entries(inventory)) {
  test(`the library has the names of ${group}`, () => {
    assert.deepEqual([...(library.get(group) ?? [])].toSorted(), words(names).toSorted())
  })
}

test('the library has no group that the inventory lacks', () => {
  const groups = [...library].filter(([, names]) => names.size > 0).map(([group]) => group)
  assert.deepEqual(groups.toSorted(), Object.keys(inventory).toSorted())
})
