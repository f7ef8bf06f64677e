// A remembered shape is given for queries that differ in numbers alone, and only where the language would say the same.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { languages } from '../../src/languages.ts'
import { KnownShapes } from '../../src/query-log/known-shapes.ts'
import type { LanguageName } from '../../src/values/code.ts'

const shapeOf = (language: LanguageName, query: string) => languages[language]?.shape(query) ?? ''

function counting() {
  const scanned: string[] = []
  const shapes = new KnownShapes((language, query) => {
    scanned.push(query)
    return shapeOf(language, query)
  })
  return { scanned, shapes }
}

test('a query that differs in numbers alone is not scanned again', () => {
  const { scanned, shapes } = counting()
  const get = (id: string) => `{"get":{"@ref":{"id":"${id}"}}}`
  for (const id of ['300123', '300124', '999999']) {
    assert.equal(shapes.of('4', get(id)), shapeOf('4', get(id)))
  }
  assert.deepEqual(scanned, [get('300123')])
  const byId = (id: string) => JSON.stringify({ query: `users.byId("${id}")!.name` })
  for (const id of ['11', '22']) assert.equal(shapes.of('10', byId(id)), shapeOf('10', byId(id)))
  assert.equal(scanned.length, 2)
})

test('names, words and escapes that differ in a digit are scanned, and each language for itself', () => {
  const { scanned, shapes } = counting()
  const ask = (language: LanguageName, query: string) =>
    assert.equal(shapes.of(language, query), shapeOf(language, query))
  const queries = ['log10', 'log20', 'x1', 'x2'].map(name => JSON.stringify({ query: `Math.${name}(1)` }))
  for (const query of queries) ask('10', query)
  ask('10', '{"query":"\\u0061dd"}')
  ask('10', '{"query":"\\u0062dd"}')
  ask('4', '{"query":"\\u0062dd"}')
  assert.equal(scanned.length, queries.length + 3)
})

test('whatever comes before, a shape is that of the language', () => {
  const piece = fc.constantFrom(
    'log',
    '1',
    '0',
    '9',
    '"',
    '\\',
    'u00',
    '.',
    '{',
    '}',
    ':',
    'get',
    'add',
    '[',
    ',',
    ' ',
    'é',
  )
  const text = fc.array(piece, { minLength: 1, maxLength: 6 }).map(parts => parts.join(''))
  const version10 = text.map(query => JSON.stringify({ query }))
  const version4 = fc.oneof(
    text,
    text.map(key => `{${JSON.stringify(key)}:1}`),
  )
  const { shapes } = counting()
  fc.assert(
    fc.property(version4, version10, (four, ten) => {
      assert.equal(shapes.of('4', four), shapeOf('4', four))
      assert.equal(shapes.of('10', ten), shapeOf('10', ten))
    }),
    { numRuns: 3000 },
  )
})
