// Tokens of third parties: the rights of a valid one, and every way in which one is invalid.

import assert from 'node:assert/strict'
import { createHmac, createSign, generateKeyPairSync } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { Memo, Pending } from '../../../../src/base/pending.ts'
import { RequestError } from '../../../../src/base/request-errors.ts'
import { encodeGlobalId } from '../../../../src/values/names.ts'
import { native, Ref, rootDatabase, type Value } from '../../../../src/values/value.ts'
import { basic, bearer, noPredicates, object, predicate, World } from './support.ts'

const prefix = 'https://db.fauna.com/db/'
const issuer = 'https://issuer.example/'
const signing = generateKeyPairSync('rsa', { modulusLength: 2048 })
const foreign = generateKeyPairSync('rsa', { modulusLength: 2048 })
const weak = generateKeyPairSync('rsa', { modulusLength: 1024 })
const jwk = (key: typeof signing, more: object) => ({ ...key.publicKey.export({ format: 'jwk' }), ...more })

const world = new World({ allowInsecureJwks: true })
const child = await world.database('child')
const other = await world.database('other')
const readers = await world.role('readers', {}, child.id)
const writers = await world.role('writers', {}, child.id)

let keys: object[] = [
  jwk(signing, { kid: 'one' }),
  jwk(foreign, { kid: 'two', use: 'enc' }),
  jwk(weak, { kid: 'weak' }),
]
let requests = 0
const server = createServer((_, response) => {
  requests++
  response.end(JSON.stringify({ keys }))
})
let origin = ''

before(async () => {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  await provider('main', issuer, readers)
})

after(async () => {
  server.closeAllConnections()
  await new Promise(resolve => server.close(resolve))
  await world.close()
})

function provider(name: string, iss: string, roles: Value, database = child.id) {
  const fields = { name, issuer: iss, jwks_uri: `${origin}/${name}`, ...(roles !== null && { roles }) }
  return world.put(new Ref(database, native.access_providers, world.newId()), fields)
}

const encode = (part: unknown) =>
  Buffer.from(typeof part === 'string' ? part : JSON.stringify(part)).toString('base64url')

function sign(payload: unknown, header: object = {}, key = signing): string {
  const signed = `${encode({ alg: 'RS256', typ: 'JWT', kid: 'one', ...header })}.${encode(payload)}`
  const { alg = 'RS256' } = header as { alg?: string }
  const signature = createSign(`RSA-SHA${alg.slice(2)}`)
    .update(signed)
    .sign(key.privateKey)
  return `${signed}.${signature.toString('base64url')}`
}

const seconds = () => world.time.ms / 1000
const claims = (more: object = {}) => ({
  iss: issuer,
  aud: prefix + encodeGlobalId(child.id),
  sub: 'user|1',
  exp: seconds() + 60,
  ...more,
})

test('a valid token has the roles of its provider and its subject as identity', async () => {
  const payload = claims({ custom: { deep: [1, 1.5, null] } })
  const caller = await world.identify(bearer(sign(payload)))
  assert.equal(caller.database, child.id)
  assert.deepEqual(caller.authority, {
    kind: 'roles',
    database: child.id,
    roles: [readers],
    identity: undefined,
  })
  assert.equal(caller.identity, 'user|1')
  const credential = caller.credential as ReadonlyMap<string, Value>
  assert.deepEqual([...credential.keys()], ['iss', 'aud', 'sub', 'exp', 'custom'])
  assert.deepEqual(credential.get('custom'), new Map([['deep', [1n, 1.5, null]]]))
})

test('other valid variants', async () => {
  const audience = prefix + encodeGlobalId(child.id)
  const good = [
    sign(claims(), { alg: 'RS384' }),
    sign(claims(), { alg: 'RS512' }),
    sign(claims({ aud: [audience] })),
    sign(claims({ aud: ['https://elsewhere.example', audience, 5] })),
    sign(claims({ exp: undefined })),
    sign(claims({ exp: seconds() + 0.5 })),
    sign(claims({ nbf: seconds() - 1 })),
    sign(claims({ iat: 'whenever', scope: 5 })),
    sign(claims(), { typ: 'at+jwt', jku: 'https://evil.example', x5u: 'https://evil.example' }),
  ]
  for (const token of good) assert.equal((await world.identify(bearer(token))).identity, 'user|1')
  const { identity } = await world.identify(bearer(sign(claims({ sub: undefined }))))
  assert.equal(identity, undefined)
})

