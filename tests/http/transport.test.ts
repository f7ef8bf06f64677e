// Connections: two protocols on one port, keep-alive, pipelining, invalid input, slow senders.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import { test } from 'node:test'
import type { QueryResponse } from '../../src/engine/engine-contract.ts'
import { eventually } from '../support/eventually.ts'
import { cert, key } from './certificate.ts'
import { type FakeService, type FakeServiceOptions, resource, startFakeService } from './fake-engine.ts'
import { connectRaw, type RawConnection } from './raw-connection.ts'
import { authorization, post, request, serviceTest } from './service-test.ts'

serviceTest('HTTP/1.1 and HTTP/2 by prior knowledge share a port', async service => {
  const session = http2.connect(service.url)
  const answers = await Promise.all([
    request(session, post, '[1]'),
    request(session, { ':path': '/ping?scope=node' }),
    request(session, { ':method': 'HEAD', ':path': '/ping' }),
    request(session, { ':method': 'PUT', ':path': '/', authorization }, '1'),
    request(session, { ':method': 'constructor', ':path': '/', authorization }),
    request(session, { ':path': '/nonexistent' }),
    request(session, { ':path': '/error' }),
    request(session, { ':method': 'OPTIONS', ':path': '/', origin: 'http://app.test' }),
    request(session, post),
    fetch(service.url, { method: 'POST', headers: { authorization }, body: '[2]' }),
  ])
  const statuses = answers.map(({ status }) => status)
  assert.deepEqual(statuses, [200, 200, 200, 405, 405, 404, 500, 200, 200, 200])
  const [first, , head, wrongMethod] = answers
  assert.equal(first.text, '{"resource":[1]}')
  assert.equal(first.headers['x-query-bytes-in'], '3')
  assert.ok(first.headers['x-txn-time'] && first.headers.traceparent)
  assert.equal(head.text, '')
  assert.equal(wrongMethod.headers.allow, 'GET, POST')
  assert.equal(service.engine.seen.find(({ body }) => body === undefined)?.body, undefined)
  session.close()
})

serviceTest('a preface that arrives byte by byte is recognized', async service => {
  const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
  const settings = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])
  const connection = await connectRaw(service.port)
  connection.socket.setNoDelay(true)
  for (const letter of preface) {
    await new Promise(resolve => connection.socket.write(letter, resolve))
  }
  connection.socket.write(settings)
  // The server's own SETTINGS frame: three bytes of length, then type 4.
  const answer = await connection.until('\x04\x00\x00\x00\x00\x00')
  assert.equal(answer.charCodeAt(3), 4)
  connection.socket.destroy()
})

serviceTest('a request that begins like the preface is HTTP/1.1', async service => {
  const connection = await connectRaw(service.port)
  connection.socket.setNoDelay(true)
  for (const part of ['P', 'R', 'OPFIND /ping HTTP/1.1\r\nconnection: close\r\n\r\n']) {
    await new Promise(resolve => connection.socket.write(part, resolve))
  }
  assert.match(await connection.ended(), /^HTTP\/1\.1 405 /)
})

serviceTest('a connection is kept for further requests', async service => {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  const ports = new Set<number | undefined>()
  for (let n = 0; n < 5; n++) {
    const sent = http.request(service.url, { agent, method: 'POST', headers: { authorization } })
    sent.end(String(n))
    const [response] = (await once(sent, 'response')) as [http.IncomingMessage]
    assert.equal(response.headers.connection, 'keep-alive')
    ports.add(response.socket.localPort)
    response.resume()
    await once(response, 'end')
  }
  assert.equal(ports.size, 1)
  agent.destroy()
})

serviceTest('pipelined requests are answered in order', async service => {
  let release: (answer: QueryResponse) => void = () => {}
  service.engine.answer = asked =>
    asked.body === '1' ? new Promise(resolve => (release = resolve)) : resource(asked.body ?? '')
  const one = (body: string, more = '') =>
    `POST / HTTP/1.1\r\nauthorization: ${authorization}\r\ncontent-length: 1\r\n${more}\r\n${body}`
  const text = one('1') + one('2') + one('3', 'connection: close\r\n')
  const connection = await connectRaw(service.port, text)
  while (service.engine.seen.length < 2) await new Promise(setImmediate)
  release(resource('1'))
  const answers = (await connection.ended()).match(/\{"resource":\d\}/g)
  assert.deepEqual(answers, ['{"resource":1}', '{"resource":2}', '{"resource":3}'])
})

