// Streams over a store in memory. The test controls the time, and when a reader reads.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limits } from '../../src/base/limits.ts'
import type { Engine, EventStream } from '../../src/engine/engine-contract.ts'
import { pageReaderLimits } from '../../src/engine/streams/page-reader.ts'
import { rootSecret } from '../support/engine.ts'
import { type ManualTime, settled } from '../unit/model/auth/support.ts'
import { openManualEngine } from './manual-engine.ts'
import type { WireEvent } from './stream-client.ts'
import { type Doc, wire } from './streams-app.ts'

const things = { collection: 'things' }
const target = { ref: things, id: '7' }

interface Bench {
  readonly engine: Engine
  readonly time: ManualTime
  query(query: unknown, secret?: string): Promise<unknown>
  open(expression: unknown, secret?: string): Promise<EventStream>
}

async function withEngine(body: (bench: Bench) => Promise<void>, streamsMax = 100): Promise<void> {
  await using opened = openManualEngine({ streamsMax })
  const { engine, time } = opened
  const request = (query: unknown, secret = rootSecret) => ({
    authorization: `Bearer ${secret}`,
    language: '4' as const,
    dialect: '4',
    body: JSON.stringify(query),
    timeoutMs: 60_000,
  })
  const bench: Bench = {
    engine,
    time,
    async query(query, secret) {
      const { body, status } = await engine.query(request(query, secret), undefined)
      assert.ok(status < 300, body)
      return JSON.parse(body).resource
    },
    async open(expression, secret) {
      const inStream = { ...request(expression, secret), readOnlyPlace: 'stream requests' as const }
      const { stream, body } = await engine.openStream(inStream, undefined, undefined)
      assert.ok(stream, body)
      return stream
    },
  }
  await bench.query({ create_collection: { object: { name: 'things' } } })
  await body(bench)
}

/** The oldest pending event. */
function next(stream: EventStream): string | undefined {
  const line = stream.take()
  return line && Buffer.from(line).toString()
}

function taken(stream: EventStream): WireEvent[] {
  const events: WireEvent[] = []
  for (let line = next(stream); line !== undefined; line = next(stream)) {
    assert.match(line, /^[^\r\n]+\r\n$/)
    const text = line.slice(0, -2)
    events.push({ ...JSON.parse(text), text })
  }
  return events
}

const typesOf = (events: readonly WireEvent[]) => events.map(({ type }) => type)

const create = (data: unknown) => ({ create: target, params: wire({ data }) })
const update = (data: unknown) => ({ update: target, params: wire({ data }) })

test('a stream is silent until a change, and costs nothing after it is closed', () =>
  withEngine(async ({ open, query }) => {
    const stream = await open(target)
    assert.deepEqual(typesOf(taken(stream)), ['start'])
    assert.equal(stream.take(), undefined)
    let calls = 0
    stream.listen(() => calls++)
    await query(create({ n: 1 }))
    await settled()
    assert.equal(calls, 1)
    stream.close()
    assert.equal(stream.take(), undefined)
    await query(update({ n: 2 }))
    await settled()
    assert.deepEqual([calls, stream.take(), stream.ended], [1, undefined, true])
  }))

test('a reader that is too far behind gets an error instead of the next transaction', () =>
  withEngine(async ({ open, query }) => {
    const stream = await open({ documents: things })
    const many = Array.from({ length: 5000 }, () => ({ create: things, params: { object: {} } }))
    await query({ do: many })
    await settled()
    assert.equal(stream.ended, false, 'one transaction is never too much')
    const healthy = await open({ documents: things })
    await query({ create: things, params: { object: {} } })
    await settled()
    assert.equal(
      next(stream),
      '{"type":"error","txn":0,"event":{"code":"time out","description":"Stream closed due to congestion after accumulating 5001 items."}}\r\n',
    )
    assert.equal(stream.ended, true)
    assert.deepEqual(typesOf(taken(healthy)), ['start', 'set'])
  }))

