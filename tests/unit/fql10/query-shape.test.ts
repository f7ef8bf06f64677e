// The shapes of version 10 requests in the query log.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shapeOf } from '../../../src/fql10/query-shape.ts'

const shape = (body: unknown) => JSON.parse(`"${shapeOf(JSON.stringify(body))}"`)

test('a request for events shows its members without values', () => {
  assert.equal(shape({ token: 'secret' }), '{"token":"?"}')
  const feed = shape({ page_size: 64, secret: 1, cursor: 'c', token: 'secret' })
  assert.equal(feed, '{"token":"?","cursor":"?","page_size":"?"}')
  assert.equal(shape({ token: 'secret', start_ts: 5 }), '{"token":"?","start_ts":"?"}')
})

test('comments are left out', () => {
  assert.equal(shape({ query: 'a /* b */ + c // d\n+ e' }), '?+?+?')
  assert.equal(shape({ query: 'a /*/ b */ + c' }), '?+?')
})

test('a query shows the words of the language', () => {
  assert.equal(shape({ query: 'Jar.all().eventSource()', token: 'x' }), '?.all().eventSource()')
  assert.equal(shape({ start_ts: 5 }), '')
  assert.equal(shape([]), '')
})
