// Connections: two protocols on one port, keep-alive, pipelining, senders of junk, slow senders, overload, stopping.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import { test } from 'node:test'
import type { QueryResponse } from '../../src/engine/contract.ts'
import { cert, key } from './certificate.ts'
import { type FakeService, type FakeServiceOptions, resource, startFakeService } from './fake-engine.ts'
import { connectRaw, type RawConnection } from './raw-connection.ts'

const authorization = 'Bearer right'

/** A test with a service of its own. */
function serviceTest(
  name: string,
  body: (service: FakeService) => Promise<void>,
  options: FakeServiceOptions = {},
): void {
  test(name, async () => {
    const service = await startFakeService(options)
    try {
      await body(service)
    } finally {
      await service.stop(0)
    }
  })
}

interface Http2Answer {
  readonly status: number
  readonly headers: http2.IncomingHttpHeaders
  readonly text: string
}

/** One request on an HTTP/2 session. */
function request(
  session: http2.ClientHttp2Session,
  headers: http2.OutgoingHttpHeaders,
  body?: string,
): Promise<Http2Answer> {
  return new Promise((resolve, reject) => {
    const stream = session.request(headers, { endStream: body === undefined })
    let text = ''
    let answered: http2.IncomingHttpHeaders = {}
    stream.setEncoding('utf8')
    stream.on('response', received => {
      answered = received
    })
    stream.on('data', data => {
      text += data
    })
    stream.on('end', () => resolve({ status: Number(answered[':status']), headers: answered, text }))
    stream.on('error', reject)
    if (body !== undefined) stream.end(body)
  })
}

const post = { ':method': 'POST', ':path': '/', authorization }

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
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200, 405, 405, 404, 500, 200, 200, 200],
  )
  const [first, , head, wrongMethod] = answers
  assert.equal(first.text, '{"resource":[1]}')
  assert.equal(first.headers['x-query-bytes-in'], '3')
  assert.ok(first.headers['x-txn-time'] && first.headers.traceparent)
  assert.equal(head.text, '')
  assert.equal(wrongMethod.headers.allow, 'GET, POST')
  assert.equal(service.engine.seen.find(({ body }) => body === undefined)?.body, undefined)
  session.close()
})

