// The browser build of the driver `fauna` in a page of another origin: preflights, queries, pages, errors.

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type * as driver from 'fauna'
import { keyOfNewDatabase } from '../support/http.ts'
import { pageOfFile, skip } from './chromium.ts'

const opened = pageOfFile()
/** The options of a client in the page. */
let config: { readonly secret: string; readonly endpoint: string }

before(async () => {
  if (skip) return
  config = { secret: await keyOfNewDatabase(opened.server, 'app', 'server'), endpoint: opened.server.url }
})

/** The driver in the page, which its browser build sets as a global. */
declare global {
  var fauna: typeof driver
}

test('queries, pages and errors of version 10 reach the page', { skip }, async () => {
  const seen = await opened.page.evaluate(async ({ secret, endpoint }) => {
    const { Client, fql, TimeStub } = globalThis.fauna
    const client = new Client({ secret, endpoint: new URL(endpoint), query_tags: { page: 'one' } })
    const now = TimeStub.from('2024-01-02T03:04:05Z')
    const answer = await client.query<{ later: driver.TimeStub; n: number }>(
      fql`{ later: ${now}.add(1, "day"), n: ${41} + 1 }`,
      { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' },
    )
    const pages: number[] = []
    for await (const page of client.paginate(fql`Set.sequence(0, 20)`)) pages.push(page.length)
    const failure = await client.query(fql`1 / 0`).catch(error => ({
      name: error.name,
      status: error.httpStatus,
      code: error.code,
      summary: error.queryInfo.summary,
    }))
    const rejected = await new Client({ secret: 'wrong', endpoint: new URL(endpoint) })
      .query(fql`1`)
      .catch(error => error.name)
    const { later, n } = answer.data
    return { later: later.isoString, n, tags: answer.query_tags, pages, failure, rejected }
  }, config)
  assert.deepEqual(seen, {
    later: '2024-01-03T03:04:05Z',
    n: 42,
    tags: { page: 'one' },
    pages: [16, 4],
    failure: {
      name: 'QueryRuntimeError',
      status: 400,
      code: 'divide_by_zero',
      summary: 'error: Attempted integer division by zero.\nat *query*:1:5\n  |\n1 | 1 / 0\n  |     ^\n  |',
    },
    rejected: 'AuthenticationError',
  })
})
