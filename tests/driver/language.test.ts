// Literals and lambdas, built with the driver's functions. The forms of the language have cases in tests/conformance.

import assert from 'node:assert/strict'
import { driverTests, q, values } from './app.ts'

const driverTest = driverTests()

driverTest('literals are returned unchanged', async app => {
  const client = await app.as('client')
  const literals = [1, 1.5, 'text', true, null, [1, [2]], { a: { b: null } }, {}, []]
  assert.deepEqual(await client.query(literals), literals)
  assert.deepEqual(await client.query({ '@tagged': 1 }), { '@tagged': 1 })
  const time = new values.FaunaTime('1970-01-01T00:00:00.000000001Z')
  assert.deepEqual(await client.query(time), time)
})

driverTest('functions of JavaScript are lambdas', async app => {
  const client = await app.as('client')
  const outside = 10
  const add = q.Lambda(n => q.Add(n, outside))
  assert.deepEqual(await client.query(q.Map([1, 2], add)), [11, 12])
})
