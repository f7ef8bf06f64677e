// How request bodies are read: encodings, absence, and what happens past the limits.

import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import type { IncomingMessage } from 'node:http'
import http2 from 'node:http2'
import { after, before, beforeEach, test } from 'node:test'
import { type BodyOutcome, BodyReader } from '../../src/http/request-body.ts'
import { limits } from '../../src/limits.ts'
import { type FakeService, resource, startFakeService } from './fake-engine.ts'
import { connectRaw } from './raw-connection.ts'

let service: FakeService
before(async () => {
  service = await startFakeService()
})
after(() => service.stop())
beforeEach(() => {
  service.engine.seen.length = 0
  service.engine.answer = () => resource('1')
})

const headers = { authorization: 'Bearer right' }

/** UTF-16, big endian. */
const swapped = (text: string) => new Uint8Array(Buffer.from(text, 'utf16le').swap16())

/** UTF-32, little endian; the other way round with `swap`. */
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

test('any content type is accepted, even one that is none', async () => {
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
  assert.deepEqual(
    service.engine.seen.map(({ body }) => body),
    ['', undefined],
  )
})

test('a character cut between two chunks is put together', async () => {
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
  assert.equal(service.engine.seen[0]?.body?.length, limits.requestBodyBytesMax)
  for (const sent of [headers, {}]) {
    const response = await fetch(service.url, { method: 'POST', headers: sent, body: `${largest}x` })
    assert.equal(response.status, 413)
    assert.deepEqual(await response.json(), {
      errors: [{ code: 'request too large', description: 'Request entity is too large' }],
    })
  }
  assert.equal(service.engine.seen.length, 1)
  assert.equal((await fetch(service.url, { method: 'POST', headers, body: '1' })).status, 200)
})

test('a body without end is answered and cut off', async () => {
  const head = 'POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n'
  const connection = await connectRaw(service.port, head)
  const chunk = Buffer.concat([Buffer.from('100000\r\n'), Buffer.alloc(0x100000, 0x20), Buffer.from('\r\n')])
  const send = () => {
    if (connection.socket.writable) connection.socket.write(chunk, () => send())
  }
  send()
  const answer = await connection.until('request too large')
  assert.match(answer, /^HTTP\/1\.1 413 /)
  assert.match(answer, /connection: close/i)
  await connection.ended()
})

test('too large bodies over HTTP/2 leave the session alive', async () => {
  // Node's client has a limit of its own on what it holds unsent.
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
function fakeRequest(sent: Record<string, string> = {}): EventEmitter & IncomingMessage {
  return Object.assign(new EventEmitter(), { headers: sent, aborted: false }) as EventEmitter &
    IncomingMessage
}

function reading(reader: BodyReader, request: IncomingMessage): BodyOutcome[] {
  const outcomes: BodyOutcome[] = []
  reader.read(request, outcome => outcomes.push(outcome))
  return outcomes
}

test('all bodies being read share one budget, which is given back', () => {
  const reader = new BodyReader(10, 8)
  const first = fakeRequest()
  const second = fakeRequest()
  const third = fakeRequest()
  const firstOutcomes = reading(reader, first)
  const secondOutcomes = reading(reader, second)
  first.emit('data', Buffer.alloc(6))
  second.emit('data', Buffer.alloc(6))
  second.emit('end')
  assert.deepEqual(secondOutcomes, ['overload'])
  first.emit('end')
  first.emit('close')
  assert.deepEqual(firstOutcomes, [Buffer.alloc(6)])
  const thirdOutcomes = reading(reader, third)
  third.emit('data', Buffer.alloc(8))
  third.emit('end')
  assert.deepEqual(thirdOutcomes, [Buffer.alloc(8)])
})

test('a sender that goes away gives its budget back', () => {
  const reader = new BodyReader(10, 8)
  const gone = fakeRequest()
  const outcomes = reading(reader, gone)
  gone.emit('data', Buffer.alloc(8))
  gone.emit('close')
  assert.deepEqual(outcomes, ['aborted'])
  const next = fakeRequest()
  const nextOutcomes = reading(reader, next)
  next.emit('data', Buffer.alloc(8))
  next.emit('end')
  assert.deepEqual(nextOutcomes, [Buffer.alloc(8)])
})

test('a body announced as too large is never held', () => {
  const reader = new BodyReader(10, 8)
  const announced = fakeRequest({ 'content-length': '9' })
  const outcomes = reading(reader, announced)
  announced.emit('data', Buffer.alloc(9))
  assert.deepEqual(outcomes, [])
  announced.emit('end')
  assert.deepEqual(outcomes, ['too large'])
})
