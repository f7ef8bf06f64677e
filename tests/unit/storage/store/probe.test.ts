// The store checks that it can write by writing.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KeyValueStore } from '../../../../src/storage/kv/kv-contract.ts'
import { openMemory } from '../../../../src/storage/kv/memory.ts'
import { StoreUnavailableError } from '../../../../src/storage/kv/store-errors.ts'
import { openTestEngine } from '../../../support/engine.ts'
import { Bench } from './support.ts'

/** A store with a full disk: transactions run, but their commits fail. */
function onFullDisk(): KeyValueStore {
  const kv = openMemory()
  const transact: KeyValueStore['transact'] = async work => {
    const { result, writes } = kv.read(work)
    if (writes.length > 0) throw new StoreUnavailableError('no space left on device')
    return result
  }
  return new Proxy(kv, {
    get: (target, name) => {
      if (name === 'transact') return transact
      const member = target[name as keyof KeyValueStore]
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}

test('concurrent probes share a single commit', async () => {
  await using bench = new Bench()
  let commits = 0
  bench.store.watch(() => commits++)
  const time = () => bench.read(transaction => transaction.lastCommitTime)
  const before = time()
  await Promise.all(Array.from({ length: 100 }, () => bench.store.probe()))
  assert.ok(time() > before)
  assert.equal(commits, 1)
  await bench.store.probe()
  assert.equal(commits, 2)
})

test('on a full disk, only pings of the scopes that write fail', async () => {
  const { engine, close } = openTestEngine({ kv: onFullDisk() })
  for (const scope of ['write', 'all'] as const) {
    await assert.rejects(engine.ping(scope), StoreUnavailableError)
    await assert.rejects(engine.ping(scope), StoreUnavailableError, 'the next asks anew')
  }
  for (const scope of ['read', 'node'] as const) await engine.ping(scope)
  await close()
})
