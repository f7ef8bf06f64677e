// The caller of a request: keys, tokens, scopes, the root secret; the end of a credential; hostile headers.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Memo } from '../../../../src/base/pending.ts'
import { makeKeySecret, makeTokenSecret } from '../../../../src/model/auth/secret.ts'
import { native, Ref, rootDatabase, Time } from '../../../../src/values/value.ts'
import { basic, bearer, hashOf, object, predicate, World } from './support.ts'

const world = new World()
const { bench } = world
after(() => world.close())

const users = await world.collection('users')
const user = await world.document(users)
const child = await world.database('child')
const grandchild = await world.database('grandchild', child.id)
const childUsers = await world.collection('users', child.id)
const childUser = await world.document(childUsers)
const role = await world.role('custom', {})
const childRole = await world.role('custom', {}, child.id)
const admin = await world.key({ role: 'admin' })
const server = await world.key({ role: 'server' })
const token = await world.token(user)

const builtin = (name: string, database = rootDatabase) => ({ kind: 'builtin', role: name, database })
const custom = (roles: Ref[], database = rootDatabase, identity?: Ref) => ({
  kind: 'roles',
  database,
  roles,
  identity,
})

test('keys of every role', async () => {
  for (const name of ['admin', 'server', 'server-readonly', 'client']) {
    const key = await world.key({ role: name })
    const caller = {
      database: rootDatabase,
      authority: builtin(name),
      identity: undefined,
      credential: key.ref,
    }
    for (const header of [
      bearer(key.secret),
      bearer(`${key.secret}:`),
      basic(key.secret),
      basic(`${key.secret}:`),
    ])
      assert.deepEqual(await world.identify(header), caller, header)
  }
  const scoped = await world.key({ role })
  assert.deepEqual((await world.identify(bearer(scoped.secret))).authority, custom([role]))
  const several = await world.key({ role: [role, 'missing'] })
  assert.deepEqual((await world.identify(bearer(several.secret))).authority, custom([role]))
  const useless = await world.key({ role: 'missing' })
  assert.deepEqual((await world.identify(bearer(useless.secret))).authority, custom([]))
})

test('a key for a child database acts there, with the roles of that database', async () => {
  const key = await world.key({ role: 'admin', database: child })
  assert.deepEqual(await world.identify(bearer(key.secret)), {
    database: child.id,
    authority: builtin('admin', child.id),
    identity: undefined,
    credential: key.ref,
  })
  const customKey = await world.key({ role, database: child })
  assert.deepEqual((await world.identify(bearer(customKey.secret))).authority, custom([childRole], child.id))
})

test('a token acts as its document; a suffix is ignored', async () => {
  const caller = {
    database: rootDatabase,
    authority: custom([], rootDatabase, user),
    identity: user,
    credential: token.ref,
  }
  for (const suffix of ['', ':', ':admin', ':nonsense', ':child:admin', ':serverX'])
    assert.deepEqual(await world.identify(bearer(token.secret + suffix)), caller, suffix)
})

test('scopes of an admin key and of the root secret', async () => {
  for (const [secret, credential] of [
    [admin.secret, admin.ref],
    ['the root secret', undefined],
  ] as const) {
    const rights = async (suffix: string) => {
      const caller = await world.identify(basic(`${secret}:${suffix}`))
      assert.deepEqual(caller.credential, credential)
      assert.equal(caller.authority.database, caller.database)
      return caller
    }
    assert.deepEqual((await rights('server')).authority, builtin('server'))
    assert.deepEqual((await rights('child:client')).authority, builtin('client', child.id))
    assert.deepEqual((await rights('child/grandchild:admin')).authority, builtin('admin', grandchild.id))
    assert.deepEqual((await rights('@role/custom')).authority, custom([role]))
    assert.deepEqual((await rights('child:@role/custom')).authority, custom([childRole], child.id))
    const scoped = await rights(`@doc/users/${user.id}`)
    assert.deepEqual([scoped.authority, scoped.identity], [custom([], rootDatabase, user), user])
    assert.deepEqual((await rights(`child:@doc/users/${childUser.id}`)).identity, childUser)
  }
})

