// The library has exactly the names of the original language, except for listed names with a reason.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allTables, globals } from '../../../../src/fql10/library/tables.ts'
import { Module } from '../../../../src/fql10/value.ts'
import { inventory, notBuilt } from './inventory.ts'

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
const there = built()

for (const [group, names] of Object.entries(inventory)) {
  test(`the library has the names of ${group}, except for listed ones`, () => {
    const missing = words(names).filter(name => !there.get(group)?.has(name))
    const listed = notBuilt[group]?.names ?? ''
    assert.deepEqual(
      missing.toSorted(),
      listed === '' ? [] : words(listed).toSorted(),
      'notBuilt only shrinks',
    )
  })
}

test('the library has no names beyond those of the original language', () => {
  for (const [group, names] of there) {
    const known = new Set(words(inventory[group] ?? ''))
    assert.deepEqual(
      [...names].filter(name => !known.has(name)),
      [],
      group,
    )
  }
})
