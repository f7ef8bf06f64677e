// Request bodies: encodings, missing bodies, and limits.

import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import http2 from 'node:http2'
import { beforeEach, test } from 'node:test'
import { MemoryBudget } from '../../src/base/admission/memory-budget.ts'
import { limits } from '../../src/base/limits.ts'
import { epoch } from '../../src/base/micros.ts'
import { systemTimers } from '../../src/base/timers.ts'
import { LongBody } from '../../src/engine/engine-contract.ts'
import type { Exchange } from '../../src/server/http/exchange.ts'
import { pieceOverheadBytes } from '../../src/server/http/pieces.ts'
import {
  type BodyOutcome,
  type BodyRules,
  drainedBytesMax,
  readBody,
} from '../../src/server/http/request-body.ts'
import { serviceOfFile } from '../support/service-of-file.ts'
import { resource, startFakeService } from './fake-engine.ts'
import { connectRaw } from './raw-connection.ts'

const service = serviceOfFile(startFakeService)
beforeEach(() => {
  service.engine.seen.length = 0
  service.engine.answer = () => resource('1')
})

const headers = { authorization: 'Bearer right' }

/** UTF-16, big endian. */
const swapped = (text: string) => new Uint8Array(Buffer.from(text, 'utf16le').swap16())

/** UTF-32, little endian, or big endian with `swap`. */
function utf32(text: string, swap = false): Buffer<ArrayBuffer> {
  const bytes = Buffer.concat(
    Array.from(text, char => Buffer.from(Uint32Array.of(char.codePointAt(0) as number).buffer)),
  )
  return swap ? bytes.swap32() : bytes
}

const texts: [name: string, bytes: Uint8Array<ArrayBuffer>, text: string | undefined][] = [
  ['plain text', Buffer.from('[1]'), '[1]'],
  ['text beyond ASCII', Buffer.from('"è🐉"'), '"è🐉"'],
  ['a UTF-8 byte order mark', Buffer.from('\ufeff[1]'), '[1]'],
  ['UTF-16 with a mark, little endian', Buffer.from('\ufeff"è"', 'utf16le'), '"è"'],
  ['UTF-16 with a mark, big endian', swapped('\ufeff"è"'), '"è"'],
  ['UTF-16 without a mark, little endian', Buffer.from('[10]', 'utf16le'), '[10]'],
  ['UTF-16 without a mark, big endian', swapped('[10]'), '[10]'],
  ['UTF-16 of a word beyond Latin, little endian', Buffer.from('"狐"', 'utf16le'), '"狐"'],
  ['one character of UTF-16, little endian', Buffer.from('1', 'utf16le'), '1'],
  ['UTF-32 with a mark, little endian', utf32('\ufeff"è🐉"'), '"è🐉"'],
  ['UTF-32 with a mark, big endian', utf32('\ufeff"è🐉"', true), '"è🐉"'],
  ['UTF-32 without a mark, little endian', utf32('[10]'), '[10]'],
  ['UTF-32 without a mark, big endian', utf32('1', true), '1'],
  ['UTF-32 cut', utf32('[10]').subarray(0, 15), '\ufffd'],
  ['UTF-32 beyond the last character', Buffer.from([0, 0, 0, 0x22, 0, 0x11, 0, 0]), '\ufffd'],
  ['UTF-32 with half of a surrogate pair', Buffer.from([0, 0, 0, 0x22, 0, 0, 0xd8, 0]), '\ufffd'],
  ['invalid UTF-8', Buffer.from([0x22, 0xff, 0x22]), '\ufffd'],
  ['UTF-16 cut in half', Buffer.from([0xff, 0xfe, 0x22]), '\ufffd'],
  ['white space', Buffer.from(' \n'), ' \n'],
  ['nothing', Buffer.alloc(0), undefined],
]
for (const [name, bytes, text] of texts) {
  test(`${name} is read`, async () => {
    const response = await fetch(service.url, { method: 'POST', headers, body: bytes })
    assert.equal(response.status, 200)
    assert.equal(service.engine.seen[0]?.body, text)
    assert.equal(response.headers.get('x-query-bytes-in'), String(bytes.length))
  })
}

