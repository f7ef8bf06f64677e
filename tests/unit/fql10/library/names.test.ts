// The names of the library for completion.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { globals } from '../../../../src/fql10/library/tables.ts'
import { libraryNames } from '../../../../src/fql10/text/library.ts'

test('all global functions are listed with their parameters', () => {
  const [first] = libraryNames
  assert.deepEqual([first?.owner, first?.name, first?.parameters], ['', 'abort', '(return: Any)'])
  const listed = new Set(
    libraryNames.filter(({ owner }) => owner === '').map(({ name }) => name.split('.')[0]),
  )
  const functions = [...globals].filter(([, value]) => value.kind !== 'module').map(([name]) => name)
  assert.ok(functions.length > 0)
  const unlisted = functions.filter(name => !listed.has(name))
  assert.deepEqual(unlisted, [])
})
