// Operations that a worker forwards to the committing process, over sockets within this process. The committing process
// rejects some of the operations.

import assert from 'node:assert/strict'
import { duplexPair } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { CommitterClient, serveWorker } from '../../src/app/forwarding.ts'
import { RequestError } from '../../src/base/request-errors.ts'
import { ContendedTransaction, StoreUnavailableError } from '../../src/storage/store/store-contract.ts'
import type { TransferService } from '../../src/transfer/service.ts'
import { openTestEngine } from '../support/engine.ts'

const version4 = { language: '4', dialect: '4' } as const
const root = 'Bearer the-root-secret-of-a-test'

const writeNothing: TransferService['write'] = async () => assert.fail('nothing is imported')

/** The client of a committing process with 16 megabytes for queries. `write`: writes the batches of imports. */
function openCommitter(t: TestContext, write = writeNothing) {
  const opened = openTestEngine({ settings: { queryMemoryMb: 16 } })
  const [near, far] = duplexPair()
  serveWorker({ ...opened, transfer: { write } }, { operations: 0, in_flight: 0 }, far)
  t.after(async () => {
    near.destroy()
    far.destroy()
    await opened.close()
  })
  return { ...opened, client: new CommitterClient(near) }
}

test('queries that exceed the memory of the committing process get 429', async t => {
  const { client, query } = openCommitter(t)
  await query({ create_collection: { object: { name: 'c' } } })
  const params = { object: { credentials: { object: { password: 'p' } } } }
  const user = (await query({ create: { collection: 'c' }, params })) as { readonly ref: object }
  // Each query waits for a password check, and counts as 3.2 megabytes.
  const body = JSON.stringify({ do: ['x'.repeat(200_000), { identify: user.ref, password: 'p' }] })
  const request = { ...version4, authorization: root, body, timeoutMs: 60_000 }
  const responses = await Promise.all(Array.from({ length: 12 }, () => client.query(request)))
  const statuses = responses.map(({ status }) => status)
  assert.deepEqual([...new Set(statuses)].sort(), [200, 429], statuses.join())
  const rejection = responses.find(({ status }) => status === 429)
  const description = 'Queries under way take too much memory together. Max: 16 MB.'
  assert.deepEqual(JSON.parse(rejection?.body ?? ''), {
    errors: [{ code: 'too many requests', description }],
  })
})

test('queries of one database do not use up the memory for the queries of another database', async t => {
  const { engine, query } = openCommitter(t)
  await query({ create_database: { object: { name: 'quiet' } } })
  const params = { object: { database: { database: 'quiet' }, role: 'admin' } }
  const { secret } = (await query({ create_key: params })) as { readonly secret: string }
  const statusOf = async (authorization: string) => {
    // Waits for the hash of a new password.
    const created = { object: { credentials: { object: { password: 'x'.repeat(70) } } } }
    const body = JSON.stringify({
      do: ['x'.repeat(200_000), { create: { collection: 'c' }, params: created }],
    })
    const { status } = await engine.query({ ...version4, authorization, body, timeoutMs: 60_000 }, undefined)
    return status
  }
  for (const each of [undefined, secret])
    await query({ create_collection: { object: { name: 'c' } } }, each === undefined ? {} : { secret: each })
  const loud = Array.from({ length: 12 }, () => statusOf(root))
  const quiet = Array.from({ length: 2 }, () => statusOf(`Bearer ${secret}`))
  assert.deepEqual(await Promise.all(quiet), [201, 201])
  const statuses = await Promise.all(loud)
  assert.ok(statuses.includes(429), statuses.join())
  assert.ok(
    statuses.every(status => status === 201 || status === 429),
    statuses.join(),
  )
})

const options = { onConflict: 'fail', dryRun: false } as const

test('an import that the committing process rejects fails with the same error', async t => {
  const errors: unknown[] = [
    new RequestError('too many requests', 'Too many.'),
    new ContendedTransaction(5),
    new StoreUnavailableError('no disk', { outcome: 'unknown' }),
  ]
  const { client } = openCommitter(t, () => Promise.reject(errors.shift()))
  const write = () => client.write(0n, [], options)
  await assert.rejects(write, { code: 'too many requests', description: 'Too many.' })
  await assert.rejects(write, {
    code: 'contended transaction',
    description: 'Transaction was aborted due to detection of concurrent modification.',
  })
  await assert.rejects(write, error => error instanceof StoreUnavailableError && error.outcome === 'unknown')
})
