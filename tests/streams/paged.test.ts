// Streams and feeds of version 10 over a store in memory. The test controls the time, and when a reader reads.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { micros } from '../../src/base/micros.ts'
import type { Engine, EventStream } from '../../src/engine/engine-contract.ts'
import { pageReaderLimits } from '../../src/engine/streams/page-reader.ts'
import { placeText } from '../../src/fql10/events/token.ts'
import { retentionLimits } from '../../src/storage/store/retention.ts'
import { rootSecret } from '../support/engine.ts'
import { type ManualTime, settled } from '../unit/model/auth/support.ts'
import { openManualEngine } from './manual-engine.ts'

interface StreamLine {
  readonly type: string
  readonly data?: unknown
  readonly cursor?: string
  readonly txn_ts?: number
  readonly error?: { readonly code: string; readonly message: string }
}

interface Page {
  readonly events: readonly StreamLine[]
  readonly cursor: string
  readonly has_next: boolean
}

interface Bench {
  readonly engine: Engine
  readonly time: ManualTime
  query(text: string, secret?: string): Promise<unknown>
  open(body: object, secret?: string): Promise<EventStream>
  feed(body: object, secret?: string): Promise<Page>
}

async function withEngine(
  body: (bench: Bench) => Promise<void>,
  settings: { readonly computeOpsPerSecond?: number } = {},
): Promise<void> {
  await using opened = openManualEngine({ streamsMax: 2000, ...settings })
  const { engine, time } = opened
  const request = (sent: object, options: Readonly<Record<string, string>>, secret = rootSecret) => ({
    authorization: `Bearer ${secret}`,
    language: '10' as const,
    dialect: '10',
    body: JSON.stringify(sent),
    options,
    timeoutMs: 60_000,
  })
  const bench: Bench = {
    engine,
    time,
    async query(text, secret) {
      const response = await engine.query(request({ query: text }, {}, secret), undefined)
      assert.equal(response.status, 200, response.body)
      return JSON.parse(response.body).data
    },
    async open(sent, secret) {
      const { stream, body: rejection } = await engine.openStream(
        request(sent, { endpoint: 'stream' }, secret),
        undefined,
        undefined,
      )
      assert.ok(stream, rejection)
      return stream
    },
    async feed(sent, secret) {
      const response = await engine.query(request(sent, { endpoint: 'feed' }, secret), undefined)
      assert.equal(response.status, 200, response.body)
      return JSON.parse(response.body)
    },
  }
  await bench.query('Collection.create({ name: "Jar" })')
  await body(bench)
}

function taken(stream: EventStream): StreamLine[] {
  const events: StreamLine[] = []
  for (let line = stream.take(); line !== undefined; line = stream.take()) {
    const text = Buffer.from(line).toString()
    assert.match(text, /^[^\r\n]+\r\n$/)
    events.push(JSON.parse(text))
  }
  return events
}

const typesOf = (events: readonly StreamLine[]) => events.map(({ type }) => type)
const source = (bench: Bench, text = 'Jar.all().map(.n).eventSource()') =>
  bench.query(text) as Promise<string>

test('a stream without events sends its position every five minutes', () =>
  withEngine(async bench => {
    const stream = await bench.open({ token: await source(bench, 'Jar.where(.n > 5).eventSource()') })
    await settled()
    const [start] = taken(stream)
    await bench.query('Jar.create({ n: 1 })')
    await settled()
    await bench.time.advance(pageReaderLimits.streamStatusMs - 1)
    assert.deepEqual(taken(stream), [])
    await bench.time.advance(1)
    const [status, ...others] = taken(stream)
    assert.deepEqual([status?.type, others], ['status', []])
    assert.ok(Number(status?.txn_ts) > Number(start?.txn_ts))
    await bench.query('Jar.create({ n: 7 })')
    const page = await bench.feed({ token: await source(bench), cursor: status?.cursor })
    assert.deepEqual(typesOf(page.events), ['add'], 'its cursor is after the filtered event')
    await settled()
    assert.deepEqual(typesOf(taken(stream)), ['add'])
    // After a recent event, no status is due.
    await bench.time.advance(pageReaderLimits.streamStatusMs - 1)
    assert.deepEqual(taken(stream), [])
    await bench.time.advance(pageReaderLimits.streamStatusMs)
    assert.deepEqual(typesOf(taken(stream)), ['status'])
    stream.close()
  }))