test('the path of a key for a child starts at the child', async () => {
  const key = await world.key({ role: 'admin', database: child })
  assert.equal((await world.identify(bearer(`${key.secret}:grandchild:server`))).database, grandchild.id)
  assert.ok(await world.rejects(bearer(`${key.secret}:child:server`)))
})

test('a server key may assume a document of its database and nothing else', async () => {
  const { identity } = await world.identify(bearer(`${server.secret}:@doc/users/${user.id}`))
  assert.deepEqual(identity, user)
  const rejected = [
    'admin',
    'server',
    'client',
    '@role/custom',
    'child:client',
    `child:@doc/users/${childUser.id}`,
  ]
  for (const suffix of rejected) assert.ok(await world.rejects(bearer(`${server.secret}:${suffix}`)), suffix)
})

test('weaker keys may not be scoped', async () => {
  for (const name of ['server-readonly', 'client', role, [role]]) {
    const key = await world.key({ role: name })
    for (const suffix of ['client', '@role/custom', `@doc/users/${user.id}`, 'child:client', 'nonsense'])
      assert.ok(await world.rejects(bearer(`${key.secret}:${suffix}`)), `${String(name)}:${suffix}`)
  }
})

test('unresolved and invalid scopes are rejected on keys', async () => {
  const rejected = [
    ...'nonsense serverX missing:admin child/missing:admin child//grandchild:admin /child:admin @role/missing @doc/missing/1 @doc/users/1 @doc/keys/1'.split(
      ' ',
    ),
    `@doc/tokens/${token.ref.id}`,
    `@doc/1024/${user.id}`,
  ]
  for (const suffix of rejected) assert.ok(await world.rejects(bearer(`${admin.secret}:${suffix}`)), suffix)
})

test('the root secret is admin at the top level', async () => {
  for (const header of [
    bearer('the\u00a0root'),
    undefined,
    '',
    bearer('the'),
    basic('the root'),
    basic('the root secretX'),
  ])
    assert.ok(await world.rejects(header), String(header))
  for (const header of [basic('the root secret'), basic('the root secret:')]) {
    assert.deepEqual(await world.identify(header), {
      database: rootDatabase,
      authority: builtin('admin'),
      identity: undefined,
      credential: undefined,
    })
  }
  assert.ok(await world.rejects(basic('the root secret:nonsense')))
})

test('a root secret may contain colons, or be given as a hash; without one nothing is root', async () => {
  const withColons = new World({ rootSecret: 'a:b=c/d' })
  assert.deepEqual((await withColons.identify(bearer('a:b=c/d:server'))).authority, builtin('server'))
  assert.ok(await withColons.rejects(bearer('a')))
  const key = makeKeySecret(1n, new Uint8Array(20))
  const hashed = new World({ rootSecret: await hashOf(key) })
  assert.deepEqual((await hashed.identify(bearer('A'.repeat(27)))).authority, builtin('admin'))
  assert.ok(await hashed.rejects(bearer('A'.repeat(26))))
  assert.ok(await hashed.rejects(bearer(await hashOf(key))))
  for (const rootSecret of [undefined, '']) {
    const none = new World({ rootSecret })
    for (const header of [basic(''), basic(':'), bearer(':'), 'Bearer ', basic('undefined')])
      assert.ok(await none.rejects(header), header)
    await none.close()
  }
  await withColons.close()
  await hashed.close()
})

test('after the first check a key costs no bcrypt; a wrong secret for the same key always does', async () => {
  const key = await world.key({ role: 'server' })
  const before = world.bcrypt.compared.length
  for (let time = 0; time < 5; time++) await world.identify(bearer(key.secret))
  await world.identify(basic(key.secret))
  assert.equal(world.bcrypt.compared.length, before + 1)
  const wrong = makeKeySecret(key.ref.id, new Uint8Array(20))
  assert.ok(await world.rejects(bearer(wrong)))
  assert.ok(await world.rejects(bearer(wrong)))
  assert.equal(world.bcrypt.compared.length, before + 5)
})

