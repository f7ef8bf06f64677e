// Connections share the turns of the event loop: fewer requests begin when turns take long, but always one of each
// connection. Long input is parsed in slices, and nothing is lost while connections wait.

import assert from 'node:assert/strict'
import { IncomingMessage } from 'node:http'
import { connect as connectSocket, Socket } from 'node:net'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { MemoryBudget } from '../../src/base/admission/memory-budget.ts'
import { limits } from '../../src/base/limits.ts'
import { epoch } from '../../src/base/micros.ts'
import { systemTimers } from '../../src/base/timers.ts'
import { Listener } from '../../src/server/http/listener.ts'
import { Pacer } from '../../src/server/http/pacer.ts'
import { Pacing, pacingLimits } from '../../src/server/http/pacing.ts'
import { bodyText, readBody } from '../../src/server/http/request-body.ts'
import { connectRaw } from './raw-connection.ts'

/** Connections whose requests cost a fixed time on a simulated clock. */
function service(costMs: number) {
  let nowMs = 0
  const handled: string[] = []
  const pacing = new Pacing({ now: () => epoch, elapsedMs: () => nowMs }, systemTimers)
  const connect = () => {
    const socket = new Socket()
    const pacer = new Pacer(pacing, socket, 'client')
    const begin = (name: string) =>
      pacer.begin(() => {
        handled.push(name)
        nowMs += answer.costMs
      })
    return { socket, pacer, begin }
  }
  const answer = { connect, handled, costMs }
  return answer
}

test('sixteen cheap requests of a connection begin in each turn, in order', async () => {
  const { connect, handled } = service(0)
  const { pacer, begin } = connect()
  const all = Array.from({ length: 100 }, (_, at) => `${at}`)
  for (const name of all) begin(name)
  assert.equal(handled.length, pacingLimits.requestsPerTurn)
  while (pacer.isWaiting) await setImmediate()
  assert.deepEqual(handled, all)
})

test('simultaneous handshakes are spread over turns, in order, with requests between them', async () => {
  const { connect, handled } = service(0)
  const made: number[] = []
  const pacers = Array.from({ length: 100 }, () => connect().pacer)
  for (const [at, pacer] of pacers.entries()) pacer.shakeHands(() => made.push(at))
  assert.ok(made.length >= 1 && made.length <= 10, `${made.length} at once`)
  while (made.length < pacers.length) {
    const before = made.length
    connect().begin('newcomer')
    assert.equal(handled.pop(), 'newcomer')
    await setImmediate()
    assert.ok(made.length - before <= 10)
  }
  assert.deepEqual(made, [...pacers.keys()])
})

test('one expensive request of each connection begins in each turn, and a new connection begins at once', async () => {
  const { connect, handled } = service(1000)
  const greedy = [connect(), connect()]
  for (const [name, { begin }] of greedy.entries()) {
    for (let at = 0; at < 100; at++) begin(`${name}`)
  }
  await setImmediate()
  for (let turn = 0; turn < 10; turn++) {
    const before = handled.length
    connect().begin('newcomer')
    assert.equal(handled.at(-1), 'newcomer')
    await setImmediate()
    assert.deepEqual(handled.slice(before + 1).sort(), ['0', '1'])
  }
})

test('connections share the capacity of a turn, which grows again when requests become cheap', async () => {
  const shared = service(1000)
  const count = (name: string) => shared.handled.filter(handled => handled === name).length
  const counts = () => [count('0'), count('1')] as const
  const both = [shared.connect(), shared.connect()]
  for (const [name, { begin }] of both.entries()) {
    for (let at = 0; at < 1000; at++) begin(`${name}`)
  }
  await setImmediate()
  await setImmediate()
  shared.costMs = 0
  const from = counts()
  for (let turn = 0; turn < 4; turn++) await setImmediate()
  const [one, two] = counts()
  // A connection may get one step more in each turn.
  assert.ok(Math.abs(one - from[0] - (two - from[1])) <= 4, `${one} ${two}`)
  while (both.some(({ pacer }) => pacer.isWaiting)) await setImmediate()
  assert.deepEqual(counts(), [1000, 1000])
})

