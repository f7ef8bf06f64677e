// Watched schema files, while an editor replaces them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type SchemaFiles, watchSchema } from '../../src/cli/schema/fsl-files.ts'

test('files are read again if one of them was renamed during a read', async () => {
  const before = new Map([['a.fsl', 'collection A {}']])
  const after = new Map([['b.fsl', 'collection A {}']])
  const missing = Object.assign(new Error('no such file or directory'), { code: 'ENOENT' })
  const results = [before, missing, after]
  const used: SchemaFiles[] = []
  const read = () => {
    const result = results.shift()
    if (result instanceof Map) return result
    throw result
  }
  await watchSchema(
    read,
    files => void used.push(files),
    () => used.length === 2,
  )
  assert.deepEqual(used, [before, after])
})
