// The text of a query shows whether the query writes, without parsing the text.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { families } from '../../../src/fql4/functions/registry.ts'
import { version4 } from '../../../src/fql4/language.ts'

const seemsToWrite = (text: string) => version4.seemsToWrite?.(text)

test('the example of a function seems to write exactly if it writes; only `replace` is also a key of a read', () => {
  for (const { example, name, until } of families.flatMap(family => family.definitions)) {
    const [text] = example
    const { effect } = version4.parse({ body: text, dialect: until ? '2.12' : '4' })
    assert.equal(seemsToWrite(text), effect === 'write' && name !== 'replace', text)
  }
})

test('white space before the colon, and keys and values that contain the name of a function', () => {
  assert.equal(seemsToWrite('{"params":{},"create"\n :{"var":"x"}}'), true)
  for (const text of [
    '"create"',
    '{"object":{"created":1}}',
    '{"concat":["\\"create\\":","create:"]}',
    '[]',
  ]) {
    assert.equal(seemsToWrite(text), false, text)
  }
})
