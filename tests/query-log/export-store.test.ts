// Stored requests for exports: which requests are the same, in which order they are listed and assigned, and when they
// are deleted.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { micros } from '../../src/base/micros.ts'
import { systemRandom } from '../../src/base/random.ts'
import type { ExportRequest } from '../../src/query-log/export-request.ts'
import { ExportStore, exportStoreLimits, type IdempotencyToken } from '../../src/query-log/export-store.ts'
import { openMemory } from '../../src/storage/kv/memory.ts'
import { ManualTime, wantedExport } from './manual-time.ts'

function opened() {
  const time = new ManualTime()
  const kv = openMemory()
  return { kv, time, store: new ExportStore(kv, systemRandom, time.now) }
}

test('an idempotency token means one request for 24 hours, even when it arrives twice concurrently', async () => {
  const { store, time } = opened()
  const token = { subject: 'account', token: '0f5c0a8e-3b1f-4c47-9d0e-2d2f0f6f2d11' }
  const many = await Promise.all(Array.from({ length: 10 }, () => store.create(wantedExport, token)))
  assert.equal(new Set(many.map(({ id }) => id)).size, 1)
  const id = many[0]?.id
  time.advance(86_400_000 - 1)
  assert.equal((await store.create(wantedExport, token)).id, id)
  assert.notEqual((await store.create(wantedExport, { ...token, subject: 'database 7' })).id, id)
  time.advance(1)
  const later = await store.create(wantedExport, token)
  assert.notEqual(later.id, id)
  assert.equal((await store.create(wantedExport, token)).id, later.id)
})

test('paging from the newest request is stable while requests arrive', async () => {
  const { store } = opened()
  const ids: string[] = []
  const add = async () => ids.unshift((await store.create(wantedExport, undefined)).id)
  for (let n = 0; n < 7; n++) await add()
  const before = [...ids]
  const seen: string[] = []
  let last: string | undefined
  for (;;) {
    const page = store.newest(last, () => true, 2)
    seen.push(...page.found.map(({ id }) => id))
    if (page.next === undefined) break
    last = page.next
    await add()
  }
  assert.deepEqual(seen, before)
  const newest = store.newest(undefined, ({ id }) => before.includes(id), 3).found.map(({ id }) => id)
  assert.deepEqual(newest, before.slice(0, 3))
})

test('old requests and tokens are deleted, unfinished requests are not', async () => {
  const { store, time, kv } = opened()
  const token = { subject: 'account', token: '0f5c0a8e-3b1f-4c47-9d0e-2d2f0f6f2d11' }
  const old = await store.create(wantedExport, token)
  const unfinished = await store.create(wantedExport, undefined)
  await store.claim('x', 1e9)
  await store.advance(old.id, 'x', 'Pending')
  await store.advance(old.id, 'x', 'DoesNotExist')
  time.advance(86_400_000)
  const young = await store.create(wantedExport, undefined)
  assert.deepEqual(store.finishedBefore(young.createdAt), [old.id])
  for (const { id } of [old, unfinished]) await store.forget(id)
  await store.forgetTokens(micros(time.now()))
  assert.equal(store.get(old.id), undefined)
  assert.ok(store.get(unfinished.id))
  const range = { start: Buffer.from('T'), end: Buffer.from('U') }
  const rows = kv.read(view => [...view.range(range)].length)
  assert.equal(rows, 0)
})

test('requesters take turns, however many exports one of them has requested', async () => {
  const { store } = opened()
  const ask = async (requester: string) => (await store.create({ ...wantedExport, requester }, undefined)).id
  const crowd = await Promise.all(Array.from({ length: 6 }, () => ask('database crowd')))
  const others = [await ask('database alone'), await ask('account')]
  const claimed: string[] = []
  let served = ''
  for (let turn = 0; turn < 5; turn++) {
    const request = await store.claim(`process ${turn}`, 5_000_000, served)
    assert.ok(request)
    claimed.push(request.id)
    served = request.requester ?? ''
  }
  assert.deepEqual(claimed, [others[1], others[0], ...crowd.slice(0, 3)])
})

test('each requester has a limited number of waiting exports, and others are not rejected', async () => {
  const { kv, store } = opened()
  const ask = (requester: string, token?: IdempotencyToken) =>
    store.create({ ...wantedExport, requester }, token)
  const token = { subject: 'database crowd', token: '0f5c0a8e-3b1f-4c47-9d0e-2d2f0f6f2d11' }
  const { id } = await ask('database crowd', token)
  const value = Buffer.from('database crowd')
  const jobs = Array.from({ length: exportStoreLimits.logExportsWaitingMax - 1 }, (_, n) => ({
    key: Buffer.from(`J${n}`),
    value,
  }))
  await kv.transact(() => ({ result: undefined, writes: jobs }))
  await assert.rejects(ask('database crowd'), { code: 'too many requests' })
  assert.equal((await ask('database crowd', token)).id, id, 'a repeated request does not count again')
  await ask('database alone')
  await store.claim('x', 5_000_000, 'database alone')
  await store.advance(id, 'x', 'Pending')
  await store.advance(id, 'x', 'DoesNotExist')
  await ask('database crowd')
})

test('a list reads a limited number of other callers’ requests at a time', async () => {
  const { kv, store } = opened()
  const own = await store.create({ ...wantedExport, requester: 'database alone' }, undefined)
  const others = Array.from({ length: exportStoreLimits.logExportsReadMax }, (_, at) => {
    const id = `ffffffff-ffff-7fff-bfff-${String(at).padStart(12, '0')}`
    const request = { ...own, id, requester: 'database crowd' }
    return { key: Buffer.from(`R${id}`), value: Buffer.from(JSON.stringify(request)) }
  })
  await kv.transact(() => ({ result: undefined, writes: others }))
  const mine = ({ requester }: ExportRequest) => requester === 'database alone'
  const first = store.newest(undefined, mine, 10)
  assert.deepEqual(first.found, [])
  const second = store.newest(first.next, mine, 10)
  const ids = second.found.map(({ id }) => id)
  assert.deepEqual(ids, [own.id])
  assert.equal(second.next, undefined)
})
