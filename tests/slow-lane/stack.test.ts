// The nesting that a query may have does not depend on the stack of the service: a query that needs more stack is
// evaluated in the slow lane.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sendFql } from '../support/http.ts'
import { startProcess } from '../support/server-process.ts'

test('calls nest to their limit if the stack of the service is too small', async () => {
  await using server = await startProcess({ stackKibibytes: 700 })
  const ask = async (query: string) => {
    const { json } = await sendFql(server, server.rootSecret, query)
    return json as { readonly data?: unknown; readonly error?: { readonly code: string } }
  }
  const nested = 'x => { let r = { a: [if (x == 0) 0 else 1 + nested(x - 1)] }; r.a[0] }'
  const made = await ask(`Function.create({ name: 'nested', body: ${JSON.stringify(nested)} }).name`)
  assert.equal(made.data, 'nested')
  assert.equal((await ask('nested(2048)')).data, 2048)
  assert.equal((await ask('nested(2049)')).error?.code, 'stack_overflow')
})
