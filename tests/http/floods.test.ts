// HTTP/2 sessions that send many useless frames are ended, and other clients are neither delayed nor ended.

import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import http2, { type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { systemClock } from '../../src/base/clock.ts'
import { epoch } from '../../src/base/micros.ts'
import { systemTimers } from '../../src/base/timers.ts'
import { Pacer } from '../../src/server/http/pacer.ts'
import { Pacing, pacingLimits } from '../../src/server/http/pacing.ts'
import { type FakeService, type FakeServiceOptions, resource } from './fake-engine.ts'
import { connectRaw } from './raw-connection.ts'
import {
  endHeaders,
  endStream,
  frame,
  goawayCode,
  headerBlock,
  initialWindow,
  opening,
  uint32,
} from './raw-http2.ts'
import { authorization, serviceTest } from './service-test.ts'

const calm = http2.constants.NGHTTP2_ENHANCE_YOUR_CALM
const cancel = http2.constants.NGHTTP2_CANCEL
const head = headerBlock({
  ':method': 'POST',
  ':scheme': 'http',
  ':path': '/',
  ':authority': 'x',
  authorization,
})
const request = (stream: number, body: string) => [
  frame('headers', endHeaders, stream, head),
  frame('data', endStream, stream, Buffer.from(body)),
]

/** A clock that stands still, so that allowances do not refill and offences do not expire, however slow the machine is. */
const stillClock = { ...systemClock, elapsedMs: () => 0 }

function floodTest(
  name: string,
  body: (service: FakeService) => Promise<void>,
  options: FakeServiceOptions = {},
): void {
  const checked = async (service: FakeService) => {
    await body(service)
    const { status } = await fetch(service.url, { method: 'POST', headers: { authorization }, body: '2' })
    assert.equal(status, 200)
    assert.deepEqual(service.log, [])
  }
  serviceTest(name, checked, options)
}

/** Sends the same piece until the connection ends; returns all received bytes. */
async function flood(service: FakeService, first: Buffer, piece: Buffer): Promise<Buffer> {
  const { socket, ended } = await connectRaw(service.port, first)
  const send = () => {
    while (socket.writable && socket.write(piece)) {}
  }
  socket.on('drain', send)
  send()
  return Buffer.from(await ended(), 'latin1')
}

floodTest(
  'a window that is opened byte by byte',
  async service => {
    service.engine.answer = asked =>
      resource(asked.body === '1' ? JSON.stringify('x'.repeat(8_000_000)) : '2')
    const first = Buffer.concat([opening({ [initialWindow]: 0 }), ...request(1, '1')])
    const byte = frame('windowUpdate', 0, 1, uint32(1))
    const received = await flood(service, first, Buffer.concat(Array.from({ length: 5000 }, () => byte)))
    assert.equal(goawayCode(received), calm)
  },
  { clock: stillClock },
)

floodTest(
  'a body of a byte in each frame',
  async service => {
    const first = Buffer.concat([opening(), frame('headers', endHeaders, 1, head)])
    const byte = frame('data', 0, 1, Buffer.from(' '))
    const received = await flood(service, first, Buffer.concat(Array.from({ length: 5000 }, () => byte)))
    assert.equal(goawayCode(received), calm)
  },
  { clock: stillClock },
)

floodTest(
  'bytes of a body that nobody reads, each in a frame',
  async service => {
    const asked = headerBlock({ ':method': 'GET', ':scheme': 'http', ':path': '/ping', ':authority': 'x' })
    const first = Buffer.concat([opening(), frame('headers', endHeaders, 1, asked)])
    const byte = frame('data', 0, 1, Buffer.from(' '))
    const received = await flood(service, first, Buffer.concat(Array.from({ length: 5000 }, () => byte)))
    assert.equal(goawayCode(received), calm)
  },
  { clock: stillClock },
)

async function cancelOneByOne(service: FakeService): Promise<void> {
  const session = http2.connect(service.url)
  session.on('error', () => {})
  let code: number | undefined
  session.on('goaway', received => {
    code = received
  })
  const closed = new Promise(resolve => session.once('close', resolve))
  for (
    let sent = 0;
    sent < 10 * pacingLimits.sessionResetBurst && !session.destroyed && code === undefined;
    sent++
  ) {
    const stream = session.request({ ':method': 'POST', ':path': '/', authorization: 'Bearer right' })
    stream.on('error', () => {})
    stream.write('1')
    await new Promise(setImmediate)
    stream.close(cancel)
    await new Promise(setImmediate)
  }
  await closed
  // If many resets arrive together, Node's own limit comes first, with an internal error.
  assert.ok(code === calm || code === http2.constants.NGHTTP2_INTERNAL_ERROR, `${code}`)
}

floodTest('requests that are cancelled one after the other', cancelOneByOne, { clock: stillClock })

floodTest('requests that are cancelled in one chunk, again and again from the same client', async service => {
  for (let round = 0; round < 5; round++) {
    const piece = Buffer.concat(
      Array.from({ length: 500 }, (_, at) => [
        frame('headers', endHeaders, 2 * at + 1, head),
        frame('reset', 0, 2 * at + 1, uint32(cancel)),
      ]).flat(),
    )
    const connection = await connectRaw(service.port, opening())
    // Sends pieces, which wait together for their session if the client is delayed.
    for (let at = 0; at < piece.length; at += 1000) {
      connection.socket.write(piece.subarray(at, at + 1000))
      await new Promise(setImmediate)
    }
    await connection.ended()
  }
})

floodTest(
  'after its session was closed, a client may cancel fewer requests at once for a while',
  async service => {
    const taken = (count: number) =>
      Array.from({ length: count }, (_, at) => [
        frame('headers', endHeaders, 2 * at + 1, head),
        frame('reset', 0, 2 * at + 1, uint32(cancel)),
      ]).flat()
    const few = 5 * pacingLimits.offenderResetBurst
    assert.ok(few < pacingLimits.sessionResetBurst)
    const start = (...frames: readonly Buffer[]) =>
      connectRaw(service.port, Buffer.concat([opening(), ...frames]))
    const first = await start(...taken(few), ...request(2 * few + 1, '"good"'))
    await first.until('good')
    first.socket.destroy()
    await (await start(...taken(2 * pacingLimits.sessionResetBurst))).ended()
    const later = Buffer.from(await (await start(...taken(few))).ended(), 'latin1')
    assert.ok([calm, http2.constants.NGHTTP2_INTERNAL_ERROR].includes(goawayCode(later) ?? -1))
  },
  { clock: stillClock },
)

floodTest(
  'a client that sends invalid bytes and disconnects, before and after the start of its session',
  async service => {
    const junk = Buffer.concat([opening(), frame('data', 0, 0, Buffer.from('junk'))])
    for (let round = 0; round < 10; round++) {
      const connection = await connectRaw(service.port, junk)
      if (round % 2 === 0) await new Promise(setImmediate)
      connection.socket.write(junk)
      connection.socket.end()
      await connection.ended()
    }
  },
)

floodTest(
  'a large body, a large response and a thousand requests are not treated as a flood',
  async service => {
    const long = JSON.stringify('x'.repeat(8_000_000))
    service.engine.answer = asked => resource(asked.body === '1' ? long : '2')
    const session = http2.connect(service.url)
    const ask = async (body: string): Promise<number> => {
      const stream = session.request({ ':method': 'POST', ':path': '/', authorization: 'Bearer right' })
      stream.end(body)
      let length = 0
      for await (const piece of stream) length += (piece as Buffer).length
      return length
    }
    assert.ok((await ask('1')) > 8_000_000)
    assert.ok((await ask(' '.repeat(6_000_000))) > 0)
    for (let round = 0; round < 10; round++) {
      await Promise.all(Array.from({ length: 100 }, () => ask('2')))
    }
    session.close()
  },
)

test('sessions of an offender start one after the other, sessions of other clients at once', () => {
  let nowMs = 0
  const pacing = new Pacing({ now: () => epoch, elapsedMs: () => nowMs }, systemTimers)
  const spacing = pacingLimits.offenderSpacingMs
  assert.equal(pacing.sessionDelayMs('a'), 0)
  pacing.noteOffence('a')
  const delays = [1, 2, 3].map(() => pacing.sessionDelayMs('a'))
  assert.deepEqual(delays, [spacing, 2 * spacing, 3 * spacing])
  assert.equal(pacing.sessionDelayMs('b'), 0)
  while (pacing.sessionDelayMs('a') !== undefined) {}
  nowMs = pacingLimits.offenderWaitMs
  assert.equal(pacing.sessionDelayMs('a'), spacing)
  pacing.noteOffence('a')
  nowMs += pacingLimits.offenderMs - 1
  assert.deepEqual([pacing.isOffender('a'), pacing.sessionDelayMs('a')], [true, spacing])
  nowMs++
  assert.deepEqual([pacing.isOffender('a'), pacing.sessionDelayMs('a')], [false, 0])
})

/** The number of one-byte frames that a session of `client` can send before it is closed. No timer fires meanwhile. */
function framesOf(pacing: Pacing, client: string): number {
  let frames = 0
  const frameBytes = 10
  const socket = {
    get bytesRead() {
      return frames * frameBytes
    },
    bytesWritten: 0,
  } as Socket
  const session = Object.assign(new EventEmitter(), {
    destroyed: false,
    destroy(error?: Error) {
      session.destroyed = true
      if (error) session.emit('error', error)
    },
  })
  const stream = { push: () => true }
  const pacer = new Pacer(pacing, socket, client)
  pacer.watch(session as unknown as ServerHttp2Session)
  pacer.watchBody(stream as unknown as ServerHttp2Stream)
  const { push } = stream as unknown as ServerHttp2Stream
  for (; !session.destroyed; frames++) push.call(stream, Buffer.alloc(1))
  return frames
}

test('a body with one byte per frame ends its session early, and later sessions of the client even earlier', () => {
  const pacing = new Pacing(stillClock, systemTimers)
  const first = framesOf(pacing, 'a')
  assert.ok(first > 1000 && first < 5000, `${first}`)
  const second = framesOf(pacing, 'a')
  assert.ok(second < first / 10, `${second} after ${first}`)
  assert.equal(framesOf(pacing, 'b'), first)
})