test('a long body keeps its pieces, and very short ones are joined', () => {
  const budget = new MemoryBudget({ max: 1_000_000 })
  const outcomeOf = (pieces: number, bytes: number) => {
    const { body, outcomes, send } = reading(budget, 'a')
    for (let piece = 0; piece < pieces; piece++) send(bytes)
    body.emit('end')
    return outcomes[0]
  }
  const long = outcomeOf(150, 2000)
  assert.ok(long instanceof LongBody)
  assert.deepEqual([long.pieces.length, long.length, long.joined(2500).length], [150, 300_000, 2500])
  const joined = outcomeOf(300_000, 1)
  assert.ok(joined instanceof LongBody && joined.length === 300_000)
  assert.ok(joined.pieces.length < 30, `${joined.pieces.length} pieces`)
  assert.ok(Buffer.isBuffer(outcomeOf(100, 2000)))
})

test('each kept piece of a body has a counted overhead, and one-byte pieces are joined', () => {
  const heldBy = (pieces: number, bytes: number) => {
    const budget = new MemoryBudget({ max: 1_000_000 })
    const { send } = reading(budget, 'a')
    const empty = budget.held
    for (let piece = 0; piece < pieces; piece++) send(bytes)
    return budget.held - empty - pieces * bytes
  }
  assert.equal(heldBy(40, 1024), 40 * pieceOverheadBytes)
  const joined = heldBy(65_000, 1)
  assert.ok(joined >= 4 * pieceOverheadBytes && joined <= 12 * pieceOverheadBytes, `${joined}`)
})

test('any content type is accepted, even an invalid one', async () => {
  for (const type of ['text/plain', 'application/json', 'text/html; charset=latin1', '!!', 'a/b/c']) {
    for (const path of ['/', '/linearized']) {
      const response = await fetch(service.url + path, {
        method: 'POST',
        headers: { ...headers, 'content-type': type },
        body: '[1]',
      })
      assert.equal(response.status, 200, `${type} ${path}`)
    }
  }
  assert.ok(service.engine.seen.every(({ body }) => body === '[1]'))
})

test('a chunked body without data is an empty text, not an absent one', async () => {
  const head = 'POST / HTTP/1.1\r\nauthorization: Bearer right\r\nconnection: close\r\n'
  const chunked = await connectRaw(service.port, `${head}transfer-encoding: chunked\r\n\r\n0\r\n\r\n`)
  await chunked.ended()
  const absent = await connectRaw(service.port, `${head}\r\n`)
  await absent.ended()
  const received = service.engine.seen.map(({ body }) => body)
  assert.deepEqual(received, ['', undefined])
})

test('a character that is split between two chunks is joined', async () => {
  const head =
    'POST / HTTP/1.1\r\nauthorization: Bearer right\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n'
  const connection = await connectRaw(service.port, Buffer.from(`${head}2\r\n"\xc3\r\n`, 'latin1'))
  connection.socket.write(Buffer.from('2\r\n\xa8"\r\n0\r\n\r\n', 'latin1'))
  await connection.ended()
  assert.equal(service.engine.seen[0]?.body, '"è"')
})

test('the largest body passes, one byte more is too large, with or without a credential', async () => {
  const largest = 'x'.repeat(limits.requestBodyBytesMax)
  assert.equal((await fetch(service.url, { method: 'POST', headers, body: largest })).status, 200)
  // The first request to the engine checks the credential.
  const bodies = () => service.engine.seen.flatMap(({ longBody }) => longBody?.joined().toString() ?? [])
  assert.deepEqual(bodies(), [largest])
  for (const sent of [headers, {}]) {
    const response = await fetch(service.url, { method: 'POST', headers: sent, body: `${largest}x` })
    assert.equal(response.status, 413)
    assert.deepEqual(await response.json(), {
      errors: [{ code: 'request too large', description: 'Request entity is too large' }],
    })
  }
  assert.equal(bodies().length, 1)
  assert.equal((await fetch(service.url, { method: 'POST', headers, body: '1' })).status, 200)
})