test('large events count by their bytes', () =>
  withEngine(async ({ open, query }) => {
    const stream = await open(target)
    await query(create({}))
    for (let n = 0; n < 3; n++) {
      await query(update({ n, text: 'x'.repeat(5_000_000) }))
      await settled()
    }
    assert.match(next(stream) ?? '', /after accumulating 4 items\./)
  }))

/** A key for a database `child` that expires in a minute. */
async function expiringKey({ query, time }: Bench): Promise<string> {
  await query({ create_database: { object: { name: 'child' } } })
  const ttl = { time: new Date(time.ms + 60_000).toISOString() }
  const key = { role: 'server', database: { database: 'child' }, ttl }
  const { secret } = (await query({ create_key: { object: key } })) as { secret: string }
  await query({ create_collection: { object: { name: 'things' } } }, secret)
  return secret
}

const lost = { code: 'permission denied', description: 'Authorization lost during stream evaluation.' }

test('a silent stream ends when its key expires', () =>
  withEngine(async bench => {
    const stream = await bench.open(target, await expiringKey(bench))
    assert.deepEqual(typesOf(taken(stream)), ['start'])
    await bench.time.advance(59_000)
    assert.equal(stream.ended, false)
    await bench.time.advance(1_000)
    const [end] = taken(stream)
    assert.deepEqual(end?.event, lost)
    assert.equal(end?.txn, bench.time.ms * 1000)
    assert.equal(stream.ended, true)
  }))

/** The secret of a token of a new user, and a function that sets the `ttl` of the user. */
async function tokenOfUser({ query, time }: Bench, ttlMs?: number) {
  const ttlIn = (ms: number) => ({ time: new Date(time.ms + ms).toISOString() })
  const params = { data: { object: {} }, ...(ttlMs !== undefined && { ttl: ttlIn(ttlMs) }) }
  const { ref } = (await query({ create: things, params: { object: params } })) as Doc
  const membership = { object: { resource: things } }
  const privileges = [{ object: { resource: things, actions: { object: { read: true } } } }]
  await query({ create_role: { object: { name: 'users', membership: [membership], privileges } } })
  const { secret } = (await query({ create: { tokens: null }, params: { object: { instance: ref } } })) as {
    readonly secret: string
  }
  const setTtl = (ms: number | null) =>
    query({ update: ref, params: { object: { ttl: ms === null ? null : ttlIn(ms) } } })
  return { secret, setTtl }
}

test('a stream ends when its identity expires', () =>
  withEngine(async bench => {
    const { secret } = await tokenOfUser(bench, 60_000)
    const stream = await bench.open(target, secret)
    taken(stream)
    await bench.time.advance(59_000)
    assert.equal(stream.ended, false)
    await bench.time.advance(1_000)
    assert.deepEqual(taken(stream)[0]?.event, lost)
    assert.equal(stream.ended, true)
  }))

test('a ttl of the identity that is set, changed or removed later counts', () =>
  withEngine(async bench => {
    const { secret, setTtl } = await tokenOfUser(bench)
    const stream = await bench.open(target, secret)
    await setTtl(10_000)
    await settled()
    await setTtl(null)
    await settled()
    await bench.time.advance(20_000)
    assert.equal(stream.ended, false)
    await setTtl(5_000)
    await settled()
    await bench.time.advance(6_000)
    assert.equal(stream.ended, true)
    assert.deepEqual(taken(stream).at(-1)?.event, lost)
  }))

test('an event after the expiry of the credential is not delivered, even before the timer fires', () =>
  withEngine(async bench => {
    const secret = await expiringKey(bench)
    const stream = await bench.open(target, secret)
    taken(stream)
    bench.time.ms += 60_001
    const { ts } = (await bench.query(create({}), `${rootSecret}:child:admin`)) as Doc
    await settled()
    const [end, ...more] = taken(stream)
    assert.deepEqual([end?.event, end?.txn, more], [lost, ts, []])
  }))

