// The shape of a query keeps words of the language and no content of the client.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { languageWords, version4 } from '../../../src/fql4/language.ts'
import { shapeLimits } from '../../../src/fql4/shape.ts'
import { fc } from '../../support/fast-check.ts'

/** The shape as a reader of the exported JSON sees it. */
const shape = (query: unknown): string =>
  JSON.parse(`"${version4.shape(typeof query === 'string' ? query : JSON.stringify(query))}"`)

test('functions and structure are kept, literals are removed', () => {
  assert.equal(shape({ add: [1, 2.5, { subtract: [3, '4'] }] }), '{"add":["?",{"subtract":["?"]}]}')
  const condition = shape({ if: { equals: [{ var: 'x' }, true] }, then: null, else: { abort: 'no' } })
  assert.equal(condition, '{"if":{"equals":[{"var":"?"},"?"]},"then":"?","else":{"abort":"?"}}')
  assert.equal(shape('"a secret"'), '"?"')
  assert.equal(shape('[]'), '[]')
  assert.equal(shape('{}'), '{}')
})

test('references, times, bytes and quoted values are removed as a whole', () => {
  const ref = { '@ref': { id: '77', collection: { '@ref': { id: 'people' } } } }
  assert.equal(shape({ get: ref }), '{"get":{"@ref":"?"}}')
  assert.equal(shape({ get: { '@ts': '2020-01-01T00:00:00Z' } }), '{"get":{"@ts":"?"}}')
  assert.equal(shape({ quote: { get: 'x', ssn: '1' } }), '{"quote":"?"}')
  assert.equal(shape({ '@obj': { name: 'Ann' } }), '{"@obj":"?"}')
})

test('names of fields and variables are removed, adjacent values are merged', () => {
  assert.equal(
    shape({ create: { collection: 'people' }, params: { object: { data: { object: { ssn: '1', a: 2 } } } } }),
    '{"create":{"collection":"?"},"params":{"object":[{"object":["?"]}]}}',
  )
  assert.equal(shape({ let: { mine: 1, name: { now: null } }, in: 1 }), '{"let":["?",{"now":"?"}],"in":"?"}')
  assert.equal(shape({ let: [{ mine: 1 }, { yours: 2 }], in: 1 }), '{"let":[["?"]],"in":"?"}')
  assert.equal(shape([1, 2, 3]), shape([4]))
  assert.equal(shape({ object: { 'ann@example.com': { object: {} } } }), '{"object":[{"object":[]}]}')
})

test('keys that are not words of the language are removed everywhere', () => {
  assert.equal(shape({ '4111-1111': 1, card: 2 }), '["?"]')
  assert.equal(shape({ get: 1, '4111-1111': 2 }), '{"get":"?","?":"?"}')
  assert.equal(shape('{"\\u0067et":1}'), '["?"]')
})

test('invalid JSON has no shape', () => {
  for (const text of [
    '',
    'hunter2',
    '{"get"',
    '{"get":',
    '{"get":"hunter2',
    '[1,',
    '{"get":1]',
    '{hunter2:1}',
  ]) {
    const found = shape(text)
    assert.ok(!found.includes('hunter2'), found)
  }
  assert.equal(shape('{"get":"hunter2'), '"?"')
})

test('the shape of a huge query is short', () => {
  let deep: unknown = 1
  for (let level = 0; level < 900; level++) deep = { add: [deep, { var: 'x' }] }
  const many = { do: Array.from({ length: 5000 }, (_, n) => (n % 2 ? { now: null } : { add: [n] })) }
  for (const query of [deep, many]) {
    const found = shape(query)
    assert.ok(found.length < shapeLimits.shapeChars * 2, String(found.length))
    assert.ok(found.includes('…'))
  }
})

test('of a query with a long text, number or white space only the beginning is read', () => {
  const long = shapeLimits.queryChars
  // The text contains what would look like the end of the query.
  const text = `secret"`.padStart(long, ']}:,')
  for (const filler of [`"${']},:'.repeat(long)}"`, `${'1'.repeat(2 * long)}`, ' '.repeat(2 * long)]) {
    assert.equal(shape(`{"add":[1,${filler},{"subtract":[1]}]}`).slice(0, 11), '{"add":["?"')
    assert.doesNotMatch(shape(`{"add":[1,${filler},{"subtract":[1]}]}`), /subtract/)
  }
  assert.equal(shape({ quote: text, get: 1 }), '{"quote":"?"…')
})

test('a query that is cut within a key, or after it, has the shape of its beginning', () => {
  const long = 'x'.repeat(shapeLimits.queryChars)
  const blanks = ' '.repeat(shapeLimits.queryChars)
  // The log is for searches by shape, so a long key must not remove the whole shape.
  assert.equal(shape(`{"add":[1,{"${long}":2}]}`), '{"add":["?",………')
  assert.equal(shape(`{"get":1,"${long}":2}`), '{"get":"?"…')
  assert.equal(shape(`{"get":1,"ts"${blanks}:2}`), '{"get":"?"…')
  assert.equal(shape(`{"object":{"a":1,"${long}":2}}`), '{"object":["?"……')
  assert.equal(shape(`{"object":{"a":1,"b"${blanks}:2}}`), '{"object":["?"……')
  assert.equal(shape(`{"object":{"a":1,${blanks}"b":2}}`), '{"object":["?"……')
  const [start, end] = ['{"add":[1,{"a":"', '","getS']
  const filler = 'x'.repeat(shapeLimits.queryChars - start.length - end.length)
  assert.doesNotMatch(shape(`${start}${filler}${end}ECRET":1}]}`), /get/, 'a cut key is not a word')
})

test('for any query, only words of the language and punctuation remain', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(...languageWords), (value, word) => {
      const found = shape({ [word]: value, object: { data: value } })
      for (const [, text = ''] of found.matchAll(/"([^"]*)"/g)) {
        assert.ok(
          text === '?' ||
            languageWords.has(text) ||
            ['object', 'let', 'quote'].includes(text) ||
            text.startsWith('@'),
          text,
        )
      }
      assert.match(found.replaceAll(/"[^"]*"/g, ''), /^[[\]{}:,…]*$/)
    }),
  )
})

test('any text is accepted', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.json().chain(json => fc.nat(json.length).map(end => json.slice(0, end))),
      ),
      text => {
        assert.equal(typeof shape(text), 'string')
      },
    ),
  )
})