const endless = `POST / HTTP/1.1\r\nauthorization: ${headers.authorization}\r\ntransfer-encoding: chunked\r\n\r\n`

test('an endless body gets a response, and its connection is closed', async () => {
  // Exactly one byte above the limit: unread bytes when the connection closes may cost the client its response.
  const sent = drainedBytesMax + 1
  const connection = await connectRaw(service.port, `${endless}${(sent + 1).toString(16)}\r\n`)
  connection.socket.write(Buffer.alloc(sent, 0x20))
  const answer = await connection.until('request too large')
  assert.match(answer, /^HTTP\/1\.1 413 /)
  assert.match(answer, /connection: close/i)
  await connection.ended()
})

test('a sender that does not stop is disconnected', async () => {
  const connection = await connectRaw(service.port, endless)
  const chunk = Buffer.concat([Buffer.from('100000\r\n'), Buffer.alloc(0x100000, 0x20), Buffer.from('\r\n')])
  const send = () => {
    if (connection.socket.writable) connection.socket.write(chunk, () => send())
  }
  send()
  await connection.ended()
})

test('too large bodies over HTTP/2 leave the session alive', async () => {
  // Node's client limits its unsent bytes.
  const session = http2.connect(service.url, { maxSessionMemory: 128 })
  const post = (body: Buffer) =>
    new Promise<number>((resolve, reject) => {
      const stream = session.request({ ':method': 'POST', ':path': '/', ...headers })
      stream.on('response', answer => resolve(answer[':status'] as number))
      stream.on('error', reject)
      stream.resume().end(body)
    })
  assert.equal(await post(Buffer.alloc(limits.requestBodyBytesMax + 1, 0x20)), 413)
  assert.equal(await post(Buffer.from('1')), 200)
  const large = Buffer.alloc(limits.requestBodyBytesMax, 0x20)
  assert.deepEqual(await Promise.all([post(large), post(large), post(large)]), [200, 200, 200])
  session.close()
})

/** A request whose chunks the test sends. */
function fakeExchange(client: string, headers: Record<string, string> = {}) {
  const body = new EventEmitter()
  /** Whether the connection delivers more of the body. */
  const flow = { isHeld: false }
  const pauseBody = (isHeld: boolean) => Object.assign(flow, { isHeld })
  const takeArrived: Exchange['takeArrived'] = take => take(undefined)
  return { body, flow, exchange: { headers, client, body, pauseBody, takeArrived } as unknown as Exchange }
}

function reading(budget: MemoryBudget, client: string, rules: Partial<BodyRules> = {}, headers = {}) {
  const { body, exchange, flow } = fakeExchange(client, headers)
  const outcomes: BodyOutcome[] = []
  readBody(exchange, { bytesMax: 8_000_000, ...rules }, budget, outcome => outcomes.push(outcome))
  const send = (bytes: number) => body.emit('data', Buffer.alloc(bytes))
  return { body, flow, outcomes, send }
}

test('without room, only the client with most bytes loses its largest body', () => {
  const budget = new MemoryBudget({ max: 1_000_000 })
  const greedy = Array.from({ length: 9 }, () => reading(budget, 'greedy'))
  for (const { send } of greedy) send(100_000)
  const modest = reading(budget, 'modest')
  modest.send(200_000)
  const rejected = greedy.filter(({ outcomes }) => outcomes.length > 0)
  assert.ok(rejected.length >= 1 && rejected.length < 9)
  assert.deepEqual(rejected[0]?.outcomes, ['no room'])
  modest.body.emit('end')
  assert.equal((modest.outcomes[0] as Buffer).length, 200_000)
})