test('hundreds of streams of one source receive the same events once, whenever they were opened', () =>
  withEngine(async bench => {
    const token = await source(bench)
    const streams: EventStream[] = []
    for (let n = 0; n < 100; n++) {
      if (n % 10 === 0) await bench.query(`Jar.create({ n: ${n} })`)
      for (let each = 0; each < 3; each++) streams.push(await bench.open({ token }))
    }
    await bench.query('Set.sequence(0, 50).forEach(n => Jar.create({ n: 1000 + n }))')
    for (let turn = 0; turn < 20; turn++) await settled()
    const [first, ...others] = streams.map(taken)
    assert.equal(first?.length, 61)
    assert.equal(new Set(first?.map(({ cursor }) => cursor)).size, 61)
    for (const told of others) assert.deepEqual(told, first)
    for (const stream of streams) stream.close()
  }))

test('too many pending events end the stream of a client that does not read', () =>
  withEngine(async bench => {
    const stream = await bench.open({ token: await source(bench) })
    await settled()
    for (let n = 0; n < 5; n++) {
      await bench.query('Set.sequence(0, 1000).forEach(n => Jar.create({ n: n }))')
      for (let turn = 0; turn < 5; turn++) await settled()
    }
    await bench.query('Jar.create({ n: 0 })')
    for (let turn = 0; turn < 5; turn++) await settled()
    assert.ok(stream.ended)
    const error = taken(stream).at(-1)
    assert.deepEqual([error?.type, error?.error?.code], ['error', 'stream_overflow'])
  }))

test('the events that a stream may replay are limited', () =>
  withEngine(async bench => {
    const token = await source(bench)
    const catchUp = async () => {
      const stream = await bench.open({ token })
      for (let turn = 0; turn < 5; turn++) await settled()
      const told = taken(stream)
      stream.close()
      return told
    }
    await bench.query('Set.sequence(0, 128).forEach(n => Jar.create({ n: n }))')
    assert.equal((await catchUp()).length, 1 + 128)
    await bench.query('Jar.create({ n: 0 })')
    const told = await catchUp()
    assert.equal(told.length, 1 + 128 + 1)
    assert.equal(told.at(-1)?.error?.code, 'stream_replay_volume_exceeded')
  }))

test('a stream ends when its credential is deleted; other streams continue', () =>
  withEngine(async bench => {
    const secret = (await bench.query('Key.create({ role: "server" }).secret')) as string
    const token = await source(bench)
    const [lost, kept] = [await bench.open({ token }, secret), await bench.open({ token })]
    await settled()
    await bench.query('Key.all().forEach(.delete())')
    await settled()
    assert.equal(taken(lost).at(-1)?.error?.code, 'permission_loss')
    await bench.query('Jar.create({ n: 1 })')
    await settled()
    assert.deepEqual(typesOf(taken(kept)), ['status', 'add'])
    kept.close()
  }))

test('a stream ends without an error when its collection is deleted', () =>
  withEngine(async bench => {
    const stream = await bench.open({ token: await source(bench) })
    await settled()
    await bench.query('Jar.definition.delete()')
    await settled()
    assert.ok(stream.ended)
    assert.deepEqual(typesOf(taken(stream)), ['status'])
  }))

test('the caller of a stream determines the visible events, not the creator of the token', () =>
  withEngine(async bench => {
    await bench.query(
      'Role.create({ name: "r", privileges: { resource: "Jar", actions: { read: "j => j.n > 1" } } })',
    )
    const secret = (await bench.query('Key.create({ role: "r" }).secret')) as string
    const token = await source(bench)
    const stream = await bench.open({ token }, secret)
    await bench.query('Jar.create({ id: 1, n: 1 })')
    await bench.query('Jar.create({ id: 2, n: 2 })')
    await bench.query('Jar.byId(1)!.update({ n: 3 })')
    await bench.query('Jar.byId(2)!.update({ n: 0 })')
    await settled()
    const expected = [
      ['status', undefined],
      ['add', { '@int': '2' }],
      ['add', { '@int': '3' }],
      ['remove', { '@int': '2' }],
    ]
    const received = taken(stream).map(({ data, type }) => [type, data])
    assert.deepEqual(received, expected)
    const page = await bench.feed({ token }, secret)
    const fed = page.events.map(({ data, type }) => [type, data])
    assert.deepEqual(fed, expected.slice(1))
    stream.close()
  }))

