// Checks that the page for operators lists all settings of the program.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withSettings } from '../../scripts/generate-settings.ts'
import { read } from './sources.ts'

test('docs/operations.md is current (else: node scripts/generate-settings.ts)', () => {
  const page = read('docs/operations.md')
  assert.equal(page, withSettings(page))
})