/** A key for a role that may read things if `expression` is true for the variable `ref`. */
async function keyWith({ query }: Bench, expression: unknown): Promise<string> {
  const read = { query: { lambda: 'ref', expr: expression } }
  const privileges = [{ object: { resource: things, actions: { object: { read } } } }]
  await query({ create_role: { object: { name: 'tested', privileges } } })
  const { secret } = (await query({ create_key: { object: { role: { role: 'tested' } } } })) as {
    secret: string
  }
  return secret
}

/** Commits one write after another. With a store in memory, no commit waits for a turn of the event loop. */
async function inTurn(bench: Bench, writes: readonly unknown[]): Promise<Doc[]> {
  const made: Doc[] = []
  for (const write of writes) made.push((await bench.query(write)) as Doc)
  return made
}

/** The changes of a count in each turn of the event loop, until `isDone`. */
async function perTurn(count: () => number, isDone: () => boolean): Promise<number[]> {
  const turns: number[] = []
  while (!isDone()) {
    const before = count()
    await new Promise(resolve => setImmediate(resolve))
    turns.push(count() - before)
    assert.ok(turns.length < 10_000, 'too many turns')
  }
  return turns
}

test('streams are notified of a transaction in groups, with the same bytes for all', () =>
  withEngine(async ({ open, query }) => {
    const streams = await Promise.all(Array.from({ length: 300 }, () => open(target)))
    for (const stream of streams) stream.take()
    let told = 0
    for (const stream of streams) stream.listen(() => told++)
    await query(create({ text: 'x'.repeat(1000) }))
    const turns = await perTurn(
      () => told,
      () => told === streams.length,
    )
    assert.equal(Math.max(...turns), pageReaderLimits.streamsPerTurn)
    const [first, ...others] = streams.map(stream => stream.take())
    assert.ok(first !== undefined && others.every(line => line === first))
  }, 300))

test('the bytes that streams are sent in one turn are limited', () =>
  withEngine(async ({ open, query }) => {
    const streams = await Promise.all(Array.from({ length: 40 }, () => open(target)))
    let told = 0
    for (const stream of streams) stream.listen(() => told++)
    await query(create({ text: 'x'.repeat(1_000_000) }))
    const turns = await perTurn(
      () => told,
      () => told === streams.length,
    )
    assert.ok(Math.max(...turns) <= Math.ceil(pageReaderLimits.streamBytesPerTurn / 1_000_000), `${turns}`)
  }))

test('streams that end together are notified in groups', () =>
  withEngine(async ({ open, query }) => {
    const streams = await Promise.all(Array.from({ length: 300 }, () => open(target)))
    const ended = () => streams.filter(stream => stream.ended).length
    await query({ delete: things })
    const turns = await perTurn(ended, () => ended() === streams.length)
    assert.equal(Math.max(...turns), pageReaderLimits.streamsPerTurn)
  }, 300))

test('permission checks for an event are spread over several turns', () =>
  withEngine(async bench => {
    const privileges = [{ object: { resource: things, actions: { object: { read: true } } } }]
    const membership = [{ object: { resource: things } }]
    await bench.query({ create_role: { object: { name: 'members', privileges, membership } } })
    await bench.query(create({}))
    const streams: EventStream[] = []
    for (let n = 0; n < 30; n++) {
      const { ref: instance } = (await bench.query({ create: things })) as Doc
      const token = await bench.query({ create: { tokens: null }, params: { object: { instance } } })
      streams.push(await bench.open(target, (token as { secret: string }).secret))
    }
    for (const stream of streams) taken(stream)
    let told = 0
    for (const stream of streams) stream.listen(() => told++)
    await bench.query(update({ n: 2 }))
    bench.time.msPerLook = limits.streamTurnMs
    const turns = await perTurn(
      () => told,
      () => told === streams.length,
    )
    assert.ok(turns.length >= streams.length, `${turns.length} turns`)
  }))

test('predicates see the state at the time of the event, not the present one', () =>
  withEngine(async bench => {
    const isPublic = { select: ['data', 'public'], from: { get: { var: 'ref' } }, default: false }
    const stream = await bench.open(target, await keyWith(bench, isPublic))
    taken(stream)
    // No write waits for a turn of the event loop in which streams would be served.
    const writes = [create({ public: true, n: 1 }), update({ public: false }), update({ public: true, n: 3 })]
    const made = await inTurn(bench, [...writes, { delete: target }])
    await settled()
    const times = taken(stream).map(({ txn }) => txn)
    assert.deepEqual(times, [made[0]?.ts, made[2]?.ts])
  }))

