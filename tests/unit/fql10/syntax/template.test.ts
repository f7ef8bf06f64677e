// Composition of query templates, and rejected templates.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { composeQuery, TemplateError } from '../../../../src/fql10/syntax/template.ts'
import { parseJson } from '../../../../src/values/json.ts'

function composed(template: unknown): string {
  try {
    return composeQuery(parseJson(JSON.stringify(template))).text
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error
    return error.message
  }
}

test('parts are concatenated; parts in containers get parentheses', () => {
  assert.equal(composed({ fql: ['2 +', { fql: ['3 +', '4 +'] }, '5'] }), '2 +3 +4 +5')
  assert.equal(composed({ array: [{ value: 'a' }, '1 + 2'] }), '[<value>, (1 + 2)]')
  assert.equal(composed({ object: { '@k': { value: 'a' }, l: 'x' } }), '{ "@k": <value>, "l": (x) }')
})

test('a container with only values becomes a single value', () => {
  assert.equal(composed({ array: [{ value: 1 }, { object: { k: { value: 2 } } }] }), '<value>')
  assert.equal(composed({ object: {} }), '<value>')
})

test('invalid parts are rejected', () => {
  const oneKey = "Expected an object with a single key 'fql', 'value', 'array', or 'object'."
  assert.equal(composed({ fql: [{ other: 1 }] }), `Unexpected JSON Object Field Name. ${oneKey}`)
  assert.equal(composed({ fql: [5] }), 'Unexpected JSON Integer. Expected query template.')
  assert.equal(composed({ fql: ['a\0'] }), 'FQL strings cannot contain NUL characters')
})
