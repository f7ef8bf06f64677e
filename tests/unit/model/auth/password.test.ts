// Passwords: which hashes verify, equal work for every caller, 72 bytes, and results that survive replays.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Memo, Pending } from '../../../../src/base/pending.ts'
import { systemRandom } from '../../../../src/base/random.ts'
import { RequestError } from '../../../../src/base/request-errors.ts'
import { type Candidate, nativeBcrypt } from '../../../../src/model/auth/bcrypt.ts'
import { Passwords, passwordLimits, passwordThreads, runBcrypt } from '../../../../src/model/auth/password.ts'
import { throttleLimits } from '../../../../src/model/auth/throttle.ts'
import { Bench } from '../../storage/store/support.ts'
import { answered, asking, CountingBcrypt, ManualTime, settled } from './support.ts'

function setUp(cost = 4) {
  const bcrypt = new CountingBcrypt()
  const time = new ManualTime()
  const bench = new Bench()
  const passwords = new Passwords({ clock: time.clock, timers: time, random: systemRandom, cost, bcrypt })
  const check = (password: string, stored: string | undefined, identity = 'user') =>
    answered(memo =>
      bench.read(transaction => passwords.check(asking(transaction, memo), identity, password, stored)),
    )
  const hash = (password: string) =>
    answered(memo => bench.read(transaction => passwords.hash(asking(transaction, memo), password)))
  return { bcrypt, bench, passwords, check, hash }
}

function hashWith(cost: number, password: string, variant = 'b'): Promise<string> {
  return nativeBcrypt.hash(Buffer.from(password), cost).then(hash => `$2${variant}${hash.slice(3)}`)
}

test('a password verifies against its own hash only', async () => {
  const { check, hash } = setUp()
  for (const password of ['', 'x', 'pässwörd ☃ 🐷', 'a\u0000b', 'x'.repeat(72)]) {
    const stored = await hash(password)
    assert.match(stored, /^\$2a\$04\$/)
    assert.equal(await check(password, stored), true, password)
    assert.equal(await check(`${password.slice(0, 30)}y`, stored, 'other'), false, password)
  }
  assert.equal(await check('a', await hash('a\u0000b')), false)
})

test('hashes of other costs and prefixes verify', async () => {
  const { check } = setUp(5)
  for (const variant of ['a', 'b', 'y']) {
    for (const cost of [4, 5, 6]) {
      assert.equal(await check('sekrit', await hashWith(cost, 'sekrit', variant), variant), true)
      assert.equal(await check('wrong', await hashWith(cost, 'sekrit', variant), variant), false)
    }
  }
  // Made by jBCrypt, the implementation whose hashes the original service stored.
  assert.equal(await check('', '$2a$06$DCq7YPn5Rq63x1Lad4cll.TV4S6ytwfsfvkgY8jIucDrjc8deX1s.'), true)
  assert.equal(await check('a', '$2a$06$m0CrhHm10qJ3lXRY.5zDGO3rS2KdeeWLuGmsfGlMfOxih58VYVfxe'), true)
})

test('invalid or too costly hashes never verify', async () => {
  const { bcrypt, check } = setUp()
  const stored = await hashWith(4, 'sekrit')
  for (const odd of [
    '',
    'sekrit',
    `$2b$17${stored.slice(6)}`,
    `$2b$31${stored.slice(6)}`,
    stored.slice(0, -1),
  ])
    assert.equal(await check('sekrit', odd, odd), false)
  assert.ok(bcrypt.compared.every(hash => hash.startsWith('$2b$04$')))
})

test('a wrong password takes the same rounds for a known user, an unknown one, and one with a hash of another cost', async () => {
  for (const password of ['wrong', 'é'.repeat(50)]) {
    const { bcrypt, check, hash } = setUp(7)
    const rounds = async (stored: string | undefined) => {
      bcrypt.compared.length = 0
      assert.equal(await check(password, stored, `someone with ${stored}`), false)
      return bcrypt.compared.reduce((sum, compared) => sum + 2 ** Number(compared.slice(4, 6)), 0)
    }
    const expected = await rounds(undefined)
    assert.equal(expected, (password === 'wrong' ? 1 : 2) * 2 ** 7)
    assert.equal(await rounds(await hash('right')), expected)
    assert.equal(await rounds('no hash'), expected)
    for (const cost of [4, 5, 6]) assert.equal(await rounds(await hashWith(cost, 'right')), expected)
  }
})

test('a hash of a higher cost than the configured one sets the cost of later checks for all users', async () => {
  const { bcrypt, check, hash } = setUp(4)
  const rounds = async (stored: string | undefined) => {
    bcrypt.compared.length = 0
    assert.equal(await check('wrong', stored, `someone with ${stored}`), false)
    return bcrypt.compared.reduce((sum, compared) => sum + 2 ** Number(compared.slice(4, 6)), 0)
  }
  assert.equal(await rounds(undefined), 2 ** 4)
  assert.equal(await rounds(await hashWith(6, 'right')), 2 ** 6)
  assert.equal(await rounds(undefined), 2 ** 6)
  assert.equal(await rounds(await hash('right')), 2 ** 6)
})

test('the fake hash never verifies', async () => {
  const { check, bcrypt } = setUp()
  bcrypt.firstMatch = () => Promise.resolve(0)
  assert.equal(await check('anything', undefined), false)
})