test('a cached key is accepted without waiting', async () => {
  await world.identify(bearer(admin.secret))
  const caller = bench.read(transaction =>
    world.auth.identifier.identify(bearer(admin.secret), transaction, new Memo(), () => () => false),
  )
  assert.deepEqual(caller.authority, builtin('admin'))
})

test('deleted, expired and changed keys are invalid from the next request on', async () => {
  const deleted = await world.key({ role: 'server' })
  await world.identify(bearer(deleted.secret))
  await bench.delete(deleted.ref)
  assert.ok(await world.rejects(bearer(deleted.secret)))

  const ends = BigInt(Math.floor(bench.now / 1_000_000) + 10)
  const expiring = await world.key({ role: 'server', ttl: new Time(ends, 0) })
  await world.identify(bearer(expiring.secret))
  bench.now += 10_000_000
  assert.ok(await world.rejects(bearer(expiring.secret)))

  const changed = await world.key({ role: 'admin' })
  await world.identify(bearer(changed.secret))
  const newSecret = makeKeySecret(changed.ref.id, new Uint8Array(20).fill(7))
  const hashed_secret = await hashOf(newSecret)
  await world.put(changed.ref, { role: 'client', hashed_secret })
  assert.ok(await world.rejects(bearer(changed.secret)))
  assert.deepEqual((await world.identify(bearer(newSecret))).authority, builtin('client'))
  await world.put(changed.ref, { role: 'server', hashed_secret })
  assert.deepEqual((await world.identify(bearer(newSecret))).authority, builtin('server'))
})

test('with a deleted database, its keys and tokens and those of its descendants are invalid', async () => {
  const doomed = await world.database('doomed')
  const below = await world.database('below', doomed.id)
  const people = await world.collection('people', below.id)
  const person = await world.document(people)
  const secrets = [
    (await world.key({ role: 'admin', database: doomed })).secret,
    (await world.key({ role: 'admin' }, doomed.id)).secret,
    (await world.key({ role: 'admin', database: below }, doomed.id)).secret,
    (await world.key({ role: 'admin' }, below.id)).secret,
    (await world.token(person)).secret,
  ]
  for (const secret of secrets) await world.identify(bearer(secret))
  await bench.delete(doomed)
  for (const secret of secrets) assert.ok(await world.rejects(bearer(secret)))
  assert.ok(await world.rejects(bearer(`${admin.secret}:doomed:admin`)))
})

test('a key moves with its database; a key that names another database is invalid', async () => {
  const mover = await world.database('mover')
  const inside = await world.key({ role: 'admin' }, mover.id)
  const forMover = await world.key({ role: 'admin', database: mover })
  await world.identify(bearer(forMover.secret))
  await bench.write(transaction => transaction.moveDatabase(mover, child.id))
  for (const { secret } of [inside, forMover])
    assert.equal((await world.identify(bearer(secret))).database, mover.id)
  for (const database of [grandchild, new Ref(rootDatabase, native.databases, mover.id)]) {
    const stray = await world.key({ role: 'admin', database })
    assert.ok(await world.rejects(bearer(stray.secret)))
  }
})

test('a deleted identity, or a deleted token, ends a session', async () => {
  const person = await world.document(users)
  const first = await world.token(person)
  const second = await world.token(person)
  await world.identify(bearer(first.secret))
  await bench.delete(first.ref)
  assert.ok(await world.rejects(bearer(first.secret)))
  await world.identify(bearer(second.secret))
  await bench.delete(person)
  assert.ok(await world.rejects(bearer(second.secret)))
  assert.ok(await world.rejects(bearer(`${admin.secret}:@doc/users/${person.id}`)))
})