test('a connection with many waiting requests is paused until all have begun', async () => {
  const { connect, handled } = service(0)
  const { socket, pacer, begin } = connect()
  const holds: [boolean, number][] = []
  socket.on('pause', () => holds.push([true, handled.length]))
  socket.on('resume', () => holds.push([false, handled.length]))
  pacer.parseWith(() => {}, short)
  socket.resume()
  while (holds.length === 0) await setImmediate()
  holds.length = 0
  const all = pacingLimits.requestsPerTurn + pacingLimits.requestsWaitingMax
  for (let at = 0; at < all - 1; at++) begin(`${at}`)
  assert.deepEqual(holds, [])
  begin('one too many')
  assert.deepEqual(holds, [[true, pacingLimits.requestsPerTurn]])
  while (holds.length < 2) await setImmediate()
  assert.deepEqual(holds.slice(1), [[false, all]])
})

const short = Buffer.from('GET / HTTP/1.1\r\n\r\n')

/** An HTTP/1.1 connection that is parsed in slices, and the number of parsed lines. */
function parsing(connect: ReturnType<typeof service>['connect'], onSlice = (_bytes: Buffer) => {}) {
  const connection = connect()
  const { socket, pacer } = connection
  const parsed: Buffer[] = []
  const parse = (bytes: Buffer) => {
    parsed.push(bytes)
    onSlice(bytes)
  }
  pacer.parseWith(parse, short)
  pacer.slice()
  const receive = (bytes: Buffer) => socket.emit('data', bytes)
  const lines = () => Buffer.concat(parsed).toString().split('\n').length - 1
  return { ...connection, parsed, receive, lines }
}

const chunks = (count: number) => Buffer.from('1\r\na\r\n'.repeat(count))

test('one-byte chunks are parsed in slices, complete and in order, while the connection is paused', async () => {
  const { connect } = service(0)
  const others = Array.from({ length: 20 }, () => parsing(connect))
  for (const { receive } of others) receive(chunks(10_000))
  const { parsed, receive, lines, socket } = parsing(connect)
  receive(chunks(10_000))
  assert.equal(lines(), 0)
  assert.equal(socket.isPaused(), true)
  for (let before = 0; lines() < 20_000; before = lines()) {
    await setImmediate()
    assert.ok(lines() - before <= pacingLimits.requestsPerTurn * pacingLimits.linesPerSlice)
  }
  assert.deepEqual(Buffer.concat(parsed), chunks(10_000))
  while (socket.isPaused()) await setImmediate()
})

test('short input is parsed at once, however busy other connections are', () => {
  const { connect } = service(0)
  for (let other = 0; other < 20; other++) parsing(connect).receive(chunks(10_000))
  const { lines, receive } = parsing(connect)
  receive(Buffer.from('a header\r\n'.repeat(limits.shortReadLines)))
  assert.equal(lines(), limits.shortReadLines)
})

test('requests begin before more of their connection is parsed', async () => {
  const { connect } = service(0)
  const begun: number[] = []
  const { receive, pacer, lines } = parsing(connect, () => {
    for (let at = 0; at < pacingLimits.requestsWaitingMax; at++) pacer.begin(() => begun.push(lines()))
  })
  receive(chunks(pacingLimits.linesPerSlice))
  while (begun.length < 2 * pacingLimits.requestsWaitingMax) await setImmediate()
  const first = begun.slice(0, pacingLimits.requestsWaitingMax)
  assert.deepEqual(new Set(first), new Set([pacingLimits.linesPerSlice]))
})

test('few pieces of a body arrive before it is read', async () => {
  let pieces: number | undefined
  const listener = new Listener(exchange => {
    exchange.takeArrived(() => {
      pieces = exchange.body?.readableLength
    })
  })
  const port = await listener.listen({ host: '127.0.0.1', port: 0 })
  const head = 'POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n'
  const connection = await connectRaw(port, head + chunks(10_000))
  while (pieces === undefined) await setImmediate()
  connection.socket.destroy()
  await listener.close(0)
  // Each chunk has two lines and one byte.
  assert.ok(pieces <= pacingLimits.linesPerSlice / 2, `${pieces} pieces`)
})

test('nothing more is parsed while a body is paused', async () => {
  const { connect } = service(0)
  const { receive, pacer, lines, socket } = parsing(connect, () => pacer.pauseBody(true))
  receive(chunks(pacingLimits.linesPerSlice))
  for (let turn = 0; turn < 5; turn++) await setImmediate()
  assert.deepEqual([lines(), socket.isPaused()], [pacingLimits.linesPerSlice, true])
  pacer.pauseBody(false)
  while (lines() < 2 * pacingLimits.linesPerSlice) await setImmediate()
  pacer.pauseBody(false)
  assert.equal(socket.isPaused(), false)
})