test('predicates see past indexes and histories, too', () =>
  withEngine(async bench => {
    await bench.query({ create_index: { object: { name: 'all', source: things } } })
    const hasOne = (set: unknown) => ({
      equals: [{ count: { select: ['data'], from: { paginate: set } } }, 1],
    })
    const sets = [{ match: { index: 'all' } }, { documents: things }, { events: { match: { index: 'all' } } }]
    const stream = await bench.open(target, await keyWith(bench, { and: sets.map(hasOne) }))
    taken(stream)
    const other = { create: { ref: things, id: '8' }, params: { object: {} } }
    const made = await inTurn(bench, [create({}), other, update({ n: 1 })])
    await settled()
    const times = taken(stream).map(({ txn }) => txn)
    assert.deepEqual(times, [made[0]?.ts])
  }))

test('a predicate that has to wait delays the event, and the order is kept', () =>
  withEngine(async bench => {
    const user = { ref: things, id: '1' }
    const credentials = { object: { password: 'secret' } }
    await bench.query({ create: user, params: { object: { credentials } } })
    const secret = await keyWith(bench, { identify: user, password: 'secret' })
    const stream = await bench.open(target, secret)
    const plain = await bench.open(target)
    taken(stream)
    taken(plain)
    const heard = new Promise<void>(resolve => stream.listen(() => resolve()))
    const { ts } = (await bench.query(create({ n: 1 }))) as Doc
    await heard
    const times = [taken(stream), taken(plain)].map(events => events.map(({ txn }) => txn))
    assert.deepEqual(times, [[ts], [ts]])
  }))

test('streams with different rights and fields share the work and get their own events', () =>
  withEngine(async bench => {
    const secret = await keyWith(bench, { equals: [{ select: ['id'], from: { var: 'ref' } }, '8'] })
    const [all, some] = [
      await bench.open({ documents: things }),
      await bench.open({ documents: things }, secret),
    ]
    taken(all)
    taken(some)
    await bench.query(create({}))
    await bench.query({ create: { ref: things, id: '8' }, params: { object: {} } })
    await settled()
    assert.deepEqual([taken(all).length, taken(some).length], [2, 1])
  }))

test('one database that uses the limit does not keep the streams of another database out', () =>
  withEngine(async ({ open, query }) => {
    await query({ create_database: { object: { name: 'quiet' } } })
    const params = { object: { database: { database: 'quiet' }, role: 'admin' } }
    const { secret } = (await query({ create_key: params })) as { readonly secret: string }
    await query({ create_collection: { object: { name: 'things' } } }, secret)
    const loud = [await open(target), await open(target), await open(target), await open(target)]
    assert.ok((await open(target)).ended, 'the owner with the most streams gets no more')
    const quiet = [await open(target, secret), await open(target, secret)]
    const ends = [...loud, ...quiet].map(({ ended }) => ended)
    assert.deepEqual(ends, [true, true, false, false, false, false])
    for (const stream of [...loud, ...quiet]) stream.close()
  }, 4))

test('streams beyond the limit get an error event; the end of the service ends all streams', () =>
  withEngine(async ({ engine, open }) => {
    const stream = await open(target)
    const second = await open(target)
    assert.equal(second.ended, true)
    assert.deepEqual(taken(second)[0]?.event, {
      code: 'too many requests',
      description: 'Too many open streams.',
    })
    stream.close()
    const third = await open(target)
    taken(third)
    engine.endStreams()
    assert.deepEqual(taken(third)[0]?.event, {
      code: 'time out',
      description: 'Stream was unexpectedly closed by its source.',
    })
    assert.deepEqual(taken(await open(target))[0]?.event, {
      code: 'time out',
      description: 'Subscribing to an already closed stream.',
    })
  }, 1))