test('a set of an earlier time has no events, but a set of the snapshot time has', () =>
  withEngine(async bench => {
    // `at` with exactly the time of the snapshot means the present, as in all queries.
    const token = await source(bench, 'at (Time.now()) { Jar.all() }.eventSource()')
    await bench.query('Jar.create({ n: 1 })')
    assert.deepEqual(typesOf((await bench.feed({ token })).events), ['add'])
    const earlier = 'at (Time.now().subtract(1, "second")) { Jar.all() }.where(.n > 0).eventSource()'
    await assert.rejects(bench.query(earlier), /streaming is not supported for sets created within an/)
  }))

test('a cursor that is later than the snapshot stays the same', () =>
  withEngine(async bench => {
    const token = await source(bench)
    const cursor = placeText({ time: micros((bench.time.ms + 1000) * 1000), ordinal: 3 })
    const page = await bench.feed({ token, cursor })
    assert.deepEqual([page.events, page.cursor, page.has_next], [[], cursor, false])
  }))

test('a feed from before the history is an error; a feed from before the collection is complete', () =>
  withEngine(async bench => {
    const startTime = bench.time.ms * 1000
    await bench.time.advance(1000)
    const token = await source(bench, 'Jar.all().eventSource()')
    await bench.query('Jar.create({ n: 1 })')
    const whole = await bench.feed({ token, start_ts: startTime })
    assert.deepEqual(typesOf(whole.events), ['add'])
    for (const tooEarly of [0, -1, startTime - retentionLimits.historyGraceMicros]) {
      const { events, has_next } = await bench.feed({ token, start_ts: tooEarly })
      const codes = events.map(({ error }) => error?.code)
      assert.deepEqual([codes, has_next], [['invalid_stream_start_time'], false])
    }
    await bench.time.advance(retentionLimits.historyGraceMicros / 1000 + 1000)
    await bench.query('Jar.create({ n: 2 })')
    const page = await bench.feed({ token })
    assert.deepEqual([page.events[0]?.error?.code, page.has_next], ['invalid_stream_start_time', false])
    const message = page.events[0]?.error?.message ?? ''
    assert.match(message, /^Stream start time 2023-[^`]+Z is too far in the past\./)
    const stream = await bench.open({ token })
    await settled()
    assert.deepEqual(typesOf(taken(stream)), ['status', 'error'])
    assert.ok(stream.ended)
  }))

test('a page ends before its deadline, and the next one continues it', () =>
  withEngine(async bench => {
    const token = await source(bench)
    await bench.query('Set.sequence(0, 200).forEach(n => Jar.create({ id: ID(n + 1), n: n }))')
    bench.time.msPerLook = 600
    const seen: unknown[] = []
    let cursor: string | undefined
    let pages = 0
    for (let hasNext = true; hasNext; pages++) {
      const page = await bench.feed({ token, page_size: 16_000, ...(cursor !== undefined && { cursor }) })
      seen.push(...page.events.map(({ data }) => data))
      ;({ cursor, has_next: hasNext } = page)
    }
    assert.ok(pages > 1)
    const all = Array.from({ length: 200 }, (_, n) => ({ '@int': String(n) }))
    assert.deepEqual(seen, all)
  }))

test('costs of events count against the limits of the database, and a stream waits for them', () =>
  withEngine(
    async bench => {
      const costly =
        'Jar.all().map(j => Set.sequence(0, 2000).map(n => n + 1).toArray().length).eventSource()'
      const stream = await bench.open({ token: await source(bench, costly) })
      await settled()
      await bench.query('Jar.create({ n: 1 })')
      await settled()
      assert.deepEqual(typesOf(taken(stream)), ['status', 'add'])
      await assert.rejects(bench.query('1'), /Rate limit for compute exceeded/)
      await bench.time.advance(60_000)
      // The debt takes longer to pay than the retries after other failures would take.
      const debt = 'Set.sequence(0, 5).forEach(n => Set.sequence(0, 2000).forEach(m => m + n))'
      await bench.query(`${debt}\nJar.create({ n: 2 })`)
      const told: StreamLine[] = []
      const secondsUntilTold = async () => {
        for (let second = 0; ; second++) {
          await settled()
          told.push(...taken(stream))
          if (told.length > 0) return second
          await bench.time.advance(pageReaderLimits.streamRetryMs)
        }
      }
      assert.ok((await secondsUntilTold()) > pageReaderLimits.streamRetriesMax)
      assert.deepEqual(typesOf(told), ['add'])
      assert.ok(!stream.ended)
      stream.close()
    },
    { computeOpsPerSecond: 20 },
  ))