test('one-byte bodies of a client evict one another, not those of others', () => {
  const budget = new MemoryBudget({ max: 1_000_000 })
  const early = reading(budget, 'modest')
  early.send(1)
  const flood = Array.from({ length: 1000 }, () => reading(budget, 'flood'))
  for (const { send } of flood) send(1)
  assert.ok(flood.some(({ outcomes }) => outcomes[0] === 'no room'))
  early.body.emit('end')
  assert.equal((early.outcomes[0] as Buffer).length, 1)
})

test('the budget is freed at the end of a body, and when its sender disconnects', () => {
  const budget = new MemoryBudget({ max: 1_000_000 })
  const [done, gone] = [reading(budget, 'a'), reading(budget, 'a')]
  done.send(10)
  gone.send(10)
  done.body.emit('end')
  done.body.emit('close')
  gone.body.emit('close')
  assert.deepEqual([done.outcomes, gone.outcomes], [[Buffer.alloc(10)], ['aborted']])
  assert.equal(budget.held, 0)
})

test('a body that is announced as too large is never kept', () => {
  const budget = new MemoryBudget({ max: 1_000_000 })
  const announced = reading(budget, 'a', { bytesMax: 8 }, { 'content-length': '9' })
  const before = budget.held
  announced.send(9)
  assert.equal(budget.held, before)
  assert.deepEqual(announced.outcomes, [])
  announced.body.emit('end')
  assert.deepEqual(announced.outcomes, ['too large'])
})

for (const group of ['database 1', undefined]) {
  test(`a body above the limit before authentication waits for the credential check (${group ? 'valid' : 'invalid'})`, async () => {
    const budget = new MemoryBudget({ max: 1_000_000 })
    const asked = Promise.withResolvers<string | undefined>()
    const { body, flow, outcomes, send } = reading(budget, 'a', { admit: () => asked.promise })
    send(limits.unauthenticatedBodyBytesMax)
    assert.equal(flow.isHeld, false)
    send(1)
    assert.equal(flow.isHeld, true)
    asked.resolve(group)
    await asked.promise
    await new Promise(setImmediate)
    assert.equal(flow.isHeld, false)
    send(1)
    assert.equal(budget.held > limits.unauthenticatedBodyBytesMax, group !== undefined)
    body.emit('end')
    const expected = group ? Buffer.alloc(limits.unauthenticatedBodyBytesMax + 2) : 'rejected'
    assert.deepEqual(outcomes, [expected])
  })
}

test('a stalled body is evicted after a window of time, a moving one is not', () => {
  let nowMs = 0
  let sweep = () => {}
  const timers = {
    ...systemTimers,
    after: (_ms: number, callback: () => void) => {
      sweep = callback
      return () => {}
    },
  }
  const clock = { now: () => epoch, elapsedMs: () => nowMs }
  const budget = new MemoryBudget({ max: 1_000_000, pace: { windowMs: 100, amount: 10, clock, timers } })
  const [still, moving] = [reading(budget, 'a'), reading(budget, 'a')]
  for (let turn = 0; turn < 5; turn++) {
    moving.send(10)
    nowMs += 100
    sweep()
  }
  assert.deepEqual([still.outcomes, moving.outcomes], [['too slow'], []])
})

test('long bodies without a valid credential are answered 401, over both versions of HTTP', async () => {
  const long = ' '.repeat(limits.unauthenticatedBodyBytesMax + 1)
  const response = await fetch(service.url, {
    method: 'POST',
    headers: { authorization: 'Bearer x' },
    body: long,
  })
  assert.equal(response.status, 401)
  const session = http2.connect(service.url)
  const stream = session.request({ ':method': 'POST', ':path': '/' })
  const answered = once(stream, 'response')
  stream.resume().end(long)
  assert.equal((await answered)[0][':status'], 401)
  session.close()
  assert.ok(service.engine.seen.every(({ body }) => body === undefined))
})
