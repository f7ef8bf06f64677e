// The listing of schema objects, with wrong responses of another program.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allObjects } from '../../src/transfer/query-json.ts'
import { parseJson } from '../../src/values/json.ts'

test('empty pages without an end are an error', async () => {
  let pages = 0
  const page = parseJson('{"data":[],"after":["again"]}')
  const emptyPage = async () => {
    if (++pages > 1_000_001) throw new Error('the list has no end')
    return page
  }
  await assert.rejects(allObjects(emptyPage, 'indexes'), /there are more than 1000000 indexes/)
})

test('a response without a page is an error', async () => {
  for (const text of ['null', '{}', '{"data":1}'])
    await assert.rejects(
      allObjects(async () => parseJson(text), 'roles'),
      /the response is not a page of roles/,
    )
})