serviceTest('a preface that comes byte by byte is still understood', async service => {
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

serviceTest('bytes that are no HTTP get an errors array and the connection is closed', async service => {
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

serviceTest(
  'what cannot be read behind whole requests is answered behind their responses',
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
      const connection = await connectRaw(service.port, request + text)
      while (service.engine.seen.length === seen) await new Promise(setImmediate)
      // Past the time in which a request has to come to its end.
      await new Promise(resolve => setTimeout(resolve, status === 408 ? 300 : 20))
      assert.equal(connection.received(), '', text)
      release(resource('1'))
      const statuses = (await connection.ended()).match(/HTTP\/1\.1 \d+/g)
      assert.deepEqual(statuses, ['HTTP/1.1 200', `HTTP/1.1 ${status}`], text)
    }
  },
  { receiveMs: 100 },
)

serviceTest('junk behind the last request of a connection leaves it its response', async service => {
  const long = 'x'.repeat(300_000)
  service.engine.answer = () => resource(`"${long}"`)
  const head = `POST / HTTP/1.1\r\nauthorization: ${authorization}\r\nconnection: close\r\ncontent-length: 1`
  const connection = await connectRaw(service.port, `${head}\r\n\r\n1JUNK`)
  const answer = await connection.ended()
  assert.match(answer, /^HTTP\/1\.1 200 /)
  assert.equal(answer.match(/HTTP\/1\.1/g)?.length, 1)
  assert.ok(answer.includes(long))
})

serviceTest('headers past the limit get an errors array', async service => {
  const connection = await connectRaw(service.port, `GET / HTTP/1.1\r\nx: ${'y'.repeat(30_000)}\r\n\r\n`)
  const answer = await connection.ended()
  assert.match(answer, /^HTTP\/1\.1 400 /)
  assert.match(answer, /"description":"The request line and headers are too long\."/)
  const longest = `${service.url}/?q=${'1'.repeat(16_000)}`
  assert.equal((await fetch(longest, { headers: { authorization } })).status, 200)
})

serviceTest('a preface followed by junk ends that session alone', async service => {
  const connection = await connectRaw(service.port, `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${'junk'.repeat(20)}`)
  await connection.ended()
  assert.equal((await fetch(`${service.url}/ping`)).status, 200)
})

const impatient: FakeServiceOptions = { receiveMs: 100, idleMs: 100 }

for (const handed of [false, true]) {
  serviceTest(
    `a request that does not come to its end is answered 408${handed ? ', on a connection that another process accepted' : ''}`,
    async service => {
      const unfinished = ['POST / HTTP/1.1\r\ncontent-length: 10\r\n\r\n12', 'POST / HTTP/1.1\r\ncontent-le']
      for (const text of unfinished) {
        const connection = await connectRaw(service.port, text)
        const answer = await connection.ended()
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
    const idle = await connectRaw(service.port, 'GET /ping HTTP/1.1\r\n\r\n')
    assert.equal(await fresh.ended(), '')
    assert.equal(await halfPreface.ended(), '')
    assert.match(await idle.ended(), /^HTTP\/1\.1 200 /)
  },
  impatient,
)

serviceTest('a client that leaves before its answer harms nobody', async service => {
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
  assert.equal(
    (await fetch(service.url, { method: 'POST', headers: { authorization }, body: '1' })).status,
    200,
  )
  assert.deepEqual(service.log, [])
})

serviceTest(
  'requests past the limit are answered 429 until one is done',
  async service => {
    const waiting: ((answer: QueryResponse) => void)[] = []
    service.engine.answer = () => new Promise(resolve => waiting.push(resolve))
    const send = () => fetch(service.url, { method: 'POST', headers: { authorization }, body: '1' })
    const first = [send(), send()]
    while (waiting.length < 2) await new Promise(setImmediate)
    const third = await send()
    assert.equal(third.status, 429)
    assert.deepEqual(await third.json(), {
      errors: [{ code: 'too many requests', description: 'Too many pending requests' }],
    })
    for (const release of waiting) release(resource('1'))
    for (const response of await Promise.all(first)) assert.equal(response.status, 200)
    service.engine.answer = () => resource('2')
    assert.equal((await send()).status, 200)
  },
  { pendingRequestsMax: 2 },
)

serviceTest(
  'requests that do not come to their end take no place of those that do',
  async service => {
    const post = 'POST / HTTP/1.1\r\ncontent-length: 10\r\n\r\n1'
    const halves = await Promise.all([connectRaw(service.port, post), connectRaw(service.port, post)])
    const session = http2.connect(service.url)
    const open = session.request({ ':method': 'POST', ':path': '/', authorization })
    open.on('error', () => {})
    open.write('1')
    await request(session, { ':path': '/ping' })
    assert.equal((await fetch(`${service.url}/ping`)).status, 200)
    for (const { socket } of halves) socket.destroy()
    session.destroy()
  },
  { pendingRequestsMax: 1 },
)

/** More than the system holds of one connection for a client that does not read. */
const longAnswer = JSON.stringify('x'.repeat(32_000_000))

serviceTest(
  'a client that does not read is cut off when its responses are too much, and nobody else',
  async service => {
    service.engine.answer = asked => resource(asked.body === '1' ? longAnswer : '2')
    const post1 = `POST / HTTP/1.1\r\nauthorization: ${authorization}\r\ncontent-length: 1\r\n\r\n1`
    const readers = await Promise.all([1, 2, 3].map(() => connectRaw(service.port)))
    for (const { socket } of readers) socket.pause()
    for (const { socket } of readers) socket.write(post1)
    while (service.engine.seen.length < 3) await new Promise(setImmediate)
    const answer = await fetch(service.url, { method: 'POST', headers: { authorization }, body: '2' })
    assert.equal(await answer.text(), '{"resource":2}')
    // Whoever was cut off learns of it as soon as it reads; the others read all of it, and are closed when idle.
    for (const { socket } of readers) socket.resume()
    await Promise.all(readers.map(reader => reader.ended()))
    const lengths = readers.map(reader => reader.received().length)
    assert.equal(lengths.filter(length => length < longAnswer.length).length, 1)
    assert.deepEqual(service.log, [])
  },
  { unreadResponseBytesMax: 80_000_000, idleMs: 200 },
)

serviceTest(
  'over HTTP/2 a stream that is not read is cut off, the others of its session are not',
  async service => {
    service.engine.answer = asked => resource(asked.body === '1' ? longAnswer : '2')
    const session = http2.connect(service.url)
    const unread = [1, 2, 3].map(() => {
      const stream = session.request(post)
      stream.end('1')
      return stream.pause()
    })
    const cut = unread.map(stream => new Promise(resolve => stream.on('error', resolve).on('close', resolve)))
    await Promise.race(cut)
    assert.equal((await request(session, post, '2')).text, '{"resource":2}')
    session.destroy()
  },
  { unreadResponseBytesMax: 80_000_000 },
)

serviceTest('a long response is whole, over both versions of HTTP', async service => {
  service.engine.answer = () => resource(`"è${longAnswer.slice(2)}`)
  const whole = Buffer.byteLength(longAnswer) + '{"resource":}'.length + 1
  const answer = await fetch(service.url, { method: 'POST', headers: { authorization }, body: '1' })
  assert.equal(Buffer.byteLength(await answer.text()), whole)
  assert.equal(answer.headers.get('content-length'), String(whole))
  const session = http2.connect(service.url)
  const { text } = await request(session, post, '1')
  assert.equal(Buffer.byteLength(text), whole)
  session.close()
})

test('when the service stops, requests that were on their way over kept connections are answered', async () => {
  const service = await startFakeService({ lingerMs: 10_000 })
  const get = 'GET /ping HTTP/1.1\r\n\r\n'
  const kept = await Promise.all([1, 2, 3, 4].map(() => connectRaw(service.port, get)))
  for (const connection of kept) await connection.until('is OK')
  const session = http2.connect(service.url)
  await request(session, { ':path': '/ping' })
  const stopped = service.stop(20_000)
  for (const { socket } of kept) socket.write(get)
  for (const connection of kept) {
    const [, last] = (await connection.ended()).split('is OK"}')
    assert.match(last as string, /^HTTP\/1\.1 200 OK/)
    assert.match(last as string, /connection: close/i)
  }
  assert.equal((await request(session, { ':path': '/ping' })).status, 200)
  session.destroy()
  await stopped
})

test('connections in excess without a request are ended, the oldest of the client that has most', async () => {
  const service = await startFakeService({ waitingConnectionsMax: 8 })
  const busy = Promise.withResolvers<QueryResponse>()
  service.engine.answer = () => busy.promise
  const asking = fetch(service.url, { method: 'POST', headers: { authorization }, body: '1' })
  while (service.engine.seen.length === 0) await new Promise(setImmediate)
  const silent: RawConnection[] = []
  for (let n = 0; n < 9; n++) silent.push(await connectRaw(service.port, n % 2 ? 'POST / HT' : undefined))
  await (silent[0] as RawConnection).ended()
  busy.resolve(resource('1'))
  assert.equal((await asking).status, 200)
  for (const { socket } of silent) socket.destroy()
  await service.stop(0)
})

serviceTest('requests that one connection brings at once do not go before those of others', async service => {
  const order: string[] = []
  service.engine.answer = asked => {
    order.push(asked.body as string)
    return resource('1')
  }
  const one = (body: string) =>
    `POST / HTTP/1.1\r\nauthorization: ${authorization}\r\ncontent-length: 1\r\n\r\n${body}`
  const [greedy, modest] = [await connectRaw(service.port), await connectRaw(service.port)]
  greedy.socket.write(one('g').repeat(400))
  modest.socket.write(one('m'))
  while (order.length < 401) await new Promise(setImmediate)
  assert.equal(order.filter(body => body === 'g').length, 400)
  assert.ok(order.indexOf('m') < 300, String(order.indexOf('m')))
  greedy.socket.destroy()
  modest.socket.destroy()
})

test('as many connections as there may be: those without a request go first, then whoever comes', async () => {
  const service = await startFakeService({ connectionsMax: 4 })
  const busy = Promise.withResolvers<QueryResponse>()
  service.engine.answer = () => busy.promise
  const silent = await connectRaw(service.port)
  const head = `POST / HTTP/1.1\r\nauthorization: ${authorization}\r\nconnection: close\r\ncontent-length: 1`
  const asking: RawConnection[] = []
  while (asking.length < 4) {
    asking.push(await connectRaw(service.port, `${head}\r\n\r\n1`))
    while (service.engine.seen.length < asking.length) await new Promise(setImmediate)
  }
  assert.equal(await silent.ended(), '')
  const newcomer = await connectRaw(service.port, `${head}\r\n\r\n1`)
  assert.equal(await newcomer.ended(), '')
  busy.resolve(resource('1'))
  for (const connection of asking) assert.match(await connection.ended(), /^HTTP\/1\.1 200 /)
  assert.equal((await fetch(`${service.url}/ping`)).status, 200)
  await service.stop(0)
})

test('stopping finishes what is in flight, closes what is idle and accepts no more', async () => {
  const service = await startFakeService()
  const releases: ((answer: QueryResponse) => void)[] = []
  service.engine.answer = () => new Promise(resolve => releases.push(resolve))
  const idle = await connectRaw(service.port, 'GET /ping HTTP/1.1\r\n\r\n')
  await idle.until('OK"}')
  const silent = await connectRaw(service.port)
  const idleSession = http2.connect(service.url)
  await request(idleSession, { ':path': '/ping' })
  const idleClosed = once(idleSession, 'close')
  const text = `POST / HTTP/1.1\r\nauthorization: ${authorization}\r\ncontent-length: 1\r\n\r\n1`
  const busy = await connectRaw(service.port, text)
  const busySession = http2.connect(service.url)
  const streamed = request(busySession, post, '2')
  while (releases.length < 2) await new Promise(setImmediate)
  let stopped = false
  const stop = service.stop().then(() => {
    stopped = true
  })
  await Promise.all([idle.ended(), silent.ended(), idleClosed])
  await assert.rejects(fetch(`${service.url}/ping`))
  assert.equal(stopped, false)
  for (const release of releases) release(resource('"late"'))
  const answer = await busy.ended()
  assert.match(answer, /\{"resource":"late"\}$/)
  assert.match(answer, /connection: close/i)
  assert.equal((await streamed).text, '{"resource":"late"}')
  await stop
})

test('stopping cuts off what does not finish in time', async () => {
  const service = await startFakeService()
  service.engine.answer = () => new Promise(() => {})
  const text = `POST / HTTP/1.1\r\nauthorization: ${authorization}\r\ncontent-length: 1\r\n\r\n1`
  const busy = await connectRaw(service.port, text)
  const session = http2.connect(service.url)
  const stream = session.request(post)
  stream.on('error', () => {})
  stream.end('2')
  while (service.engine.seen.length < 2) await new Promise(setImmediate)
  await Promise.all([service.stop(1), busy.ended(), once(session, 'close')])
})

test('a port that is taken is refused', async () => {
  const service = await startFakeService()
  await assert.rejects(startFakeService({ port: service.port }), { code: 'EADDRINUSE' })
  await service.stop()
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

serviceTest(
  'of connections that another process accepted, stopping closes the idle ones and waits for the others',
  async service => {
    let finish = () => {}
    service.engine.answer = () =>
      new Promise(resolve => {
        finish = () => resolve(resource('1'))
      })
    const idle = await connectRaw(service.port, 'GET /ping HTTP/1.1\r\n\r\n')
    await idle.until('is OK')
    const busy = await connectRaw(
      service.port,
      `POST / HTTP/1.1\r\nauthorization: ${authorization}\r\ncontent-length: 1\r\n\r\n1`,
    )
    while (service.engine.seen.length === 0) await new Promise(setImmediate)
    const stopped = service.stop()
    await idle.ended()
    finish()
    assert.match(await busy.ended(), /^HTTP\/1\.1 200 /)
    await stopped
  },
  { handed: true },
)
