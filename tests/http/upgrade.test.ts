// HTTP/2 by `Upgrade: h2c`, as the HTTP client of Java requests it: byte for byte, and with curl where it is installed.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { beforeEach, test } from 'node:test'
import { promisify } from 'node:util'
import { limits } from '../../src/base/limits.ts'
import { serviceOfFile } from '../support/service-of-file.ts'
import { resource, startFakeService } from './fake-engine.ts'
import { connectRaw } from './raw-connection.ts'

const service = serviceOfFile(startFakeService)
beforeEach(() => {
  service.engine.seen.length = 0
  service.engine.answer = request => resource(request.body ?? 'null')
})

const asking = [
  'host: localhost',
  'authorization: Bearer right',
  'connection: Upgrade, HTTP2-Settings',
  'upgrade: h2c',
  'http2-settings: AAMAAABkAAQAAP__',
].join('\r\n')

const askWith = (body: string) =>
  `POST / HTTP/1.1\r\n${asking}\r\ncontent-length: ${body.length}\r\n\r\n${body}`

/** The frames of HTTP/2 in the bytes, each with its type, stream and payload. */
function framesOf(bytes: Buffer) {
  const frames: { type: number; stream: number; payload: Buffer }[] = []
  for (let at = 0; at + 9 <= bytes.length; ) {
    const end = at + 9 + bytes.readUIntBE(at, 3)
    frames.push({
      type: bytes[at + 3] as number,
      stream: bytes.readUInt32BE(at + 5),
      payload: bytes.subarray(at + 9, end),
    })
    at = end
  }
  return frames
}

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
const settings = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])
/** HEADERS of `GET /ping?scope=node` on stream 3, with literal authority and path. */
const pingPath = Buffer.from('/ping?scope=node')
const pingBlock = Buffer.concat([Buffer.from([0x82, 0x86, 0x01, 1, 0x2d, 0x04, pingPath.length]), pingPath])
const ping = Buffer.concat([Buffer.from([0, 0, pingBlock.length, 1, 5, 0, 0, 0, 3]), pingBlock])

for (const split of [false, true]) {
  test(`the upgrade request is answered on stream 1, later requests on their own streams${split ? ', the preface byte by byte' : ''}`, async () => {
    const connection = await connectRaw(service.port)
    const { socket } = connection
    socket.setNoDelay(true)
    const send = async (bytes: Buffer) => {
      if (!split) return socket.write(bytes)
      for (const byte of bytes) await new Promise(resolve => socket.write(Buffer.from([byte]), resolve))
    }
    // The request is sent in one piece; for several pieces see the test below.
    socket.write(askWith('[1]'))
    const switched = await connection.until('\r\n\r\n')
    assert.match(
      switched,
      /^HTTP\/1\.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: h2c\r\n\r\n$/,
    )
    await send(Buffer.concat([preface, settings, ping]))
    await connection.until('Scope node is OK')
    await connection.until('{"resource":[1]}')
    const frames = framesOf(Buffer.from(connection.received().slice(switched.length), 'latin1'))
    const dataOf = (stream: number) =>
      frames
        .filter(frame => frame.type === 0 && frame.stream === stream)
        .map(({ payload }) => String(payload))
    assert.equal(dataOf(1).join(''), '{"resource":[1]}')
    assert.equal(dataOf(3).join(''), '{"resource":"Scope node is OK"}')
    // One acknowledgement of the client's only SETTINGS frame.
    assert.equal(frames.filter(({ type, payload }) => type === 4 && payload.length === 0).length, 1)
    const seen = service.engine.seen.map(({ body, authorization }) => [body, authorization])
    assert.deepEqual(seen, [['[1]', 'Bearer right']])
    socket.destroy()
  })
}

test('a client that sends its preface together with the request is served, too', async () => {
  const connection = await connectRaw(
    service.port,
    Buffer.concat([Buffer.from(askWith('[2]')), preface, settings]),
  )
  await connection.until('{"resource":[2]}')
  connection.socket.destroy()
})

test('a body that arrives after its head, followed by the preface in pieces', async () => {
  const text = askWith('[1,2,3]')
  const pieces = [text.slice(0, -5), text.slice(-5), preface, settings, ping]
  // Each position of the cut leads to another order of events in the service.
  for (let joint = 0; joint < pieces.length - 1; joint++) {
    const parts = pieces.map(piece => Buffer.from(piece))
    parts.splice(joint, 2, Buffer.concat(parts.slice(joint, joint + 2)))
    const connection = await connectRaw(service.port)
    connection.socket.setNoDelay(true)
    for (const part of parts) {
      await new Promise(resolve => connection.socket.write(part, resolve))
      await fetch(`${service.url}/ping`)
    }
    await connection.until('{"resource":[1,2,3]}')
    await connection.until('Scope node is OK')
    connection.socket.destroy()
  }
})

const plain = (body: string) =>
  `POST / HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer right\r\ncontent-length: ${body.length}\r\n\r\n${body}`