test('tokens without an identity are rejected', async () => {
  const never = await world.token(new Ref(rootDatabase, Number(users.id), 1n))
  assert.ok(await world.rejects(bearer(never.secret)))
  // An instance of another database, or none, occurs only in a damaged document.
  const id = world.newId()
  const secret = makeTokenSecret(id, rootDatabase, new Uint8Array(20))
  const ref = new Ref(rootDatabase, native.tokens, id)
  for (const instance of [childUser, 'user', null]) {
    await world.put(ref, { instance, hashed_secret: await hashOf(secret) })
    assert.ok(await world.rejects(bearer(secret)))
  }
})

test('an identity has the roles of its memberships, evaluated for each request', async () => {
  const people = await world.collection('members')
  const person = await world.document(people, { staff: true })
  const member = object({ resource: people, predicate: predicate('is staff') })
  const staff = await world.role('staff', { membership: member })
  const everyone = await world.role('everyone', { membership: [object({ resource: people })] })
  await world.role('no member', { membership: object({ resource: users }) })
  await world.role('broken', { membership: object({ resource: people, predicate: true }) })
  const seen: unknown[] = []
  world.predicates.set('is staff', (argument, caller, transaction) => {
    seen.push(argument, caller)
    const document = transaction.get(argument as Ref)?.fields.get('data') as ReadonlyMap<string, unknown>
    return document.get('staff') === true
  })
  const { secret, ref } = await world.token(person)
  const rolesNow = async (credential: string) => {
    const { authority } = await world.identify(bearer(credential))
    return authority.kind === 'roles' ? authority.roles : undefined
  }
  assert.deepEqual(await rolesNow(secret), [staff, everyone])
  assert.deepEqual(seen, [
    person,
    {
      database: rootDatabase,
      authority: custom([], rootDatabase, person),
      identity: person,
      credential: ref,
    },
  ])
  assert.deepEqual(await rolesNow(`${server.secret}:@doc/members/${person.id}`), [staff, everyone])
  await world.put(person, { data: object({ staff: false }) })
  assert.deepEqual(await rolesNow(secret), [everyone])
  await bench.delete(everyone)
  assert.deepEqual(await rolesNow(secret), [])
})

test('hostile headers are rejected, quickly and without output', async () => {
  const id = admin.ref.id
  const hostile = [
    'Bearer',
    'Bearer  ',
    'Bearer fn',
    bearer('fnA'),
    bearer('x'.repeat(16_000)),
    bearer(`${admin.secret} ${admin.secret}`),
    bearer(admin.secret.slice(1)),
    bearer(admin.secret.toUpperCase()),
    bearer(makeKeySecret(2n ** 64n - 1n, new Uint8Array(20))),
    bearer(makeTokenSecret(id, rootDatabase, new Uint8Array(20))),
    bearer(makeTokenSecret(token.ref.id, child.id, new Uint8Array(20))),
    bearer(makeTokenSecret(token.ref.id, 2n ** 64n - 1n, new Uint8Array(20))),
    bearer(makeKeySecret(token.ref.id, new Uint8Array(20))),
    bearer(':'.repeat(5000)),
    bearer(`${admin.secret}${':admin'.repeat(1000)}`),
    bearer(`${admin.secret}:${'child/'.repeat(2000)}:admin`),
    bearer('__proto__'),
    bearer('constructor'),
    bearer('\u0000'),
    bearer('ey.'),
    bearer('ey..'),
    bearer(`ey${'.'.repeat(10_000)}`),
    basic('\u0000'),
    basic('ey.x.y'),
    basic('$2b$05$'),
    'Basic',
    'Basic ====',
    'Basic \ud800',
  ]
  for (const header of hostile) assert.ok(await world.rejects(header), header.slice(0, 80))
  assert.ok(world.log.length >= hostile.length)
  for (const reason of world.log) assert.ok(!reason.includes('fn'), reason)
})

test('a key whose stored hash is damaged accepts no secret', async () => {
  for (const hashed_secret of [null, '', 'x', 5n, '$2b$31$']) {
    const key = await world.key({ role: 'admin' })
    await world.put(key.ref, { role: 'admin', hashed_secret })
    assert.ok(await world.rejects(bearer(key.secret)))
  }
})