test('a paused body delays a waiting slice, which is then parsed once', async () => {
  const { connect } = service(0)
  for (let other = 0; other < 20; other++) parsing(connect).receive(chunks(10_000))
  const { receive, pacer, parsed, socket } = parsing(connect)
  const slice = chunks(pacingLimits.linesPerSlice / 2)
  receive(slice)
  assert.equal(pacer.isWaiting, true)
  pacer.pauseBody(true)
  pacer.pauseBody(false)
  pacer.pauseBody(true)
  while (pacer.isWaiting) await setImmediate()
  assert.equal(parsed.length, 0)
  pacer.pauseBody(false)
  while (socket.isPaused()) await setImmediate()
  assert.deepEqual(parsed, [slice])
})

/** A connection that Node's parser reads by itself, with a chunked request. */
function unsliced(connect: ReturnType<typeof service>['connect'], first = short) {
  const { socket, pacer } = connect()
  pacer.parseWith(() => {}, first)
  const request = new IncomingMessage(socket)
  request.headers['transfer-encoding'] = 'chunked'
  pacer.noteHead(request)
  const receive = (pieces: number) => {
    for (let piece = 0; piece < pieces; piece++) request.push(Buffer.of(97))
  }
  return { pacer, receive, request, isSliced: () => socket.listenerCount('data') > 0 }
}

test('the parser itself reads a connection until many lines arrive in one turn', async () => {
  const { connect } = service(0)
  const [one, other] = [unsliced(connect), unsliced(connect)]
  for (let turn = 0; turn < 5; turn++) {
    one.receive(limits.shortReadLines - 1)
    await setImmediate()
    await setImmediate()
  }
  assert.equal(one.isSliced(), false)
  one.receive(limits.shortReadLines + 1)
  await new Promise(process.nextTick)
  assert.deepEqual([one.isSliced(), other.isSliced()], [true, false])
})

test('heads and trailers of many lines count like chunks, even in the first bytes', async () => {
  const { connect } = service(0)
  const fields = Array.from({ length: 2 * limits.shortReadLines }, () => 'a')
  const [head, trailers] = [unsliced(connect), unsliced(connect)]
  const request = new IncomingMessage(new Socket())
  request.rawHeaders = fields
  head.pacer.noteHead(request)
  trailers.request.rawTrailers = fields
  trailers.request.push(null)
  const first = unsliced(connect, chunks(limits.shortReadLines))
  await new Promise(process.nextTick)
  const sliced = [head, trailers, first].map(({ isSliced }) => isSliced())
  assert.deepEqual(sliced, [true, true, true])
})

test('after a flood, all connections are sliced at once, and new ones for a while', async () => {
  const elapsed = { ms: 0 }
  const pacing = new Pacing({ now: () => epoch, elapsedMs: () => elapsed.ms }, systemTimers)
  const connect = () => {
    const socket = new Socket()
    return { socket, pacer: new Pacer(pacing, socket, 'client'), begin: () => {} }
  }
  const [one, other] = [unsliced(connect), unsliced(connect)]
  one.receive(limits.shortReadLines + 1)
  // Callbacks of this tick run while Node parses the rest of its buffer.
  await new Promise(process.nextTick)
  assert.equal(other.isSliced(), false)
  one.receive(pacingLimits.excessLinesPerTurn)
  assert.deepEqual([one.isSliced(), other.isSliced(), unsliced(connect).isSliced()], [true, true, true])
  elapsed.ms = pacingLimits.slicesNewMs
  assert.equal(unsliced(connect).isSliced(), false)
})

const longBytes = pacingLimits.extraRequestsPerTurn * pacingLimits.readBytesPerRequest

test('one long input is parsed per turn, in order, and short input at once', async () => {
  const { connect, handled } = service(0)
  const read = (name: string, bytes: number, { pacer } = connect()) =>
    pacer.read(bytes, () => handled.push(name))
  const greedy = connect()
  read('greedy', longBytes, greedy)
  for (const name of ['a', 'b']) read(name, longBytes)
  read('greedy again', longBytes, greedy)
  read('short', limits.shortReadBytes)
  assert.deepEqual(handled, ['greedy', 'short'])
  connect().begin('newcomer')
  assert.equal(handled.at(-1), 'newcomer')
  await setImmediate()
  assert.deepEqual(handled.slice(3), ['a'])
  await setImmediate()
  await setImmediate()
  assert.deepEqual(handled.slice(3), ['a', 'b', 'greedy again'])
})