test('a later request with an upgrade is answered over HTTP/2, in whatever pieces it arrives', async () => {
  const text = askWith('[1,2,3]')
  for (const cut of [text.length, text.length - 3, text.length - 7, 40]) {
    const connection = await connectRaw(service.port)
    connection.socket.setNoDelay(true)
    for (const body of ['"one"', '"two"']) {
      connection.socket.write(plain(body))
      await connection.until(`{"resource":${body}}`)
    }
    for (const part of [text.slice(0, cut), text.slice(cut)]) {
      if (part.length > 0) await new Promise(resolve => connection.socket.write(part, resolve))
      await fetch(`${service.url}/ping`)
    }
    await connection.until('HTTP/1.1 101 Switching Protocols')
    connection.socket.write(Buffer.concat([preface, settings, ping]))
    await connection.until('{"resource":[1,2,3]}')
    await connection.until('Scope node is OK')
    connection.socket.destroy()
  }
})

test('an upgrade request that is pipelined is answered in order, over HTTP/1.1', async () => {
  const release = Promise.withResolvers<void>()
  service.engine.answer = async request => {
    if (request.body === '"slow"') await release.promise
    return resource(request.body ?? 'null')
  }
  const connection = await connectRaw(service.port, plain('"slow"') + askWith('[4]'))
  while (service.engine.seen.length === 0) await new Promise(setImmediate)
  release.resolve()
  const answers = await connection.until('{"resource":[4]}')
  assert.ok(answers.indexOf('"slow"') < answers.indexOf('[4]'))
  assert.ok(!answers.includes('101 Switching'))
  connection.socket.destroy()
})

test('an upgrade request whose head arrives in pieces is answered over HTTP/2, too', async () => {
  const connection = await connectRaw(service.port)
  connection.socket.setNoDelay(true)
  const text = askWith('[1]')
  for (const part of [text.slice(0, 40), text.slice(40)]) {
    await new Promise(resolve => connection.socket.write(part, resolve))
    await fetch(`${service.url}/ping`)
  }
  await connection.until('HTTP/1.1 101 Switching Protocols')
  connection.socket.write(Buffer.concat([preface, settings]))
  await connection.until('{"resource":[1]}')
  connection.socket.destroy()
})

test('a client that disconnects during an upgrade does not affect others', async () => {
  const text = askWith('[1,2,3]')
  for (const part of [text.slice(0, -5), text, text + preface.toString('latin1')]) {
    const connection = await connectRaw(service.port, Buffer.from(part, 'latin1'))
    await fetch(`${service.url}/ping`)
    connection.socket.resetAndDestroy()
  }
  assert.equal((await fetch(`${service.url}/ping`)).status, 200)
})

test('no upgrade for other protocols, without settings, and for a long body', async () => {
  const head = (lines: string, body = '1') =>
    `POST / HTTP/1.1\r\nauthorization: Bearer right\r\nconnection: close, Upgrade\r\n${lines}content-length: ${body.length}\r\n\r\n${body}`
  const long = `${' '.repeat(limits.unauthenticatedBodyBytesMax)}1`
  const requests = [
    head('upgrade: websocket\r\nhttp2-settings: AAMAAABk\r\n'),
    head('upgrade: h2c\r\n'),
    head('upgrade: h2c\r\nhttp2-settings: AAMAAABk\r\n', long),
  ]
  for (const text of requests) {
    const connection = await connectRaw(service.port, text)
    assert.match(await connection.ended(), /^HTTP\/1\.1 200 OK\r\n/)
  }
})

test('invalid HTTP/2 after an upgrade ends only that connection', async () => {
  const connection = await connectRaw(service.port, askWith('[1]'))
  await connection.until('101 Switching Protocols')
  connection.socket.write('GET / HTTP/1.1\r\n\r\n')
  await connection.ended()
  assert.equal(service.engine.seen.length, 0)
  assert.equal((await fetch(`${service.url}/ping`)).status, 200)
})

test('stopping waits for an upgraded request', async () => {
  const stopped = await startFakeService()
  const release = Promise.withResolvers<void>()
  stopped.engine.answer = async () => {
    await release.promise
    return resource('"late"')
  }
  const connection = await connectRaw(
    stopped.port,
    Buffer.concat([Buffer.from(askWith('[1]')), preface, settings]),
  )
  while (stopped.engine.seen.length === 0) await new Promise(setImmediate)
  const stopping = stopped.stop()
  release.resolve()
  await connection.until('"late"')
  await connection.ended()
  await stopping
})

test('curl --http2 is answered over HTTP/2, GET and POST', async t => {
  const run = promisify(execFile)
  const version = await run('curl', ['--version']).catch(() => ({ stdout: '' }))
  if (!version.stdout.includes('HTTP2')) return t.skip('there is no curl with HTTP/2 on this machine')
  const shared = [
    '--silent',
    '--http2',
    '--write-out',
    ' %{http_version}',
    '-H',
    'authorization: Bearer right',
  ]
  const asked = await run('curl', [...shared, '--user-agent', 'x', `${service.url}/?q=1`])
  assert.equal(asked.stdout, '{"resource":1} 2')
  const sent = await run('curl', [...shared, '--user-agent', 'x', '--data', '[1]', service.url])
  assert.equal(sent.stdout, '{"resource":[1]} 2')
})