serviceTest('bytes that are not HTTP get an errors array, and the connection is closed', async service => {
  const junk = [
    'JUNK\r\n\r\n',
    'GET / HTTX/1.1\r\n\r\n',
    '\x16\x03\x01\x02\x00',
    'GET / HTTP/1.1\r\nbad header\r\n\r\n',
  ]
  for (const text of junk) {
    const connection = await connectRaw(service.port, Buffer.from(text, 'latin1'))
    const answer = await connection.ended()
    assert.match(answer, /^HTTP\/1\.1 400 Bad Request\r\n/)
    const body = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))
    assert.equal(body.errors[0].code, 'bad request')
  }
  assert.equal((await fetch(`${service.url}/ping`)).status, 200)
})

/**
 * Opens connections and sends `text`, until `isReceived` resolves with true for a connection. If the process stalls for
 * longer than the time limit of a request, the service closes a new connection before it reads the first bytes.
 */
async function connectInTime(
  { port }: FakeService,
  text: string,
  isReceived: (connection: RawConnection) => Promise<boolean>,
): Promise<RawConnection> {
  let connection: RawConnection | undefined
  await eventually('the service reads a request within its time limit', async () => {
    connection = await connectRaw(port, text)
    return isReceived(connection)
  })
  return connection as RawConnection
}

const isAnswered = async (connection: RawConnection) => (await connection.ended()) !== ''

serviceTest(
  'the error for invalid bytes after complete requests follows the responses to these requests',
  async service => {
    const behind = [
      ['JUNK\r\n\r\n', 400],
      [`GET / HTTP/1.1\r\nx: ${'y'.repeat(30_000)}\r\n\r\n`, 400],
      ['POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nno length', 400],
      ['POST / HTTP/1.1\r\ncontent-le', 408],
      ['POST / HTTP/1.1\r\ncontent-length: 9\r\n\r\n1', 408],
    ] as const
    for (const [text, status] of behind) {
      let release: (answer: QueryResponse) => void = () => {}
      service.engine.answer = () => new Promise(resolve => (release = resolve))
      const request = `POST / HTTP/1.1\r\nauthorization: ${authorization}\r\ncontent-length: 1\r\n\r\n1`
      const seen = service.engine.seen.length
      const connection = await connectInTime(service, request + text, async ({ socket }) => {
        while (service.engine.seen.length === seen && !socket.destroyed && !socket.readableEnded)
          await new Promise(setImmediate)
        return service.engine.seen.length > seen
      })
      // Longer than the time limit of a request.
      await new Promise(resolve => setTimeout(resolve, status === 408 ? 300 : 20))
      assert.equal(connection.received(), '', text)
      release(resource('1'))
      const statuses = (await connection.ended()).match(/HTTP\/1\.1 \d+/g)
      assert.deepEqual(statuses, ['HTTP/1.1 200', `HTTP/1.1 ${status}`], text)
    }
  },
  { receiveMs: 100 },
)

serviceTest(
  'invalid bytes after the last request of a connection do not affect its response',
  async service => {
    const long = 'x'.repeat(300_000)
    service.engine.answer = () => resource(`"${long}"`)
    const head = `POST / HTTP/1.1\r\nauthorization: ${authorization}\r\nconnection: close\r\ncontent-length: 1`
    const connection = await connectRaw(service.port, `${head}\r\n\r\n1JUNK`)
    const answer = await connection.ended()
    assert.match(answer, /^HTTP\/1\.1 200 /)
    assert.equal(answer.match(/HTTP\/1\.1/g)?.length, 1)
    assert.ok(answer.includes(long))
  },
)

