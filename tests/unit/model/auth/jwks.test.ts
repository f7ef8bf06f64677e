// Key sets: caching, refreshes and limits (with a fetch that the test answers), and how they are fetched (from a local
// server).

import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo, LookupFunction } from 'node:net'
import { test } from 'node:test'
import { exportJWK, generateKeyPair } from 'jose'
import { systemTimers } from '../../../../src/base/timers.ts'
import { jwksLimits, KeySets } from '../../../../src/model/auth/jwks.ts'
import {
  createJwksFetch,
  type FetchKeySet,
  isPublicAddress,
  jwksFetchLimits,
  type KeySetResponse,
  publicLookup,
} from '../../../../src/model/auth/jwks-fetch.ts'
import { ManualTime, settled } from './support.ts'

const { publicKey } = await generateKeyPair('RS256', { extractable: true })
const jwk = await exportJWK(publicKey)
const uri = 'https://keys.example/jwks'

function keySet(...kids: string[]): KeySetResponse {
  const body = JSON.stringify({ keys: kids.map(kid => ({ ...jwk, kid })) })
  return { modified: true, body, etag: `"${kids.join()}"` }
}

/** Key sets over a fetch whose responses the test changes; records the requests. */
function setUp(answer: () => KeySetResponse | Promise<KeySetResponse>) {
  const time = new ManualTime()
  const asked: (string | undefined)[] = []
  const server = { answer }
  const fetch: FetchKeySet = async (_, etag) => {
    asked.push(etag)
    return server.answer()
  }
  return { time, asked, server, keys: new KeySets(fetch, time.clock) }
}

test('a set is fetched once, even by concurrent requests', async () => {
  const { asked, keys } = setUp(() => keySet('a', 'b'))
  const all = await Promise.all(['a', 'b', 'a'].map(kid => keys.key(uri, kid, 'RS256')))
  assert.equal(all[0], all[2])
  assert.equal(asked.length, 1)
})

test('after five minutes the provider is asked whether the set has changed', async () => {
  const { time, asked, server, keys } = setUp(() => keySet('a'))
  await keys.key(uri, 'a', 'RS256')
  server.answer = () => ({ modified: false })
  await time.advance(jwksLimits.jwksRefreshMs - 1)
  await keys.key(uri, 'a', 'RS256')
  assert.equal(asked.length, 1)
  await time.advance(1)
  await keys.key(uri, 'a', 'RS256')
  assert.deepEqual(asked, [undefined, '"a"'])
  await time.advance(jwksLimits.jwksRefreshMs - 1)
  await keys.key(uri, 'a', 'RS256')
  assert.equal(asked.length, 2)
  server.answer = () => keySet('c')
  await time.advance(1)
  await assert.rejects(keys.key(uri, 'a', 'RS256'), /unknown/)
})

test('an unknown kid reloads the set, unconditionally and at most every half second', async () => {
  const { time, asked, server, keys } = setUp(() => keySet('a'))
  await keys.key(uri, 'a', 'RS256')
  server.answer = () => keySet('a', 'new')
  await assert.rejects(keys.key(uri, 'new', 'RS256'), /unknown/)
  assert.equal(asked.length, 1)
  await time.advance(jwksLimits.jwksReloadMs)
  await Promise.all([keys.key(uri, 'new', 'RS256'), keys.key(uri, 'new', 'RS256')])
  assert.deepEqual(asked, [undefined, undefined])
  for (let attempt = 0; attempt < 10; attempt++) await assert.rejects(keys.key(uri, `no ${attempt}`, 'RS256'))
  assert.equal(asked.length, 2)
})

test('a failure is cached for half a second and is not remembered as a success', async () => {
  const { time, asked, server, keys } = setUp(() => Promise.reject(new Error('down')))
  await assert.rejects(keys.key(uri, 'a', 'RS256'), /down/)
  await assert.rejects(keys.key(uri, 'a', 'RS256'), /down/)
  assert.equal(asked.length, 1)
  await time.advance(jwksLimits.jwksReloadMs)
  server.answer = () => keySet('a')
  await keys.key(uri, 'a', 'RS256')
  server.answer = () => Promise.reject(new Error('down again'))
  await time.advance(jwksLimits.jwksRefreshMs)
  await assert.rejects(keys.key(uri, 'a', 'RS256'), /down again/)
})