test('long input makes progress even if requests leave no capacity', async () => {
  const { connect, handled } = service(1000)
  const { begin } = connect()
  for (let at = 0; at < 100; at++) begin('')
  for (let turn = 0; turn < 10; turn++) await setImmediate()
  connect().pacer.read(longBytes, () => handled.push('long'))
  await setImmediate()
  assert.ok(handled.includes('long'))
})

test('thousands of pipelined requests with bodies are all answered in order', async () => {
  const budget = new MemoryBudget({ max: 100_000_000 })
  const listener = new Listener(exchange => {
    readBody(exchange, { bytesMax: 100_000 }, budget, outcome => {
      const text = typeof outcome === 'string' ? outcome : (bodyText(exchange, outcome) ?? '')
      const answer = `${text.length} ${text.slice(0, 8)};`
      exchange.respond(200, ['content-length', answer.length], answer, answer.length)
    })
  })
  const port = await listener.listen({ host: '127.0.0.1', port: 0 })
  // Varying lengths, so that reads end at every position of a body.
  const bodies = Array.from({ length: 3000 }, (_, at) => `${at} `.padEnd(1 + ((at * 7919) % 700), 'x'))
  const request = (body: string) => `POST / HTTP/1.1\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  const last = 'last'
  const connection = await connectRaw(port, [...bodies, last].map(request).join(''))
  const received = await connection.until('4 last;')
  const answers = received.match(/\d+ [^;\r\n]*;/g)
  const expected = [...bodies, last].map(body => `${body.length} ${body.slice(0, 8)};`)
  assert.deepEqual(answers, expected)
  connection.socket.destroy()
  await listener.close(1000)
})

test('pipelined requests of a client that does not read are served when it reads', async () => {
  const answer = 'x'.repeat(20_000)
  let handled = 0
  const listener = new Listener(exchange => {
    handled++
    exchange.respond(200, ['content-length', answer.length], answer, answer.length)
  })
  const port = await listener.listen({ host: '127.0.0.1', port: 0 })
  const requests = 2000
  const socket = connectSocket(port, '127.0.0.1').pause()
  socket.write(shortRequest.repeat(requests))
  // The responses have filled the buffers between the client and the server.
  for (let before = -1; before < handled || handled === 0; ) {
    before = handled
    for (let turn = 0; turn < 100; turn++) await setImmediate()
  }
  assert.ok(handled < requests)
  let received = 0
  socket.on('data', bytes => {
    received += bytes.length
  })
  socket.resume()
  while (received < requests * answer.length || handled < requests) await setImmediate()
  socket.destroy()
  await listener.close(0)
})

/** A listener that never responds, and its begun exchanges. */
async function silentListener() {
  const begun: unknown[] = []
  const listener = new Listener(exchange => begun.push(exchange))
  return { begun, listener, port: await listener.listen({ host: '127.0.0.1', port: 0 }) }
}

const shortRequest = 'GET / HTTP/1.1\r\n\r\n'

test('waiting requests of a closed connection do not begin', async () => {
  let begun = 0
  const listener = new Listener(exchange => {
    if (++begun === pacingLimits.requestsPerTurn) exchange.abort()
  })
  const port = await listener.listen({ host: '127.0.0.1', port: 0 })
  const connection = await connectRaw(port, shortRequest.repeat(pacingLimits.requestsWaitingMax))
  await connection.ended()
  for (let turn = 0; turn < 10; turn++) await setImmediate()
  assert.equal(begun, pacingLimits.requestsPerTurn)
  await listener.close(0)
})

test('a connection that closes with many running requests creates no stack traces', async () => {
  const { begun, listener, port } = await silentListener()
  const { prepareStackTrace, stackTraceLimit } = Error
  const connection = await connectRaw(port, shortRequest.repeat(pacingLimits.requestsWaitingMax))
  while (begun.length < pacingLimits.requestsPerTurn) await setImmediate()
  let longest = 0
  let resets = 0
  Error.prepareStackTrace = (error, frames) => {
    if (error.message === 'aborted') {
      resets++
      longest = Math.max(longest, frames.length)
    }
    return String(error)
  }
  try {
    connection.socket.resetAndDestroy()
    while (resets === 0) await setImmediate()
    await setImmediate()
  } finally {
    Error.prepareStackTrace = prepareStackTrace
  }
  assert.equal(longest, 0)
  assert.equal(Error.stackTraceLimit, stackTraceLimit)
  await listener.close(0)
})
