// A query whose type check takes long, and whose evaluation is short, moves to the slow lane once. The service learns the
// result of the check, so the query does not move again and again.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { send } from '../support/http.ts'
import { startProcess } from '../support/server-process.ts'
import { slowQueries } from '../support/slow-queries.ts'

test('a query with a long check runs in the service after the slow lane has checked it', async () => {
  await using server = await startProcess({ flags: ['--metrics-port', '0'] })
  const sums = Array.from({ length: 200 }, (_, at) => `let f${at} = (a, b) => a + b + a + b\n`).join('')
  const ask = async (ending: string) => {
    const query = sums + ending
    const { json } = await send(server, {
      path: '/query/1',
      secret: server.rootSecret,
      body: JSON.stringify({ query }),
      headers: { 'x-typecheck': 'true' },
    })
    return json as { readonly static_type?: string; readonly summary: string }
  }
  for (const [ending, expected] of [
    ['[1]', /^\[1\]$/],
    ['1.none', /^error: Type `Int` does not have field `none`\nat \*query\*:201:3\n {4}\|\n201 \| 1.none /],
  ] as const) {
    let text = ''
    let texts = 0
    const assertAnswer = async () => {
      const { static_type, summary } = await ask(text)
      assert.match(static_type ?? summary, expected)
    }
    // On a fast machine, the service may complete a check in time, so a new query is sent until one moves.
    await eventually('a check moves to the slow lane', async () => {
      const before = await slowQueries(server)
      text = `${ending} // ${texts++}`
      await assertAnswer()
      return (await slowQueries(server)) > before
    })
    // A slow-lane process that has not checked the query yet may need as long as the first, and on a slow machine, any
    // query may take too long for the service once.
    let inARow = 0
    await eventually('the service answers five times in a row', async () => {
      const last = await slowQueries(server)
      await assertAnswer()
      inARow = (await slowQueries(server)) === last ? inARow + 1 : 0
      return inARow === 5
    })
  }
})
