// Revocation of the tokens of an identity with more tokens than one transaction deletes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Background } from '../../../../src/storage/store/background.ts'
import type { Transaction } from '../../../../src/storage/store/store-contract.ts'
import { tokenRevocationLimits } from '../../../../src/storage/store/token-revocation.ts'
import { native, Ref, rootDatabase } from '../../../../src/values/value.ts'
import { Bench, createCollection, data, documentRef, object } from './support.ts'

const { tokensDeletedAtOnce } = tokenRevocationLimits
const tokenCount = tokensDeletedAtOnce + 1

function tokenRef(id: number): Ref {
  return new Ref(rootDatabase, native.tokens, BigInt(id))
}

function putToken(transaction: Transaction, instance: Ref, id: number, fields = {}): void {
  transaction.put(tokenRef(id), object({ instance, ...fields }))
}

/** A user with the tokens 1000 to 1000 + {@link tokenCount} - 1, and another user of the same id with the token 1. */
async function benchWithUser(): Promise<Bench & { user: Ref; other: Ref }> {
  const bench = new Bench()
  const [user, other] = await bench.write(transaction =>
    ['users', 'others'].map(name => documentRef(createCollection(transaction, name), 1)),
  )
  assert(user && other)
  await bench.write(transaction => {
    for (const instance of [user, other]) transaction.put(instance, data({}))
    putToken(transaction, other, 1)
    for (let id = 1000; id < 1000 + tokenCount; id++) putToken(transaction, user, id)
  })
  return Object.assign(bench, { user, other })
}

/** The ids of the tokens that can be read. */
function validTokens(bench: Bench): number[] {
  return bench.read(transaction =>
    Array.from(transaction.documents(rootDatabase, native.tokens, {}), ({ document }) => document)
      .filter(ref => transaction.get(ref) !== undefined)
      .map(({ id }) => Number(id)),
  )
}

function storedTokens(bench: Bench): number {
  return bench.read(transaction => [...transaction.documents(rootDatabase, native.tokens, {})].length)
}

test('a revocation applies at its commit, and only to earlier tokens of this identity', async () => {
  await using bench = await benchWithUser()
  const before = bench.read(transaction => transaction.snapshotTime)
  bench.now += 1_000_000
  await bench.write(transaction => {
    putToken(transaction, bench.user, 2)
    putToken(transaction, bench.user, 1000, { data: object({ changed: true }) })
    transaction.deleteTokens(bench.user)
    assert.equal(transaction.get(tokenRef(2)), undefined)
    assert.equal(transaction.get(tokenRef(1000)), undefined)
    assert.equal(transaction.get(tokenRef(1001)), undefined)
    putToken(transaction, bench.user, 3)
    assert.notEqual(transaction.get(tokenRef(3)), undefined)
  })
  assert.deepEqual(validTokens(bench), [1, 3])
  assert.equal(bench.read(transaction => [...transaction.directory.tokensOf(bench.user)]).length, 1)
  bench.read(transaction => assert.notEqual(transaction.get(tokenRef(1001), before), undefined))
  bench.now += 1_000_000
  await bench.write(transaction => putToken(transaction, bench.user, 4))
  assert.deepEqual(validTokens(bench), [1, 3, 4])
  await new Background(bench.store).runAll()
  assert.deepEqual(validTokens(bench), [1, 3, 4])
  assert.equal(storedTokens(bench), 3)
})

test('the deletion of an identity revokes its tokens for a later document with the same id', async () => {
  await using bench = await benchWithUser()
  await bench.delete(bench.user)
  await bench.put(bench.user, data({}))
  assert.deepEqual(validTokens(bench), [1])
  await new Background(bench.store).runAll()
  assert.equal(storedTokens(bench), 1)
})

test('later tokens with smaller ids do not stop the deletion of revoked tokens', async () => {
  await using bench = await benchWithUser()
  await bench.write(transaction => transaction.deleteTokens(bench.user))
  await bench.write(transaction => {
    for (let id = 2; id < 1000; id++) putToken(transaction, bench.user, id)
  })
  await bench.write(transaction => {
    for (let id = 10_000; id < 11_000; id++) putToken(transaction, bench.user, id)
    for (let id = 20_000; id < 20_000 + tokenCount; id++) putToken(transaction, bench.other, id)
  })
  await bench.write(transaction => transaction.deleteTokens(bench.other))
  await new Background(bench.store).runAll()
  assert.equal(storedTokens(bench), 998 + 1000)
  assert.equal(validTokens(bench).length, 998 + 1000)
  assert.equal(bench.read(transaction => [...transaction.directory.tokensOf(bench.other)]).length, 0)
})
