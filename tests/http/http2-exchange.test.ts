// The body of a request over HTTP/2 at the time when its head is handled, and the end of its stream.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { Http2Exchange } from '../../src/server/http/http2-exchange.ts'
import { connectRaw, type RawConnection } from './raw-connection.ts'
import { endHeaders, endStream, frame, headerBlock, opening } from './raw-http2.ts'

/** The bodies that `takeArrived` passed on. */
const taken: (string | undefined)[] = []
/** Whether the whole response had been written when its stream closed. */
const finished: boolean[] = []

const server = createServer()
server.on('stream', (stream: ServerHttp2Stream, headers) => {
  stream.once('close', () => finished.push(stream.writableFinished))
  const exchange = new Http2Exchange(stream, headers, 'somebody')
  exchange.takeArrived(body => {
    taken.push(body?.toString())
    if (body === undefined) stream.resume()
    exchange.respond(200, [], `response ${taken.length}`, 10)
  })
})
let port = 0
before(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  port = (server.address() as AddressInfo).port
})
after(() => server.close())

const head = (stream: number, fields: Readonly<Record<string, string>> = {}) =>
  frame(
    'headers',
    endHeaders,
    stream,
    headerBlock({ ':method': 'POST', ':path': '/', ':scheme': 'http', ':authority': 'here', ...fields }),
  )
const data = (stream: number, text: string, flags = endStream) =>
  frame('data', flags, stream, Buffer.from(text))

/** Sends these frames on a new connection, waits for the number of responses, and closes it. */
async function exchange(frames: readonly Buffer[], responses: number, rest: Buffer = Buffer.alloc(0)) {
  taken.length = 0
  finished.length = 0
  const connection: RawConnection = await connectRaw(port, Buffer.concat([opening(), ...frames]))
  await connection.until(`response ${responses}`)
  connection.socket.write(rest)
  connection.socket.end()
  await connection.ended()
}

test('bodies that arrive with their heads are passed on whole, and responses are complete before streams end', async () => {
  const bodies = ['first', 'second', 'third']
  const frames = bodies.flatMap((body, at) => {
    const stream = 2 * at + 1
    return [head(stream, { 'content-length': `${body.length}` }), data(stream, body)]
  })
  await exchange(frames, 3)
  assert.deepEqual(taken, bodies)
  assert.deepEqual(finished, [true, true, true])
})

test('a body may arrive in several frames', async () => {
  const frames = [head(1, { 'content-length': '5' }), data(1, 'fi', 0), data(1, 'rst')]
  await exchange(frames, 1)
  assert.deepEqual(taken, ['first'])
})

test('nothing is read of an incomplete or unended body, or of one without a length', async () => {
  const length = { 'content-length': '5' }
  await exchange([head(1, length), data(1, 'fir', 0)], 1, data(1, 'st'))
  assert.deepEqual(taken, [undefined])
  await exchange([head(1, length), data(1, 'first', 0)], 1, data(1, ''))
  assert.deepEqual(taken, [undefined])
  await exchange([head(1), data(1, 'first')], 1)
  assert.deepEqual(taken, [undefined])
})
