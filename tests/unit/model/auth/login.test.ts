// The operations behind the query functions about credentials: password checks of documents, new secrets, logouts.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Memo } from '../../../../src/base/pending.ts'
import { type SetLike, SetValue } from '../../../../src/fql4/values/transient.ts'
import type { Caller } from '../../../../src/model/auth/access-contract.ts'
import { logOut } from '../../../../src/model/auth/login.ts'
import { makeKeySecret, makeTokenSecret, parseSecret } from '../../../../src/model/auth/secret.ts'
import { throttleLimits } from '../../../../src/model/auth/throttle.ts'
import { native, Ref, rootDatabase, type Value } from '../../../../src/values/value.ts'
import { answered, asking, bearer, hashOf, settled, World } from './support.ts'

const world = new World()
const { logins } = world.auth
after(() => world.close())

const users = await world.collection('users')

async function userWith(password: string): Promise<Ref> {
  const user = await world.document(users)
  const hashed_password = await world.read((transaction, memo) =>
    logins.hashPassword(asking(transaction, memo), password),
  )
  await world.put(new Ref(rootDatabase, native.credentials, world.newId()), {
    instance: user,
    hashed_password,
  })
  return user
}

/** A set without a document. */
function emptySet(...terms: Value[]): SetValue {
  return new SetValue({ type: 'match', index: new Ref(rootDatabase, native.indexes, 40_000n), terms })
}

const check = (target: SetLike, password: string) =>
  world.read((transaction, memo) =>
    logins.checkPassword(
      asking(transaction, memo),
      target,
      target instanceof Ref ? target : undefined,
      password,
    ),
  )

test('the password of a document', async () => {
  const user = await userWith('sekrit')
  assert.equal(await check(user, 'sekrit'), true)
  assert.equal(await check(user, 'wrong'), false)
})

test('no document, no credentials, no password and no match in a set: the same check, always false', async () => {
  const user = await userWith('sekrit')
  const bare = await world.document(users)
  const withoutPassword = await world.document(users)
  await world.put(new Ref(rootDatabase, native.credentials, world.newId()), { instance: withoutPassword })
  const deleted = await userWith('sekrit')
  await world.bench.delete(deleted)
  const missing = new Ref(rootDatabase, Number(users.id), 1n)
  const work = async (instance: SetLike, password: string) => {
    const before = world.bcrypt.compared.length
    assert.equal(await check(instance, password), false)
    return world.bcrypt.compared.length - before
  }
  const wrong = await work(user, 'wrong')
  assert.ok(wrong > 0)
  for (const instance of [bare, withoutPassword, deleted, missing, emptySet('a')])
    assert.equal(await work(instance, 'sekrit'), wrong)
})

test('unknown users are slowed down one by one, like known ones', async () => {
  const fresh = new World()
  const ask = (set: SetLike) =>
    fresh.read((transaction, memo) =>
      fresh.auth.logins.checkPassword(asking(transaction, memo), set, undefined, 'x'),
    )
  const sets = [emptySet('a'), emptySet('b'), emptySet(1n), emptySet(1), emptySet(new Map([['a', 1n]]))]
  for (const set of sets) {
    for (let guess = 0; guess < throttleLimits.passwordFreeFailures; guess++)
      assert.equal(await ask(set), false)
  }
  let done = false
  const sixth = ask(emptySet('a')).then(() => {
    done = true
  })
  await settled()
  assert.ok(!done)
  await fresh.time.advance(fresh.time.nextAlarm ?? 0)
  await sixth
  await fresh.close()
})

test('new secrets are accepted, and stay the same in replays although ids do not', async () => {
  const user = await world.document(users)
  let id = 5000n
  const make = (memo: Memo) =>
    world.bench.read(() => {
      id++
      return [
        logins.newTokenSecret(memo, new Ref(rootDatabase, native.tokens, id)),
        logins.newKeySecret(memo, new Ref(rootDatabase, native.keys, id)),
      ] as const
    })
  const memo = new Memo()
  const [token, key] = await answered(make, memo)
  assert.equal(id, 5003n, 'two secrets are two waits')
  assert.deepEqual(parseSecret(token.secret), {
    kind: 'token',
    id,
    database: rootDatabase,
    random: parseSecret(token.secret)?.random,
  })
  assert.notEqual(parseSecret(token.secret)?.random, parseSecret(key.secret)?.random)
  memo.begin()
  const [again] = make(memo)
  assert.equal(parseSecret(again.secret)?.random, parseSecret(token.secret)?.random)
  assert.equal(again.hashedSecret, token.hashedSecret)
  assert.match(token.hashedSecret, /^\$2[ab]\$05\$/)
  const fields = { instance: user, hashed_secret: token.hashedSecret }
  await world.put(new Ref(rootDatabase, native.tokens, 5003n), fields)
  assert.deepEqual((await world.identify(bearer(token.secret))).identity, user)
  await world.put(new Ref(rootDatabase, native.keys, 5003n), {
    role: 'client',
    hashed_secret: key.hashedSecret,
  })
  assert.ok(await world.identify(bearer(key.secret)))
})

