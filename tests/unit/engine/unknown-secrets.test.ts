// Limits how often unauthenticated clients can cause look-ups of secrets in a store that several machines share.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engineOver, openEngineLimits } from '../../../src/app/open-engine.ts'
import type { QueryRequest } from '../../../src/engine/engine-contract.ts'
import { openServiceLog } from '../../../src/server/service-log.ts'
import { openMemory } from '../../../src/storage/kv/memory.ts'
import { StoreUnavailableError } from '../../../src/storage/kv/store-errors.ts'
import { testConfig } from '../../support/config.ts'

const unknownSecret: Omit<QueryRequest, 'body'> = {
  authorization: 'Bearer fnAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
  address: '10.0.0.1',
  language: '4',
  dialect: '4',
  timeoutMs: 10_000,
}
const create = '{"create":{"collection":"c"}}'

/** An engine over a store that several machines share; `look` refreshes the replica. */
function openOver(look: () => Promise<void>) {
  const memory = openMemory()
  const kv = {
    read: memory.read.bind(memory),
    transact: memory.transact.bind(memory),
    watch: memory.watch.bind(memory),
    close: memory.close.bind(memory),
    watchForeign: () => undefined,
    ready: (notBefore: number) => (notBefore === Number.POSITIVE_INFINITY ? look() : undefined),
  }
  return engineOver({ kv, config: testConfig(), log: openServiceLog('silent') })
}

test('unknown secrets cause a limited number of look-ups in the store for each address, for reads and writes', async () => {
  let looks = 0
  const opened = openOver(async () => {
    looks++
  })
  const ask = async (address: string, body: string) => {
    const begun = looks
    const request: QueryRequest = { ...unknownSecret, address, body }
    assert.equal((await opened.engine.query(request, undefined)).status, 401)
    return looks - begun
  }
  assert.equal(await ask('10.0.0.1', '1'), 1)
  assert.equal(await ask('10.0.0.1', create), 1)
  for (let count = 0; count < 4 * openEngineLimits.unknownSecretsBurst; count++)
    await ask('10.0.0.1', count % 2 === 0 ? '1' : create)
  // The allowance has been refilled by some look-ups meanwhile.
  assert.ok(looks < 3 * openEngineLimits.unknownSecretsBurst, `${looks} looks`)
  assert.equal(await ask('10.0.0.2', '1'), 1)
  await opened.close()
})

test('an unknown secret is not rejected as invalid when the store cannot be queried', async () => {
  const opened = openOver(() => Promise.reject(new StoreUnavailableError('the database is away')))
  for (const body of ['1', create])
    assert.equal((await opened.engine.query({ ...unknownSecret, body }, undefined)).status, 503)
  await opened.close()
})
