// How often strangers can have a store that several machines share asked for their secrets.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { QueryRequest } from '../../../src/engine/contract.ts'
import { openMemory } from '../../../src/kv/memory.ts'
import { limits } from '../../../src/limits.ts'
import { engineOver } from '../../../src/open-engine.ts'
import { openServiceLog } from '../../../src/service-log.ts'

const config = { allowInsecureJwks: false, audiencePrefix: 'https://db.example/', passwordCost: 4 }

test('unknown secrets have the store asked a few times for each address, whether they read or write', async () => {
  const memory = openMemory()
  let looks = 0
  const kv = {
    read: memory.read.bind(memory),
    transact: memory.transact.bind(memory),
    watch: memory.watch.bind(memory),
    close: memory.close.bind(memory),
    ready: (notBefore: number) => {
      if (notBefore !== Number.POSITIVE_INFINITY) return undefined
      looks++
      return Promise.resolve()
    },
  }
  const opened = engineOver(kv, config, undefined, openServiceLog('silent'))
  const ask = async (address: string, body: string) => {
    const begun = looks
    const authorization = 'Bearer fnAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
    const request: QueryRequest = {
      authorization,
      address,
      language: '4',
      dialect: '4',
      body,
      timeoutMs: 10_000,
    }
    assert.equal((await opened.engine.query(request)).status, 401)
    return looks - begun
  }
  const create = '{"create":{"collection":"c"}}'
  assert.equal(await ask('10.0.0.1', '1'), 1)
  assert.equal(await ask('10.0.0.1', create), 1)
  for (let count = 0; count < 4 * limits.secretLooksBurst; count++)
    await ask('10.0.0.1', count % 2 === 0 ? '1' : create)
  // Some have come back in the meantime.
  assert.ok(looks < 3 * limits.secretLooksBurst, `${looks} looks`)
  assert.equal(await ask('10.0.0.2', '1'), 1)
  await opened.close()
})