test('without a kid the set must have exactly one key', async () => {
  const one = setUp(() => keySet('a'))
  assert.ok(await one.keys.key(uri, undefined, 'RS256'))
  for (const kids of [[], ['a', 'b']]) {
    const { keys } = setUp(() => keySet(...kids))
    await assert.rejects(keys.key(uri, undefined, 'RS256'), /exactly one/)
  }
})

test('keys that are not public RSA keys for these signatures are rejected', async () => {
  const odd = [
    { kty: 'oct', k: 'c2VjcmV0' },
    { kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA' },
    { ...jwk, n: undefined },
    { ...jwk, e: 3 },
    ...['AQ', 'AAAAAQ', 'AA', 'Ag', 'AQAA', ''].map(e => ({ ...jwk, e })),
    { ...jwk, use: 'enc' },
    { ...jwk, alg: 'RS512' },
    { ...jwk, alg: 'HS256' },
    {},
  ]
  for (const key of odd) {
    const body = JSON.stringify({ keys: [{ kid: 'a', ...key }] })
    const { keys } = setUp(() => ({ modified: true, body, etag: undefined }))
    await assert.rejects(keys.key(uri, 'a', 'RS256'), Error, body)
  }
})

test('invalid key sets are rejected', async () => {
  for (const body of [
    '',
    'null',
    '[]',
    '{}',
    '{"keys":1}',
    '{"keys":{}}',
    '{"keys":["x"]}',
    '{"keys":[null]}',
    '<html>',
  ]) {
    const { keys } = setUp(() => ({ modified: true, body, etag: undefined }))
    await assert.rejects(keys.key(uri, 'a', 'RS256'), Error, body)
  }
})

test('a set of very many keys is rejected, however short they are', async () => {
  const many = (count: number) => `{"keys":[${Array(count).fill('{}').join()}]}`
  const { keys, server, time } = setUp(() => ({
    modified: true,
    body: many(jwksLimits.jwksKeysMax + 1),
    etag: '',
  }))
  await assert.rejects(keys.key(uri, 'a', 'RS256'), /too many keys/)
  await time.advance(jwksLimits.jwksReloadMs)
  server.answer = () => ({ modified: true, body: many(jwksLimits.jwksKeysMax), etag: '' })
  await assert.rejects(keys.key(uri, 'a', 'RS256'), /the kid is unknown/)
})

test('an owner that fetches very many sets does not delay others', async () => {
  const pending: { readonly uri: string; readonly answer: () => void }[] = []
  const fetch: FetchKeySet = uri =>
    new Promise(resolve => pending.push({ uri, answer: () => resolve(keySet('a')) }))
  const keys = new KeySets(fetch, new ManualTime().clock)
  const greedy = Array.from({ length: 3 * jwksLimits.jwksFetchesAtOnceMax }, (_, n) =>
    keys.key(`https://greedy.example/${n}`, 'a', 'RS256', 'greedy'),
  )
  const modest = keys.key('https://modest.example/', 'a', 'RS256', 'modest')
  await settled()
  assert.equal(pending.length, jwksLimits.jwksFetchesAtOnceMax)
  for (let at = 0; at < 2; at++) pending[at]?.answer()
  await settled()
  const next = pending.slice(jwksLimits.jwksFetchesAtOnceMax).map(fetch => fetch.uri)
  assert.ok(next.includes('https://modest.example/'), `${next}`)
  for (let at = 2; at < pending.length; at++) {
    pending[at]?.answer()
    await settled()
  }
  await Promise.all([...greedy, modest])
})

test('sets unused for an hour are dropped, and the others stay within the limit of bytes', async () => {
  const { time, asked, server, keys } = setUp(() => keySet('a'))
  await keys.key(uri, 'a', 'RS256')
  await time.advance(jwksLimits.jwksIdleMs)
  await keys.key(uri, 'a', 'RS256')
  // It was dropped, so the request has no tag.
  assert.deepEqual(asked, [undefined, undefined])
  const big = 'x'.repeat(1_000_000)
  server.answer = () => ({
    modified: true,
    body: JSON.stringify({ keys: [{ ...jwk, kid: 'a' }], big }),
    etag: 'e',
  })
  for (let set = 0; set < 20; set++) await keys.key(`${uri}/${set}`, 'a', 'RS256')
  asked.length = 0
  await keys.key(`${uri}/19`, 'a', 'RS256')
  assert.equal(asked.length, 0)
  await keys.key(`${uri}/0`, 'a', 'RS256')
  assert.equal(asked.length, 1)
})

test('only addresses of the public internet are public', () => {
  const publicOnes = [
    '8.8.8.8',
    '1.1.1.1',
    '172.32.0.1',
    '100.128.0.1',
    '2606:4700::1111',
    '2a00:1450:4001::1',
  ]
  const others = [
    ...'127.0.0.1 127.255.255.254 0.0.0.0 10.1.2.3 172.16.0.1 172.31.255.255 192.168.1.1 169.254.169.254 100.64.0.1 192.0.0.1 192.0.2.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 240.0.0.1 255.255.255.255 :: ::1 ::ffff:127.0.0.1 ::ffff:8.8.8.8 64:ff9b::7f00:1 fe80::1 fc00::1 fd12::1 ff02::1 2001:db8::1 2001::1 2002:7f00:1:: 3fff::1 localhost'.split(
      ' ',
    ),
    '',
  ]
  const rejected = publicOnes.filter(address => !isPublicAddress(address))
  assert.deepEqual(rejected, [])
  assert.deepEqual(others.filter(isPublicAddress), [])
})

test('a name that resolves to a private address, even among others, is rejected', async () => {
  const resolving = (...addresses: string[]): LookupFunction =>
    publicLookup((_, options, answer) => {
      assert.equal(options.all, true)
      answer(
        null,
        addresses.map(address => ({ address, family: address.includes(':') ? 6 : 4 })),
      )
    })
  const resolve = (lookup: LookupFunction, all: boolean) =>
    new Promise((done, fail) => {
      lookup('name', { all }, (error, found) => (error ? fail(error) : done(found)))
    })
  assert.equal(await resolve(resolving('8.8.8.8', '1.1.1.1'), false), '8.8.8.8')
  assert.deepEqual(await resolve(resolving('8.8.8.8'), true), [{ address: '8.8.8.8', family: 4 }])
  await assert.rejects(resolve(resolving('127.0.0.1'), true), /private/)
  await assert.rejects(resolve(resolving('8.8.8.8', '10.0.0.1'), false), /private/)
  await assert.rejects(resolve(resolving(), false), /no address/)
})

/** Runs `work` against a local server; returns the requests that the server got. */
async function withServer(listener: RequestListener, work: (origin: string) => Promise<void>): Promise<void> {
  const server = createServer(listener)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  try {
    await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  } finally {
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
  }
}

const insecure = createJwksFetch({ timers: systemTimers, allowInsecure: true })
const secure = createJwksFetch({ timers: systemTimers, allowInsecure: false })

test('the request: path only, accept header, conditional when there is a tag', async () => {
  const seen: unknown[] = []
  await withServer(
    (request, response) => {
      const { accept, 'if-none-match': tag, authorization } = request.headers
      seen.push([request.method, request.url, accept, tag, authorization])
      response.setHeader('etag', '"1"')
      response.statusCode = tag === '"1"' ? 304 : 200
      response.end(response.statusCode === 200 ? '{"keys":[]}' : undefined)
    },
    async origin => {
      const { host } = new URL(origin)
      const fetched = await insecure(`http://user:pass@${host}/a/b?secret=1#x`, undefined)
      assert.deepEqual(fetched, { modified: true, body: '{"keys":[]}', etag: '"1"' })
      assert.deepEqual(await insecure(origin, '"1"'), { modified: false })
    },
  )
  assert.deepEqual(seen, [
    ['GET', '/a/b', 'application/json', undefined, undefined],
    ['GET', '/', 'application/json', '"1"', undefined],
  ])
})

test('redirects, errors, unexpected 304s, huge and broken responses are rejected', async () => {
  await withServer(
    (request, response) => {
      const path = request.url ?? ''
      if (path === '/huge') return response.end('x'.repeat(jwksFetchLimits.jwksBytesMax + 1))
      if (path === '/broken') {
        response.writeHead(200, { 'content-length': '100' }).write('{')
        return setImmediate(() => response.destroy())
      }
      if (path === '/largest') return response.end('x'.repeat(jwksFetchLimits.jwksBytesMax))
      response.writeHead(Number(path.slice(1)), { location: '/largest' }).end('{"keys":[]}')
    },
    async origin => {
      for (const path of ['301', '302', '307', '304', '404', '500', '201', '204', 'huge', 'broken'])
        await assert.rejects(insecure(`${origin}/${path}`, undefined), Error, path)
      const largest = await insecure(`${origin}/largest`, undefined)
      assert.ok(largest.modified && largest.body.length === jwksFetchLimits.jwksBytesMax)
    },
  )
})

test('a server that never answers, or never stops, is cancelled', async () => {
  for (const drip of [false, true]) {
    const time = new ManualTime()
    const impatient = createJwksFetch({ timers: time, allowInsecure: true })
    const arrived = Promise.withResolvers<void>()
    await withServer(
      (_, response) => {
        if (drip) response.writeHead(200).write(' ')
        arrived.resolve()
      },
      async origin => {
        const fetching = assert.rejects(impatient(origin, undefined), /in time/)
        await arrived.promise
        await settled()
        await time.advance(jwksFetchLimits.jwksTimeoutMs)
        await fetching
      },
    )
  }
})

test('plain HTTP, other schemes and private addresses are rejected unless allowed', async () => {
  await withServer(
    () => assert.fail('no request may arrive'),
    async origin => {
      const { port } = new URL(origin)
      const rejected = [
        `http://127.0.0.1:${port}`,
        'http://example.com/',
        `https://127.0.0.1:${port}`,
        `https://localhost:${port}`,
        `https://[::1]:${port}`,
        `https://[::ffff:127.0.0.1]:${port}`,
        `https://2130706433:${port}`,
        `https://0x7f.1:${port}`,
        `https://127.1:${port}`,
        'https://169.254.169.254/latest',
        'file:///etc/passwd',
        'ftp://example.com/',
        'not a uri',
        '',
      ]
      for (const address of rejected) await assert.rejects(secure(address, undefined), Error, address)
    },
  )
  for (const address of ['file:///etc/passwd', 'ftp://127.0.0.1/', 'data:,x'])
    await assert.rejects(insecure(address, undefined), /not fetched over/)
})

test('the connection uses the address that was checked', async () => {
  const asked: string[] = []
  const rebinding = createJwksFetch({
    timers: systemTimers,
    allowInsecure: false,
    lookup: (hostname, _, answer) => {
      asked.push(hostname)
      answer(null, [{ address: '127.0.0.1', family: 4 }])
    },
  })
  await assert.rejects(rebinding('https://rebinding.example/', undefined), /private/)
  assert.deepEqual(asked, ['rebinding.example'])
})

test('the reason for an unavailable set is logged once, until it changes', async () => {
  const time = new ManualTime()
  const told: string[] = []
  let reason = 'the key server answered 500'
  const keys = new KeySets(
    () => Promise.reject(new Error(reason)),
    time.clock,
    (uri, why) => told.push(`${uri}: ${why}`),
  )
  for (const next of [reason, reason, 'the jwks_uri is not a URI']) {
    reason = next
    await assert.rejects(keys.key('https: //x', 'k', 'RS256'))
    await time.advance(1000)
  }
  assert.deepEqual(told, ['https: //x: the key server answered 500', 'https: //x: the jwks_uri is not a URI'])
})