const publicPem = signing.publicKey.export({ type: 'spki', format: 'pem' })

function unsigned(header: unknown, payload: unknown): string {
  return `${encode(header)}.${encode(payload)}.`
}

function hmac(secret: string | Buffer): string {
  const signed = `${encode({ alg: 'HS256', typ: 'JWT', kid: 'one' })}.${encode(claims())}`
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
}

/** Replaces the payload and keeps the signature. */
function tampered(): string {
  const [header, , signature] = sign(claims()).split('.')
  return `${header}.${encode(claims({ sub: 'admin' }))}.${signature}`
}

const audienceOf = (database: bigint) => prefix + encodeGlobalId(database)

const bad: Record<string, [token: () => string, reason: RegExp]> = {
  'two parts': [() => sign(claims()).split('.').slice(0, 2).join('.'), /malformed/],
  'four parts': [() => `${sign(claims())}.x`, /malformed/],
  'a payload that is no JSON': [() => sign('no json'), /malformed/],
  'a payload that is no object': [() => sign([1]), /malformed/],
  'a payload with a number past 64 bits': [() => sign('{"exp":99999999999999999999}'), /malformed/],
  'a payload nested without end': [() => sign('['.repeat(3000)), /malformed/],
  'a header that is no object': [() => `ey${encode('x')}.${encode(claims())}.x`, /malformed/],
  'padded base64': [() => sign(claims()).replace('.', '=.'), /malformed/],
  'a payload that is no UTF-8': [
    () => `${encode({ alg: 'RS256' })}.${Buffer.from([0x7b, 0xff, 0x7d]).toString('base64url')}.x`,
    /malformed/,
  ],
  'the algorithm none': [() => unsigned({ alg: 'none', kid: 'one' }, claims()), /algorithm/],
  'the algorithm None': [() => unsigned({ alg: 'None', kid: 'one' }, claims()), /algorithm/],
  'no algorithm': [() => unsigned({ kid: 'one' }, claims()), /algorithm/],
  'a list of algorithms': [() => unsigned({ alg: ['RS256'], kid: 'one' }, claims()), /algorithm/],
  'a shared secret': [() => hmac('secret'), /algorithm/],
  'the public key as a shared secret': [() => hmac(publicPem), /algorithm/],
  'another signature scheme': [
    () => sign(claims(), { alg: 'PS256' }).replace(/^[^.]+/, encode({ alg: 'PS256', kid: 'one' })),
    /algorithm/,
  ],
  'critical extensions': [() => sign(claims(), { crit: ['exp'] }), /critical/],
  'an unencoded payload': [() => sign(claims(), { b64: false, crit: ['b64'] }), /critical/],
  'no audience': [() => sign(claims({ aud: undefined })), /audience/],
  'an empty audience': [() => sign(claims({ aud: [] })), /audience/],
  'the audience of another service': [() => sign(claims({ aud: 'https://elsewhere.example' })), /audience/],
  'an audience that is an object': [() => sign(claims({ aud: { x: 1 } })), /audience/],
  'two databases': [() => sign(claims({ aud: [audienceOf(child.id), audienceOf(other.id)] })), /audience/],
  'the same database twice': [
    () => sign(claims({ aud: [audienceOf(child.id), audienceOf(child.id)] })),
    /audience/,
  ],
  'a malformed database': [() => sign(claims({ aud: `${prefix}x` })), /audience/],
  'an audience with a slash behind it': [() => sign(claims({ aud: `${audienceOf(child.id)}/` })), /audience/],
  'a database that does not exist': [() => sign(claims({ aud: audienceOf(99n) })), /audience/],
  'the root database': [() => sign(claims({ aud: audienceOf(rootDatabase) })), /audience/],
  'the issuer of another database': [() => sign(claims({ aud: audienceOf(other.id) })), /issuer/],
  'an unknown issuer': [() => sign(claims({ iss: `${issuer}x` })), /issuer/],
  'an issuer that differs in case': [() => sign(claims({ iss: issuer.toUpperCase() })), /issuer/],
  'no issuer': [() => sign(claims({ iss: undefined })), /issuer/],
  'a list of issuers': [() => sign(claims({ iss: [issuer] })), /issuer/],
  expired: [() => sign(claims({ exp: seconds() - 1 })), /expired/],
  'expired just now': [() => sign(claims({ exp: seconds() })), /expired/],
  'an expiry that is no number': [() => sign(claims({ exp: '9999999999' })), /expired/],
  'an expiry of null': [() => sign(claims({ exp: null })), /expired/],
  'not yet valid': [() => sign(claims({ nbf: seconds() + 1 })), /not valid yet/],
  'valid from now on': [() => sign(claims({ nbf: seconds() })), /not valid yet/],
  'a beginning that is no number': [() => sign(claims({ nbf: '0' })), /not valid yet/],
  'no kid where there are several keys': [() => sign(claims(), { kid: undefined }), /exactly one/],
  'an unknown kid': [() => sign(claims(), { kid: 'nope' }), /unknown/],
  'a kid that is no string': [() => sign(claims(), { kid: 1 }), /kid/],
  'a key that is not for signatures': [() => sign(claims(), { kid: 'two' }, foreign), /not for signatures/],
  'a key that is too short': [() => sign(claims(), { kid: 'weak' }, weak), /2048/],
  'the signature of another key': [() => sign(claims(), {}, foreign), /signature/],
  'the signature of another algorithm': [
    () => sign(claims()).replace(/^[^.]+/, encode({ alg: 'RS512', kid: 'one' })),
    /signature/,
  ],
  'a changed payload': [tampered, /signature/],
  'no signature': [() => unsigned({ alg: 'RS256', kid: 'one' }, claims()), /signature/],
  'an embedded key': [() => sign(claims(), { jwk: jwk(foreign, {}) }, foreign), /signature/],
  oversized: [() => sign(claims({ filler: 'x'.repeat(16_000) })), /malformed|too long/],
}

