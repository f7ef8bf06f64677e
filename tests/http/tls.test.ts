// The start of TLS connections: slow handshakes, missing handshakes, other clients meanwhile. transport.test.ts covers
// the choice of the protocol in the handshake.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Duplex } from 'node:stream'
import { test } from 'node:test'
import tls from 'node:tls'
import { cert, key } from './certificate.ts'
import { startFakeService } from './fake-engine.ts'
import { connectRaw } from './raw-connection.ts'

test('a handshake that arrives byte by byte succeeds', async () => {
  await using service = await startFakeService({ tls: { cert, key } })
  const { socket } = await connectRaw(service.port)
  socket.setNoDelay(true)
  const slow = new Duplex({
    read: () => {},
    write(data: Buffer, _encoding, done) {
      for (const byte of data) socket.write(Buffer.of(byte))
      setImmediate(done)
    },
  })
  socket.on('data', text => slow.push(Buffer.from(String(text), 'latin1')))
  const secure = tls.connect({ socket: slow, ca: cert, servername: 'localhost' })
  await once(secure, 'secureConnect')
  secure.end('POST / HTTP/1.1\r\nauthorization: Bearer right\r\ncontent-length: 3\r\n\r\n[1]')
  let text = ''
  for await (const data of secure) text += data
  assert.match(text, /^HTTP\/1\.1 200 .*\{"resource":\[1\]\}/s)
})

test('a client without a handshake, or with half of one, is disconnected', async () => {
  await using service = await startFakeService({ tls: { cert, key }, receiveMs: 100 })
  for (const sent of ['', '\x16', '\x16\x03\x01\x02\x00half']) {
    const connection = await connectRaw(service.port, Buffer.from(sent, 'latin1'))
    assert.equal(await connection.ended(), '')
  }
})
