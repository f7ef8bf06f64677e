// The progress line of an import or export.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rateLine } from '../../src/cli/progress.ts'

test('documents per second, and the remaining time by the bytes read', () => {
  const rated = { readBytes: 300, totalBytes: 1200, documents: 5000, phase: 'documents' }
  const line = rateLine('import', rated, { elapsedMs: 10_000, first: 0 })
  assert.match(line, /^import \[#######[ ]+\] {2}25 % documents: 5000 documents, 500\/s, 0:30 left$/)
  // The work of an earlier run does not count for the speed of this one.
  assert.match(rateLine('import', rated, { elapsedMs: 10_000, first: 200 }), /, 1:30 left$/)
  assert.match(
    rateLine('import', { ...rated, readBytes: 0, documents: 0 }, { elapsedMs: 0, first: 0 }),
    /0 documents, 0\/s$/,
  )
})