for (const [name, [token, reason]] of Object.entries(bad)) {
  test(`rejected: ${name}`, async () => {
    world.log.length = 0
    assert.ok(await world.rejects(bearer(token())))
    assert.equal(world.log.length, 1)
    assert.match(world.log[0] ?? '', reason)
    // The lookup of the same secret finds nothing, and reveals nothing.
    const owner = await world.read((transaction, memo) =>
      world.auth.identifier.ownerOf(token(), transaction, memo),
    )
    assert.equal(owner, undefined)
  })
}

test('a token is not accepted under Basic', async () => {
  assert.ok(await world.rejects(basic(sign(claims()))))
})

test('a token can be looked up by its text', async () => {
  const owner = await world.read((transaction, memo) =>
    world.auth.identifier.ownerOf(sign(claims()), transaction, memo),
  )
  assert.ok(owner && 'payload' in owner)
  assert.equal(owner.database, child.id)
})

test('roles by predicate, by name, and without any', async () => {
  const withPredicate = (name: string) => object({ role: writers, predicate: predicate(name) })
  world.predicates.set('is editor', (payload, caller) => {
    assert.equal(payload, caller.credential)
    assert.equal(caller.identity, 'user|1')
    return (payload as ReadonlyMap<string, Value>).get('editor') === true
  })
  await provider('mixed', 'mixed', [
    'readers',
    withPredicate('is editor'),
    'missing',
    object({ role: 'gone' }),
  ])
  await provider('only', 'only', withPredicate('is editor'))
  await provider('none', 'none', null)
  await provider('odd', 'odd', [object({ role: writers, predicate: true }), 5n, null])
  const rolesOf = async (more: object) => {
    const { authority } = await world.identify(bearer(sign(claims(more))))
    return authority.kind === 'roles' ? authority.roles : undefined
  }
  assert.deepEqual(await rolesOf({ iss: 'mixed' }), [readers])
  assert.deepEqual(await rolesOf({ iss: 'mixed', editor: true }), [readers, writers])
  assert.deepEqual(await rolesOf({ iss: 'only', editor: true }), [writers])
  for (const more of [{ iss: 'only' }, { iss: 'only', editor: 1 }, { iss: 'none' }, { iss: 'odd' }])
    assert.ok(await world.rejects(bearer(sign(claims(more)))), JSON.stringify(more))
})