serviceTest('headers above the limit get an errors array', async service => {
  const connection = await connectRaw(service.port, `GET / HTTP/1.1\r\nx: ${'y'.repeat(30_000)}\r\n\r\n`)
  const answer = await connection.ended()
  assert.match(answer, /^HTTP\/1\.1 400 /)
  assert.match(answer, /"description":"The request line and headers are too long\."/)
  const longest = `${service.url}/?q=${'1'.repeat(16_000)}`
  assert.equal((await fetch(longest, { headers: { authorization } })).status, 200)
})

serviceTest('invalid bytes after a preface end only that session', async service => {
  const connection = await connectRaw(service.port, `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${'junk'.repeat(20)}`)
  await connection.ended()
  assert.equal((await fetch(`${service.url}/ping`)).status, 200)
})

const impatient: FakeServiceOptions = { receiveMs: 100, idleMs: 100 }

for (const handed of [false, true]) {
  serviceTest(
    `an incomplete request gets 408${handed ? ', on a connection that another process accepted' : ''}`,
    async service => {
      const unfinished = ['POST / HTTP/1.1\r\ncontent-length: 10\r\n\r\n12', 'POST / HTTP/1.1\r\ncontent-le']
      for (const text of unfinished) {
        const connection = await connectInTime(service, text, isAnswered)
        const answer = connection.received()
        assert.match(answer, /^HTTP\/1\.1 408 /)
        const body = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))
        assert.deepEqual(body, { errors: [{ code: 'request timeout', description: 'Client timed out.' }] })
      }
      assert.equal(service.engine.seen.length, 0)
    },
    { ...impatient, handed },
  )
}

serviceTest(
  'silent connections, fresh or idle, are closed',
  async service => {
    const fresh = await connectRaw(service.port)
    const halfPreface = await connectRaw(service.port, 'PRI * HT')
    const idle = await connectInTime(service, 'GET /ping HTTP/1.1\r\n\r\n', isAnswered)
    assert.equal(await fresh.ended(), '')
    assert.equal(await halfPreface.ended(), '')
    assert.match(idle.received(), /^HTTP\/1\.1 200 /)
  },
  impatient,
)

serviceTest('a client that disconnects before its response affects no other client', async service => {
  let release: (answer: QueryResponse) => void = () => {}
  service.engine.answer = () => new Promise(resolve => (release = resolve))
  const text = `POST / HTTP/1.1\r\nauthorization: ${authorization}\r\ncontent-length: 1\r\n\r\n1`
  const connection = await connectRaw(service.port, text)
  while (service.engine.seen.length < 1) await new Promise(setImmediate)
  connection.socket.resetAndDestroy()
  await once(connection.socket, 'close')
  const session = http2.connect(service.url)
  const stream = session.request(post)
  stream.on('error', () => {})
  stream.end('2')
  while (service.engine.seen.length < 2) await new Promise(setImmediate)
  release(resource('1'))
  session.destroy()
  release(resource('2'))
  service.engine.answer = () => resource('3')
  const { status } = await fetch(service.url, { method: 'POST', headers: { authorization }, body: '1' })
  assert.equal(status, 200)
  assert.deepEqual(service.log, [])
})

test('a port in use is rejected', async () => {
  await using service = await startFakeService()
  await assert.rejects(startFakeService({ port: service.port }), { code: 'EADDRINUSE' })
})

serviceTest(
  'with TLS both protocols are offered, and stopping works',
  async service => {
    const session = http2.connect(service.url, { ca: cert })
    const answer = await request(session, post, '[1]')
    assert.equal(answer.text, '{"resource":[1]}')
    assert.equal(session.alpnProtocol, 'h2')
    const sent = https.request(service.url, { ca: cert, method: 'POST', headers: { authorization } })
    sent.end('[2]')
    const [response] = (await once(sent, 'response')) as [http.IncomingMessage]
    assert.equal(response.httpVersion, '1.1')
    let text = ''
    for await (const data of response) text += data
    assert.equal(text, '{"resource":[2]}')
    const clear = await connectRaw(service.port, 'GET /ping HTTP/1.1\r\n\r\n')
    await clear.ended()
    session.close()
  },
  { tls: { cert, key } },
)
