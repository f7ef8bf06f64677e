// Many large queries at the same time, in a process with little memory. Some are rejected with a clear message, and the
// process survives.

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { send } from '../support/http.ts'
import { startProcess } from '../support/server-process.ts'
import { serviceOfFile } from '../support/service-of-file.ts'

const server = serviceOfFile(() =>
  startProcess({
    flags: ['--query-memory-mb', '24', '--slow-lane-memory-mb', '256'],
    // All queries together would need several times as much.
    env: { NODE_OPTIONS: '--max-old-space-size=160' },
  }),
)

before(async () => {
  const { status, text } = await send(server, {
    secret: server.rootSecret,
    query: { create_collection: { object: { name: 'c' } } },
  })
  assert.equal(status, 201, text)
})

const create = (text: string) => ({
  select: ['ref', 'collection'],
  from: { create: { collection: 'c' }, params: { object: { data: { object: { text } } } } },
})

test('large queries share a memory limit', async () => {
  const text = 'long '.repeat(600_000)
  const sent = Array.from({ length: 60 }, () =>
    send(server, { secret: server.rootSecret, query: create(text) }),
  )
  const answers = await Promise.all(sent)
  const statuses = answers.map(({ status }) => status)
  assert.ok(statuses.includes(200), statuses.join())
  assert.ok(statuses.includes(429), statuses.join())
  assert.ok(
    statuses.every(status => status === 200 || status === 429),
    statuses.join(),
  )
  const rejected = answers.filter(({ status }) => status === 429).map(({ json }) => json)
  const texts = rejected.map(json => (json as { errors: { description: string }[] }).errors[0]?.description)
  assert.ok(texts.some(each => each === 'Queries under way take too much memory together. Max: 24 MB.'))
  const { json } = await send(server, {
    secret: server.rootSecret,
    query: { count: { documents: { collection: 'c' } } },
  })
  assert.deepEqual(json, { resource: statuses.filter(status => status === 200).length })
})