test('all bytes of a long password count', async () => {
  const { check, hash } = setUp()
  const password = 'x'.repeat(72)
  const stored = await hash(`${password}1`)
  assert.equal(await check(`${password}1`, stored), true)
  assert.equal(await check(`${password}2`, stored), false)
  assert.equal(await check(password, stored), false)
  const exact = await hash(password)
  assert.equal(await check(password, exact), true)
})

test('hashes made elsewhere from the first 72 bytes of a long password verify', async () => {
  const { check } = setUp()
  const password = `${'ü'.repeat(40)}end`
  const stored = await hashWith(4, password, 'a')
  assert.equal(await check(password, stored), true)
  const veryLong = 'y'.repeat(300)
  assert.equal(await check(veryLong, await hashWith(4, veryLong, 'a')), true)
  assert.equal(await check(`z${veryLong}`, await hashWith(4, veryLong, 'a')), false)
})

test('a correct password is cached, so its owner is not slowed down by guessers', async () => {
  const { bcrypt, check, hash } = setUp()
  const stored = await hash('right')
  assert.equal(await check('right', stored), true)
  for (let guess = 0; guess < throttleLimits.passwordFreeFailures; guess++)
    assert.equal(await check(`guess ${guess}`, stored), false)
  const before = bcrypt.compared.length
  // The time does not advance here: if this check waited, the test would never end.
  assert.equal(await check('right', stored), true)
  assert.equal(bcrypt.compared.length, before)
  const changed = await hash('new')
  assert.equal(await check('right', changed, 'fresh'), false)
})

test('the result survives replays, and the same check requested twice runs twice', async () => {
  const { bcrypt, bench, passwords } = setUp()
  const stored = await hashWith(4, 'right')
  const ask = (memo: Memo) =>
    bench.read(transaction => [
      passwords.check(asking(transaction, memo), 'user', 'wrong', stored),
      passwords.check(asking(transaction, memo), 'user', 'wrong', stored),
    ])
  const memo = new Memo()
  assert.deepEqual(await answered(ask, memo), [false, false])
  assert.equal(bcrypt.compared.length, 2)
  memo.begin()
  assert.deepEqual(ask(memo), [false, false])
  assert.equal(bcrypt.compared.length, 2)
})

test('a hash stays the same in replays; equal passwords of one request get different hashes', async () => {
  const { bcrypt, bench, passwords } = setUp()
  const ask = (memo: Memo) =>
    bench.read(transaction => [
      passwords.hash(asking(transaction, memo), 'same'),
      passwords.hash(asking(transaction, memo), 'same'),
    ])
  const memo = new Memo()
  const [first, second] = await answered(ask, memo)
  assert.notEqual(first, second)
  memo.begin()
  assert.deepEqual(ask(memo), [first, second])
  assert.equal(bcrypt.hashes, 2)
})

test('a thread that has failed gets no further tasks', async () => {
  const invalid = [{ bytes: Buffer.from('a') }] as unknown as readonly Candidate[]
  await assert.rejects(runBcrypt({ kind: 'first match', candidates: invalid }), TypeError)
  const hash = await runBcrypt({ kind: 'hash', bytes: Buffer.from('a'), cost: 4 })
  assert.match(String(hash), /^\$2a\$04\$/)
})

test('databases take turns: many checks of one do not delay another', async () => {
  const { bcrypt, bench, passwords } = setUp()
  const order: string[] = []
  const gate = Promise.withResolvers<void>()
  bcrypt.firstMatch = async candidates => {
    order.push(Buffer.from(candidates[0]?.bytes ?? []).toString())
    await gate.promise
    return undefined
  }
  const attempt = (database: bigint, password: string) =>
    answered(memo =>
      bench.read(transaction => {
        const given = asking(transaction, memo)
        return passwords.check(
          { ...given, caller: { ...given.caller, database } },
          password,
          password,
          undefined,
        )
      }),
    )
  const crowd = Array.from({ length: 50 }, (_, at) => attempt(1n, `crowd ${at}`))
  const other = attempt(2n, 'other')
  await settled()
  gate.resolve()
  await Promise.all([...crowd, other])
  assert.equal(order.length, 51)
  // The checks that started at once come first, then at most one more of the first database, then the other's.
  assert.ok(order.indexOf('other') <= passwordThreads + 1, order.join())
})

test('a check is rejected when too many are waiting', async () => {
  const { bcrypt, bench, passwords } = setUp()
  const blocked = Promise.withResolvers<undefined>()
  bcrypt.firstMatch = () => blocked.promise
  const attempt = (user: number) => {
    const memo = new Memo()
    try {
      bench.read(transaction => passwords.check(asking(transaction, memo), `user ${user}`, 'x', undefined))
    } catch (error) {
      assert.ok(error instanceof Pending)
      return memo.resolve(error)
    }
    return assert.fail('a check has to wait')
  }
  const room = passwordThreads + passwordLimits.passwordChecksWaitingMax
  const attempts = Array.from({ length: room + 10 }, (_, user) => attempt(user))
  const outcomes = Promise.allSettled(attempts)
  blocked.resolve(undefined)
  const rejected = (await outcomes).flatMap(outcome =>
    outcome.status === 'rejected' ? [outcome.reason as unknown] : [],
  )
  assert.ok(rejected.length >= 10)
  for (const reason of rejected) assert.ok(reason instanceof RequestError && reason.status === 429)
})
