// Event sources from templates: wherever the template values are, the data of an event is the element of the set.

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { fc } from '../support/fast-check.ts'
import { fql, keyOfNewDatabase, send } from '../support/http.ts'
import { serverOfFile } from '../support/server.ts'
import { eventSets, type TemplatePart } from '../support/set-templates.ts'

const server = serverOfFile()
let admin: string

before(async () => {
  admin = await keyOfNewDatabase(server, 'sources', 'admin')
  await fql(server, admin, 'Collection.create({ name: "Issue" })')
})

async function post(path: string, body: object): Promise<unknown> {
  const { json, text } = await send(server, {
    secret: admin,
    path,
    body: JSON.stringify(body),
    headers: { 'x-format': 'tagged' },
  })
  assert.equal((json as { error?: object }).error, undefined, text)
  return json
}

async function dataOf(template: readonly TemplatePart[]): Promise<unknown> {
  return ((await post('/query/1', { query: { fql: template } })) as { data: unknown }).data
}

test('event sources contain the template values before, within and after projections', async () => {
  await fc.assert(
    fc.asyncProperty(eventSets('Issue'), async set => {
      await fql(server, admin, 'Issue.all().forEach(.delete())')
      const source = (await dataOf(['(', ...set, ').eventSource()'])) as { '@stream': string }
      await fql(server, admin, 'Issue.create({ n: 2, t: "a", sub: { m: 1 } })')
      const elements = await dataOf(['(', ...set, ').toArray()'])
      const feed = await post('/feed/1', { token: source['@stream'] })
      const { events } = feed as { events: readonly { type: string; data: unknown }[] }
      const seen = events.map(({ data, type }) => (type === 'add' ? data : type))
      assert.deepEqual(seen, elements)
    }),
    { numRuns: 40 },
  )
})
