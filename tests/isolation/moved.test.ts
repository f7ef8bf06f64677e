// A stored reference to a child database is invalid after the database has moved.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openTestEngine } from '../support/engine.ts'

const engine = openTestEngine()
after(() => engine.close())

const object = (fields: Record<string, unknown>) => ({ object: fields })

test('the former parent of a database cannot move it back by a stored reference', async () => {
  for (const name of ['before', 'now']) await engine.query({ create_database: object({ name }) })
  const key = object({ role: 'admin', database: { database: 'before' } })
  const { secret } = (await engine.query({ create_key: key })) as { secret: string }
  const run = (query: object) => engine.query(query, { secret })
  for (const name of ['child', 'place']) await run({ create_database: object({ name }) })
  await run({ create_collection: object({ name: 'kept' }) })
  const kept = { ref: { collection: 'kept' }, id: '1' }
  await run({ create: kept, params: object({ data: object({ child: { database: 'child' } }) }) })
  const child = { select: ['data', 'child'], from: { get: kept } }
  const moving = { database: 'child', scope: { database: 'before' } }
  await engine.query({ move_database: moving, to: { database: 'now' } })
  for (const query of [
    { move_database: child, to: { database: 'place' } },
    { move_database: { database: 'place' }, to: child },
    { create_key: object({ role: 'admin', database: child }) },
  ]) {
    const { body, status } = await engine.send(query, { secret })
    assert.ok(status === 400 || status === 404, `${JSON.stringify(query)} answered ${status} ${body}`)
  }
  const where = { get: { database: 'child', scope: { database: 'now' } } }
  assert.equal(((await engine.query(where)) as { name: string }).name, 'child')
})
