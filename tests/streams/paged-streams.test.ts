// Shared page readers of streams, tested with pages that the test creates.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { epoch, micros } from '../../src/base/micros.ts'
import type { QueryResponse } from '../../src/engine/engine-contract.ts'
import { OpenStream, Subject, Viewer } from '../../src/engine/streams/open-stream.ts'
import { PagedStreams } from '../../src/engine/streams/page-reader.ts'
import type { Caller } from '../../src/model/auth/access-contract.ts'
import type { PagedOrder, StreamPage, StreamPlace } from '../../src/model/streaming.ts'
import { Ref, rootDatabase } from '../../src/values/value.ts'
import { ManualTime, settled } from '../unit/model/auth/support.ts'

const place = (time: number): StreamPlace => ({ time: micros(time), ordinal: 0 })

interface FakeEvent {
  readonly time: number
  readonly text: string
  readonly isError?: boolean
}

/** Streams of one source. Its events are those that the test adds to `events`, up to `now`. */
class Bench {
  now = 10
  readonly events: FakeEvent[] = []
  /** The number of pages that were read. */
  pages = 0
  readonly #paged: PagedStreams
  readonly #subject = new Subject({ kind: 'writes', collection: new Ref(rootDatabase, 1, 1n) }, 'source')
  readonly #viewer = new Viewer({
    key: 'viewer',
    // No test reads the caller.
    caller: {} as Caller,
    since: epoch,
    conditions: [],
  })

  constructor() {
    const time = new ManualTime()
    this.#paged = new PagedStreams({
      clock: time.clock,
      timers: time,
      onInternalError: error => {
        throw error
      },
    })
  }

  open(from: number): OpenStream {
    const wording = { start: () => 'start', end: () => 'end' }
    const origin = { subject: this.#subject, viewer: this.#viewer, wording, start: micros(from) }
    const stream = new OpenStream('1', origin, ended => this.#paged.release(ended))
    this.#paged.add(stream, this.#order(from), body => this.#respond(body))
    return stream
  }

  happen(event: FakeEvent): void {
    this.events.push(event)
    this.now = event.time + 1
  }

  wake(): void {
    for (const reader of this.#subject.readers) reader.wake()
  }

  #order(from: number): PagedOrder {
    return {
      kind: 'paged',
      subject: this.#subject.target,
      key: 'order',
      place: place(from),
      wording: { start: () => 'start', end: () => 'end' },
      request: behind => String(behind.time),
      read: body => this.#page(Number(body)),
      status: () => 'status',
    }
  }

  #respond(body: string): QueryResponse {
    this.pages++
    return { status: 200, body, txnTime: micros(this.now), metrics: undefined, database: rootDatabase }
  }

  /** A page up to the first error. */
  #page(behind: number): StreamPage {
    const all = this.events.filter(({ time }) => time > behind)
    const errorAt = all.findIndex(({ isError }) => isError)
    const told = errorAt < 0 ? all : all.slice(0, errorAt + 1)
    return {
      lines: told.map(({ text, time }) => ({ place: place(time), text })),
      place: place(errorAt < 0 ? this.now : Number(told.at(-1)?.time)),
      hasNext: false,
      isOver: errorAt >= 0,
      costs: [],
    }
  }
}

const told = (stream: OpenStream) => {
  const lines: string[] = []
  for (let line = stream.take(); line !== undefined; line = stream.take()) lines.push(String(line))
  return lines
}

test('streams that start after the last event need no page of their own', async () => {
  const bench = new Bench()
  const streams = [bench.open(5)]
  await settled()
  assert.equal(bench.pages, 1)
  streams.push(bench.open(5), bench.open(7), bench.open(20))
  await settled()
  assert.equal(bench.pages, 1)
  bench.happen({ time: 15, text: 'a' })
  bench.happen({ time: 25, text: 'b' })
  bench.wake()
  await settled()
  assert.equal(bench.pages, 2)
  assert.deepEqual(streams.map(told), [
    ['start', 'a', 'b'],
    ['start', 'a', 'b'],
    ['start', 'a', 'b'],
    ['start', 'b'],
  ])
})

test('a stream that starts before events that others have received reads them itself', async () => {
  const bench = new Bench()
  const first = bench.open(5)
  await settled()
  bench.happen({ time: 15, text: 'a' })
  bench.wake()
  await settled()
  const late = bench.open(5)
  await settled()
  assert.deepEqual(told(late), ['start', 'a'])
  bench.happen({ time: 25, text: 'b' })
  bench.wake()
  await settled()
  assert.deepEqual(told(first), ['start', 'a', 'b'])
  assert.deepEqual(told(late), ['b'])
})

test('an error ends the streams that receive it, but no stream that starts after it', async () => {
  const bench = new Bench()
  const first = bench.open(5)
  await settled()
  bench.happen({ time: 15, text: 'error', isError: true })
  const late = bench.open(20)
  bench.happen({ time: 25, text: 'b' })
  bench.wake()
  await settled()
  assert.deepEqual(told(first), ['start', 'error'])
  assert.equal(first.ended, true)
  assert.deepEqual(told(late), ['start', 'b'])
  assert.equal(late.ended, false)
})
