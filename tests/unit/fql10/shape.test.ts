// The shapes of requests of version 10, as the query log has them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shapeOf } from '../../../src/fql10/shape.ts'

const shape = (body: unknown) => JSON.parse(`"${shapeOf(JSON.stringify(body))}"`)

test('a request for events has the members that it was sent with, and no value', () => {
  assert.equal(shape({ token: 'secret' }), '{"token":"?"}')
  assert.equal(
    shape({ page_size: 64, secret: 1, cursor: 'c', token: 'secret' }),
    '{"token":"?","cursor":"?","page_size":"?"}',
  )
  assert.equal(shape({ token: 'secret', start_ts: 5 }), '{"token":"?","start_ts":"?"}')
})

test('a query has its words', () => {
  assert.equal(shape({ query: 'Jar.all().eventSource()', token: 'x' }), '?.all().eventSource()')
  assert.equal(shape({ start_ts: 5 }), '')
  assert.equal(shape([]), '')
})