test('one key needs no kid; a new key is found; a withdrawn one is invalid after the refresh', async () => {
  keys = [jwk(foreign, {})]
  await provider('rotating', 'rotating', readers)
  const token = () => sign(claims({ iss: 'rotating' }), { kid: undefined }, foreign)
  await world.identify(bearer(token()))
  keys = [jwk(foreign, { kid: 'old' }), jwk(signing, { kid: 'fresh' })]
  await world.time.advance(1000)
  await world.identify(bearer(sign(claims({ iss: 'rotating' }), { kid: 'fresh' })))
  keys = [jwk(signing, { kid: 'fresh' })]
  await world.time.advance(300_000)
  assert.ok(await world.rejects(bearer(sign(claims({ iss: 'rotating' }), { kid: 'old' }, foreign))))
})

test('a signature is checked once, while its key stays in the set', async () => {
  keys = [jwk(signing, { kid: 'one' })]
  await provider('steady', 'steady', readers)
  const header = bearer(sign(claims({ iss: 'steady', exp: seconds() + 1000 })))
  const atOnce = () =>
    world.bench.read(transaction =>
      world.auth.identifier.identify(header, transaction, new Memo(), noPredicates),
    )
  assert.throws(atOnce, Pending)
  await world.identify(header)
  assert.equal(atOnce().identity, 'user|1')
  await world.time.advance(300_000)
  assert.throws(atOnce, Pending)
  await world.identify(header)
  // The kid is the same, and the key is another one.
  keys = [jwk(foreign, { kid: 'one' })]
  await world.time.advance(300_000)
  assert.ok(await world.rejects(header))
  assert.throws(atOnce, Pending)
  await world.time.advance(500_000)
  assert.throws(atOnce, error => error instanceof RequestError && error.status === 401)
})

test('keys are fetched once for many requests', async () => {
  keys = [jwk(signing, { kid: 'one' })]
  await provider('busy', 'busy', readers)
  requests = 0
  const header = bearer(sign(claims({ iss: 'busy' })))
  await Promise.all(Array.from({ length: 20 }, () => world.identify(header)))
  assert.equal(requests, 1)
})

test('a deleted provider, role or database invalidates its tokens', async () => {
  const doomed = await world.database('doomed')
  const role = await world.role('role', {}, doomed.id)
  const main = await provider('doomed', 'doomed', role, doomed.id)
  const header = () => bearer(sign(claims({ iss: 'doomed', aud: audienceOf(doomed.id) })))
  await world.identify(header())
  await world.bench.delete(role)
  assert.ok(await world.rejects(header()))
  await world.put(main, { name: 'doomed', issuer: 'doomed', jwks_uri: `${origin}/x`, roles: 'again' })
  await world.role('again', {}, doomed.id)
  await world.identify(header())
  await world.bench.delete(main)
  assert.ok(await world.rejects(header()))
  await provider('second', 'doomed', 'again', doomed.id)
  await world.identify(header())
  await world.bench.delete(doomed)
  assert.ok(await world.rejects(header()))
})

test('key servers in the private network are rejected unless allowed', async () => {
  const strict = new World()
  const database = await strict.database('strict')
  await strict.role('role', {}, database.id)
  const fields = { name: 'p', issuer, jwks_uri: origin, roles: 'role' }
  await strict.put(new Ref(database.id, native.access_providers, strict.newId()), fields)
  requests = 0
  assert.ok(await strict.rejects(bearer(sign(claims({ aud: audienceOf(database.id) })))))
  assert.match(strict.log[0] ?? '', /not fetched over http/)
  assert.equal(requests, 0)
  await strict.close()
})
