// Streams deliver every transaction after their start event exactly once, in commit order, even if they are opened
// during writes.

import assert from 'node:assert/strict'
import type { StreamReader, WireEvent } from './stream-client.ts'
import { StreamReader as Reader, requestStream } from './stream-client.ts'
import { type App, type Doc, streamTests } from './streams-app.ts'

const streamTest = streamTests()

const things = { collection: 'things' }
const counter = { ref: things, id: '7' }
const number = { select: ['data', 'n'], from: { get: counter } }
const increment = {
  update: counter,
  params: { object: { data: { object: { n: { add: [number, 1] } } } } },
}

/** Reads up to the transaction `last`. Returns the start event and all later events. */
async function readUntil(reader: StreamReader, last: Promise<number>): Promise<WireEvent[]> {
  const events = [await reader.next()]
  const end = await last
  while ((events.at(-1)?.txn ?? 0) < end) events.push(await reader.next())
  return events
}

async function open(app: App, expression: unknown): Promise<StreamReader> {
  const { response, abort } = await requestStream(app.server, app.secret, expression)
  return new Reader(response, abort)
}

streamTest('a stream delivers every change after the start event once and in order', async app => {
  await app.create({ n: 0 }, '7')
  const times: number[] = []
  const { promise: last, resolve } = Promise.withResolvers<number>()
  const readers: StreamReader[] = []
  const streams: Promise<WireEvent[]>[] = []
  const writers = [0, 1, 2].map(async () => {
    for (let count = 0; count < 60; count++) times.push(((await app.query(increment)) as Doc).ts)
  })
  const opening = (async () => {
    for (let count = 0; count < 40; count++) {
      const reader = await open(app, counter)
      readers.push(reader)
      streams.push(readUntil(reader, last))
    }
  })()
  await Promise.all([...writers, opening])
  const final = ((await app.query(increment)) as Doc).ts
  times.push(final)
  resolve(final)
  times.sort((left, right) => left - right)
  for (const [start, ...events] of await Promise.all(streams)) {
    assert.equal(start?.type, 'start')
    const expected = times.filter(time => time > (start?.txn ?? 0))
    const txns = events.map(({ txn }) => txn)
    assert.deepEqual(txns, expected)
    const numbers = events.map(
      ({ event }) => (event as { document: { data: { n: number } } }).document.data.n,
    )
    const last = expected.map((_, index) => times.length - expected.length + index + 1)
    assert.deepEqual(numbers, last)
  }
  for (const reader of readers) reader.close()
})

streamTest('a read after the start event and the later events together contain the whole set', async app => {
  const { promise: last, resolve } = Promise.withResolvers<number>()
  const made: string[] = []
  const idOf = ({ ref }: Doc) => (ref as { '@ref': { id: string } })['@ref'].id
  const writing = (async () => {
    for (let count = 0; count < 60; count++) made.push(idOf(await app.create({ count })))
  })()
  const pictures = Array.from({ length: 10 }, async () => {
    const reader = await open(app, { documents: things })
    const start = await reader.next()
    const page = (await app.query({ paginate: { documents: things }, size: 1000 })) as {
      data: Doc['ref'][]
    }
    const seen = new Set(page.data.map(ref => idOf({ ref, ts: 0 })))
    let txn = start.txn
    while (txn < (await last)) {
      const event = await reader.next()
      txn = event.txn
      seen.add(idOf((event.event as { document: Doc }).document))
    }
    reader.close()
    return seen
  })
  await writing
  const final = await app.create({ final: true })
  made.push(idOf(final))
  resolve(final.ts)
  for (const seen of await Promise.all(pictures)) {
    assert.deepEqual([...seen].toSorted(), made.toSorted())
  }
})

streamTest('the events of one transaction are adjacent', async app => {
  const reader = await app.stream({ documents: things })
  const batch = { do: Array.from({ length: 5 }, () => ({ create: things, params: { object: {} } })) }
  await Promise.all(Array.from({ length: 20 }, () => app.query(batch)))
  const txns: number[] = []
  for (let count = 0; count < 100; count++) txns.push((await reader.next()).txn)
  const sorted = txns.toSorted((left, right) => left - right)
  assert.deepEqual(txns, sorted)
  assert.equal(new Set(txns).size, 20)
})
