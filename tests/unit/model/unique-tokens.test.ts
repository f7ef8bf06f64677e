// If the store rejects a document that a query writes implicitly, such as a token, the query fails with an error.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openTestEngine, type TestEngine } from '../../support/engine.ts'

let opened: TestEngine

before(async () => {
  opened = openTestEngine()
  await opened.query({ create_collection: { object: { name: 'users' } } })
  for (const collection of ['tokens', 'credentials'])
    await opened.query({
      create_index: {
        object: {
          name: `one_of_${collection}`,
          source: { '@ref': { id: collection } },
          terms: { object: { field: collection === 'tokens' ? ['instance'] : ['hashed_password'] } },
          unique: true,
        },
      },
    })
})

after(() => opened.close())

const user = (id: string) => ({ ref: { collection: 'users' }, id })
const notUnique = [{ position: [], code: 'instance not unique', description: 'document is not unique.' }]

test('a login fails when a unique index over tokens rejects it', async () => {
  const params = { object: { credentials: { object: { password: 'sesame' } } } }
  await opened.query({ create: user('1'), params })
  const login = { login: user('1'), params: { object: { password: 'sesame' } } }
  await opened.query(login)
  const { body, status } = await opened.send(login)
  assert.equal(status, 400)
  assert.deepEqual(JSON.parse(body).errors, notUnique)
})

test('a create with a password fails when a unique index over credentials rejects it', async () => {
  const hash = '$2a$04$abcdefghijklmnopqrstuuAlwqdyKq9Z5cFPt4xjQPYWbUDv7cVHO'
  const params = { object: { credentials: { object: { hashed_password: hash } } } }
  await opened.query({ create: user('2'), params })
  const { body, status } = await opened.send({ create: user('3'), params })
  assert.equal(status, 400)
  assert.deepEqual(JSON.parse(body).errors, notUnique)
})