test('a request that creates many secrets, one after the other, is evaluated again only a few times', async () => {
  let evaluations = 0
  const make = (memo: Memo) =>
    world.bench.read(() => {
      evaluations++
      return Array.from({ length: 100 }, (_, at) =>
        logins.newKeySecret(memo, new Ref(rootDatabase, native.keys, BigInt(at))),
      )
    })
  const secrets = await answered(make)
  assert.equal(new Set(secrets.map(({ secret }) => secret)).size, 100)
  assert.ok(evaluations < 10, String(evaluations))
})

test('an assigned secret must be one of exactly that key', async () => {
  const secret = makeKeySecret(6000n, new Uint8Array(20).fill(3))
  const hash = (id: bigint, text: string) =>
    world.read((_, memo) => logins.hashKeySecret(memo, new Ref(rootDatabase, native.keys, id), text))
  const hashed_secret = await hash(6000n, secret)
  assert.ok(hashed_secret)
  await world.put(new Ref(rootDatabase, native.keys, 6000n), { role: 'server', hashed_secret })
  assert.ok(await world.identify(bearer(secret)))
  assert.equal(await hash(6001n, secret), undefined)
  assert.equal(await hash(6000n, makeTokenSecret(6000n, 0n, new Uint8Array(20))), undefined)
  assert.equal(await hash(6000n, 'nonsense'), undefined)
})

test('the owner of a secret', async () => {
  const key = await world.key({ role: 'client' })
  const token = await world.token(await world.document(users))
  const ownerOf = (secret: string) =>
    world.read((transaction, memo) => {
      const owner = logins.ownerOf(transaction, memo, secret)
      return owner && 'ref' in owner ? owner.ref : owner
    })
  assert.deepEqual(await ownerOf(key.secret), key.ref)
  assert.deepEqual(await ownerOf(token.secret), token.ref)
  const others = [
    '',
    'nonsense',
    `${key.secret}:`,
    makeKeySecret(key.ref.id, new Uint8Array(20)),
    'the root secret',
    'ey.xx.yy',
    'ey.'.repeat(1_000_000),
  ]
  for (const secret of others) assert.equal(await ownerOf(secret), undefined, secret.slice(0, 60))
})

test('logging out', async () => {
  const user = await world.document(users)
  const [first, second, third] = [await world.token(user), await world.token(user), await world.token(user)]
  const stranger = await world.token(await world.document(users))
  const server = await world.key({ role: 'server' })
  const callers: Record<string, Caller> = {
    first: await world.identify(bearer(first.secret)),
    second: await world.identify(bearer(second.secret)),
    server: await world.identify(bearer(server.secret)),
    scoped: await world.identify(bearer(`${server.secret}:@doc/users/${user.id}`)),
    root: await world.identify(`Basic ${btoa('the root secret')}`),
    'third party': {
      database: rootDatabase,
      authority: { kind: 'roles', database: rootDatabase, roles: [], identity: undefined },
      identity: 'sub',
      credential: new Map(),
    },
  }
  const out = (name: string, all: boolean) =>
    world.bench.write(transaction => logOut(transaction, callers[name] as Caller, all))
  for (const name of ['server', 'root', 'third party']) {
    assert.equal(await out(name, false), false, name)
    assert.equal(await out(name, true), false, name)
  }
  assert.equal(await out('scoped', false), false)
  assert.equal(await out('first', false), true)
  assert.equal(await out('first', false), true)
  assert.ok(await world.rejects(bearer(first.secret)))
  assert.ok(await world.identify(bearer(second.secret)))
  assert.equal(await out('second', true), true)
  assert.ok(await world.rejects(bearer(second.secret)))
  assert.ok(await world.rejects(bearer(third.secret)))
  const fourth = await world.token(user)
  assert.equal(await out('scoped', true), true)
  assert.ok(await world.rejects(bearer(fourth.secret)))
  assert.ok(await world.identify(bearer(stranger.secret)))
  assert.ok(await world.identify(bearer(server.secret)))
})

test('the successor of a deleted identity inherits nothing', async () => {
  const user = await userWith('sekrit')
  const token = await world.token(user)
  await world.bench.delete(user)
  await world.put(user, {})
  assert.equal(await check(user, 'sekrit'), false)
  assert.ok(await world.rejects(bearer(token.secret)))
})

test('neither the hash nor the random text of a key is a secret', async () => {
  const key = await world.key({ role: 'admin' })
  const stored = await hashOf(key.secret)
  assert.ok(await world.rejects(bearer(stored)))
  assert.ok(await world.rejects(bearer(parseSecret(key.secret)?.random ?? '')))
})
