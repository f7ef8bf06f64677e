// The checks of a transaction's writes before its commit.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkWrites } from '../../../../src/storage/store/transaction-limits.ts'
import { Bench, data, documentRef } from './support.ts'

const bytesMax = 16_777_216
const tooLong = {
  name: 'RequestError',
  code: 'bad request',
  description: `Transaction exceeded limit: got ${bytesMax + 1} bytes, limit ${bytesMax} bytes`,
}

test('the bytes of keys and values count, and removals have no value', () => {
  const key = new Uint8Array(10)
  const removal = { key, value: undefined }
  assert.equal(checkWrites([{ key, value: new Uint8Array(bytesMax - 20) }, removal]), bytesMax)
  assert.throws(() => checkWrites([{ key, value: new Uint8Array(bytesMax - 19) }, removal]), tooLong)
})

test('a transaction whose rows exceed the limit writes nothing', async () => {
  await using bench = new Bench()
  const users = await bench.createCollection('users')
  const work = bench.store.write(transaction => {
    transaction.put(documentRef(users, 1), data({}))
    transaction.rows.overlay.set(new Uint8Array([255]), new Uint8Array(bytesMax))
  })
  await assert.rejects(work, { name: 'RequestError', code: 'bad request' })
  assert.equal(bench.get(documentRef(users, 1)), undefined)
})
