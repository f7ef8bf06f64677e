// The events of an open stream: when each is sent to a connection whose capacity the test controls, and what a stream
// keeps in memory.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import http2 from 'node:http2'
import { Writable } from 'node:stream'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { MemoryBudget } from '../../src/base/admission/memory-budget.ts'
import type { EventStream } from '../../src/engine/engine-contract.ts'
import { EventWriter, eventWriterLimits } from '../../src/server/http/event-writer.ts'
import type { Exchange } from '../../src/server/http/exchange.ts'
import { Listener } from '../../src/server/http/listener.ts'
import { readBody } from '../../src/server/http/request-body.ts'
import { RequestMeter } from '../../src/server/http/request-meter.ts'
import { TurnEnd } from '../../src/server/http/turn-end.ts'
import { eventually } from '../support/eventually.ts'
import { ManualTime, settled } from '../unit/model/auth/support.ts'

/** A stream of events that the test queues. */
class FakeStream implements EventStream {
  readonly id = '1'
  ended = false
  isClosed = false
  readonly #lines: Uint8Array[] = []
  #listener: () => void = () => undefined

  tell(...lines: readonly string[]): void {
    this.#lines.push(...lines.map(line => Buffer.from(line)))
    this.#listener()
  }

  end(): void {
    this.ended = true
    this.#listener()
  }

  take(): Uint8Array | undefined {
    return this.#lines.shift()
  }

  listen(listener: () => void): void {
    this.#listener = listener
  }

  close(): void {
    this.isClosed = true
  }
}

/** A connection that flushes a piece when the test says so. */
class FakeTarget extends Writable {
  readonly pieces: string[] = []
  #taken: (() => void) | undefined

  override _write(piece: Buffer, _encoding: string, done: () => void): void {
    this.pieces.push(piece.toString())
    this.#taken = done
  }

  async takePiece(): Promise<void> {
    this.#taken?.()
    await settled()
  }
}

const turn = () => new Promise(setImmediate)

const runAll = (counts: readonly (() => void)[]) => {
  for (const count of counts) count()
}

function writing({ unreadMax = 1000 } = {}) {
  const time = new ManualTime()
  const budget = new MemoryBudget({ max: unreadMax })
  const stream = new FakeStream()
  const target = new FakeTarget()
  const meter = { openStreams: 0 }
  const outlet = { body: target, abort: () => target.destroy() }
  new EventWriter(stream, outlet, 'somebody', {
    budget,
    written: new TurnEnd(runAll),
    timers: time,
    meter,
  })
  return { budget, meter, stream, target, time }
}

test('each event is a separate piece, written after the previous one has been flushed', async () => {
  const { stream, target } = writing()
  stream.tell('one', 'two')
  await turn()
  assert.deepEqual(target.pieces, ['one'])
  await target.takePiece()
  assert.deepEqual(target.pieces, ['one', 'two'])
  await target.takePiece()
  stream.tell('three')
  assert.deepEqual(target.pieces, ['one', 'two', 'three'])
})

test('an event counts as unread from the next turn on, until it has been flushed', async () => {
  const { budget, stream, target } = writing()
  stream.tell('one')
  await target.takePiece()
  await turn()
  assert.equal(budget.held, 0)
  stream.tell('three')
  assert.equal(budget.held, 0)
  await turn()
  assert.equal(budget.held, 'three'.length)
  await target.takePiece()
  assert.equal(budget.held, 0)
})

test('a reader with too many unread bytes is disconnected, and everything is freed', async () => {
  const { budget, meter, stream, target } = writing({ unreadMax: 3 })
  assert.equal(meter.openStreams, 1)
  stream.tell('four')
  await turn()
  await turn()
  assert.equal(target.destroyed, true)
  assert.equal(stream.isClosed, true)
  assert.equal(budget.held, 0)
  assert.equal(meter.openStreams, 0)
})

test('events that are queued when a stream ends are sent before its end', async () => {
  const { stream, target, time } = writing()
  stream.tell('last', 'end')
  stream.end()
  await target.takePiece()
  await target.takePiece()
  await turn()
  assert.deepEqual(target.pieces, ['last', 'end'])
  assert.equal(target.writableFinished, true)
  assert.equal(stream.isClosed, true)
  assert.equal(time.nextAlarm, undefined)
})

test('a client that does not read the end of its stream is disconnected', async () => {
  const { meter, stream, target, time } = writing()
  stream.tell('end')
  stream.end()
  await time.advance(eventWriterLimits.streamEndMs)
  await turn()
  assert.equal(target.destroyed, true)
  assert.equal(meter.openStreams, 0)
})

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

test('over HTTP/2, an open stream does not keep its request in memory', async () => {
  const time = new ManualTime()
  const unread = {
    budget: new MemoryBudget({ max: 1000 }),
    written: new TurnEnd(runAll),
  }
  const bodies = new MemoryBudget({ max: 100_000 })
  const events = new FakeStream()
  const held: WeakRef<object>[] = []
  const serve = (exchange: Exchange) => {
    held.push(new WeakRef(exchange), new WeakRef(exchange.headers))
    readBody(exchange, { bytesMax: 100, admit: async () => exchange.url }, bodies, () => {
      const outlet = exchange.begin(200, [])
      new EventWriter(events, outlet, 'somebody', { ...unread, timers: time, meter: new RequestMeter() })
    })
  }
  const listener = new Listener(serve)
  const port = await listener.listen({ host: '127.0.0.1', port: 0 })
  const session = http2.connect(`http://127.0.0.1:${port}`)
  try {
    const request = session.request({ ':method': 'POST', ':path': '/' })
    request.end('{}')
    await once(request, 'response')
    const told = once(request, 'data')
    events.tell('event')
    assert.equal(String(await told), 'event')
    await eventually('the request is not in memory', () => {
      collectGarbage()
      return held.length === 2 && held.every(each => each.deref() === undefined)
    })
  } finally {
    session.destroy()
    await listener.close(0)
  }
})
