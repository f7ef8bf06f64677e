// The body of a request over HTTP/1.1 at the time when its head is handled.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { Http1Exchange } from '../../src/server/http/http1-exchange.ts'
import { connectRaw } from './raw-connection.ts'

/** The bodies that `takeArrived` passed on. */
const taken: (string | undefined)[] = []

const server = createServer((request, response) => {
  const exchange = new Http1Exchange(request, response, 'somebody', () => {})
  exchange.takeArrived(body => {
    taken.push(body?.toString())
    request.resume()
    exchange.respond(200, ['content-length', 2], 'ok', 2)
  })
})
let port = 0
before(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  port = (server.address() as AddressInfo).port
})
after(() => server.close())

const head = (field: string) => `POST / HTTP/1.1\r\nhost: here\r\n${field}\r\n\r\n`

test('a body that arrives with its head is passed on whole, request after request', async () => {
  taken.length = 0
  const connection = await connectRaw(port, `${head('content-length: 5')}first`)
  await connection.until('ok')
  connection.socket.write(`${head('content-length: 6')}second${head('content-length: 5')}third`)
  connection.socket.end()
  await connection.ended()
  assert.deepEqual(taken, ['first', 'second', 'third'])
})

test('nothing is read of an incomplete body, or of one without a length', async () => {
  taken.length = 0
  for (const request of [
    `${head('content-length: 5')}fir`,
    head('content-length: 5'),
    `${head('transfer-encoding: chunked')}5\r\nfirst\r\n0\r\n\r\n`,
  ]) {
    const connection = await connectRaw(port, request)
    await connection.until('ok')
    connection.socket.destroy()
  }
  assert.deepEqual(taken, [undefined, undefined, undefined])
})
