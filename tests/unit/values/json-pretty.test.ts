// The pretty-printer of JSON.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { prettyPrint } from '../../../src/values/json-pretty.ts'
import { fc } from '../../support/fast-check.ts'

describe('prettyPrint', () => {
  const table: readonly [string, string][] = [
    ['1', '1\n'],
    ['"a:{b},  \\" c"', '"a:{b},  \\" c"\n'],
    ['{}', '{}\n'],
    ['[]', '[]\n'],
    ['{"a":1}', '{ "a": 1 }\n'],
    ['[1,[],{"a":{}}]', '[ 1, [], { "a": {} } ]\n'],
    [
      `{"errors":[{"position":[],"code":"unauthorized","description":"${'x'.repeat(40)}"}]}`,
      `{\n  "errors": [\n    {\n      "position": [],\n      "code": "unauthorized",\n      "description": "${'x'.repeat(40)}"\n    }\n  ]\n}\n`,
    ],
    [`[{"a":[1,2]},"${'y'.repeat(60)}"]`, `[\n  { "a": [ 1, 2 ] },\n  "${'y'.repeat(60)}"\n]\n`],
  ]
  for (const [json, text] of table) test(json.slice(0, 40), () => assert.equal(prettyPrint(json), text))

  test('changes the layout only', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), document => {
        const text = prettyPrint(JSON.stringify(document))
        assert.equal(JSON.stringify(JSON.parse(text)), JSON.stringify(document))
      }),
    )
  })
})
