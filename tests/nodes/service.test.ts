// An operator's and a client's view of nodes apart from the data: how they start, count and work together. The file
// takes more than 20 seconds, because most of its tests start nodes of their own.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { Client } from 'pg'
import {
  api,
  aroundNow,
  download,
  exported,
  finished,
  type LogRecord,
  requestExport,
} from '../query-log/log-client.ts'
import { requestStream, StreamReader } from '../streams/stream-client.ts'
import { eventually } from '../support/eventually.ts'
import { keyOfNewDatabase, query, runText, send } from '../support/http.ts'
import { assertOnlyGuesserWaits } from '../support/passwords.ts'
import { outputOf, temporaryFolder } from '../support/program.ts'
import { describeNodes, type Node, sendUntilServed, type TwoNodes } from './cluster.ts'

const flagsOfA = ['--compute-ops-per-second', '1000', '--password-cost', '6']
const flagsOfB = [...flagsOfA, '--metrics-port', '0', '--slow-lane-after-ms', '5']

/** The times of a document's changes after `after` up to `upTo`, from its history. */
async function eventTimes(node: Node, secret: string, ref: unknown, after: number, upTo: number) {
  const page = { paginate: { events: ref }, after: { object: { ts: after + 1 } }, size: 10_000 }
  const { data } = (await query(node, secret, page)) as { data: { ts: number }[] }
  return data.map(({ ts }) => ts).filter(ts => ts <= upTo)
}

/**
 * Exceeds the limit of a database on the first node until the other node rejects its queries. The debt lasts some
 * seconds, which may be less than a busy machine needs for the notice.
 */
async function useUp({ a, b }: TwoNodes, secret: string): Promise<void> {
  const sum = { add: [{ var: 'n' }, 1] }
  const burst = { map: { lambda: 'n', expr: sum }, collection: Array.from({ length: 100_000 }, () => 0) }
  await eventually('the other node rejects the query', async () => {
    const { status, text } = await send(a, { secret, query: burst })
    assert.ok(status === 200 || status === 429, text)
    return (await send(b, { secret, query: 1 })).status === 429
  })
}

/**
 * Requests exports from a node until one is complete. An export fails after five attempts. On a busy machine, an attempt
 * may end because the process cannot renew its lease in time.
 */
async function exportOnce(node: Node, secret: string, all: readonly Node[]) {
  const ids: string[] = []
  for (;;) {
    const token = { region_group: 'us-std', idempotency_token: randomUUID() }
    const { request_id: id } = await requestExport(node, secret, token)
    ids.push(id as string)
    const { presigned_url: url, state } = await finished(all[0] as Node, secret, id)
    if (state === 'Complete') return { ids, token, url: url as string }
    const logs = all.map(({ stderr }) => stderr()).join('')
    assert.match(logs, new RegExp(`given up after 5 attempts.*${id} failed`), `${state}`)
  }
}

/** Tests how a node starts. */
function testStart(nodes: TwoNodes): void {
  for (const workers of ['1', '2']) {
    test(`a new node that copies the store responds with 503 and its progress, with ${workers} workers`, async () => {
      const lock = new Client({ connectionString: nodes.postgres.url() })
      await lock.connect()
      // The lock prevents all copies of the state.
      await lock.query('BEGIN')
      await lock.query(`LOCK TABLE "${nodes.cluster.schema}".kv IN ACCESS EXCLUSIVE MODE`)
      let url: string | undefined
      const starting = nodes.cluster.start({
        flags: ['--workers', workers, '--store-hold-ms', '600000'],
        onStderr: text => {
          url ??= /(http:\/\/\S+)\/ping shows/.exec(text)?.[1]
        },
      })
      await eventually('it says where it will serve', () => url !== undefined)
      const early = { url: url as string }
      for (const path of ['/ping', '/ping?scope=node', '/']) {
        const { status, text, headers } = await send(early, { method: 'GET', path })
        assert.equal(status, 503, text)
        assert.match(text, /The service is starting: the node is (catching up|copying)/)
        assert.equal(headers.get('retry-after'), '1')
      }
      await lock.query('ROLLBACK')
      await lock.end()
      const node = await starting
      assert.equal(node.url, url)
      assert.equal((await send(node, { method: 'GET', path: '/ping?timeout=60000' })).status, 200)
      assert.match(node.stderr(), /copying the state of the store/)
      await nodes.cluster.stop(node)
    })
  }
}

/** Tests that a node can start without a copy of the store. */
function testMove(nodes: TwoNodes): void {
  test('a new node continues from the replica of a stopped node', async () => {
    const stopped = await nodes.cluster.start({ flags: ['--workers', '2', '--store-hold-ms', '600000'] })
    await nodes.cluster.stop(stopped)
    await nodes.cluster.write(nodes.a)
    const data = await temporaryFolder()
    await cp(join(stopped.data, 'replica'), join(data, 'replica'), { recursive: true })
    assert.ok(existsSync(join(data, 'replica', 'flushed')))
    const node = await nodes.cluster.start({ data })
    assert.doesNotMatch(node.stderr(), /copying the state of the store/)
    assert.ok(!existsSync(join(data, 'replica', 'flushed')))
    await nodes.cluster.verify(nodes.a, node)
    await nodes.cluster.stop(node)
  })
}

/** Tests counts over all nodes. */
function testCounts(nodes: TwoNodes): void {
  test('the limits of a database count over all nodes', async () => {
    const secret = await keyOfNewDatabase(nodes.a, 'greedy', 'admin')
    await useUp(nodes, secret)
    assert.equal(await nodes.cluster.write(nodes.b), 'acknowledged')
  })

  test('wrong passwords on one node slow down only the guesser on the other', async () => {
    const { secret } = nodes.cluster
    const params = { object: { credentials: { object: { password: 'right' } } } }
    const [user, stranger] = ['7', '8'].map(id => ({ ref: { collection: 'counters' }, id }))
    const { ts } = (await query(nodes.a, secret, { create: user, params })) as { ts: number }
    const key = { create_key: { object: { role: 'admin' } } }
    const { secret: another } = (await query(nodes.a, secret, key)) as { secret: string }
    const headers = { 'x-last-seen-txn': String(ts) }
    const identify = (node: Node, by: string, password: string, whom = user) =>
      sendUntilServed(node, { secret: by, query: { identify: whom, password }, headers })
    const guesses = Array.from({ length: 7 }, () => identify(nodes.a, secret, 'wrong'))
    for (const { status, text } of await Promise.all(guesses)) {
      assert.equal(status, 200, text)
      assert.equal(JSON.parse(text).resource, false)
    }
    // Notices of a process arrive in order, so a node that knows of the debt also knows of the guesses.
    const debtor = await keyOfNewDatabase(nodes.a, 'debtor', 'admin')
    await useUp(nodes, debtor)
    // After these checks, everything that the first check creates exists.
    await Promise.all([secret, another].map(by => identify(nodes.b, by, 'wrong', stranger)))
    await assertOnlyGuesserWaits(
      () => identify(nodes.b, secret, 'wrong'),
      async () => assert.equal(JSON.parse((await identify(nodes.b, another, 'right')).text).resource, true),
    )
  })
}

/** Tests the common query log of all nodes. */
function testQueryLog(nodes: TwoNodes): void {
  test('an export from one node contains the requests of all nodes, and its URL works on all', async () => {
    const made = await api(nodes.a, nodes.a.rootSecret, 'POST', '/api/v1/account-keys', { name: 'pipeline' })
    const secret = made.json.secret as string
    const marks = ['on_a', 'on_b', 'on_c']
    const c = await nodes.cluster.start({ flags: ['--workers', '2'] })
    for (const [at, node] of [nodes.a, nodes.b, c].entries())
      for (let count = 0; count < 4; count++) {
        const headers = { 'x-fauna-tags': `mark=${marks[at]}`, connection: 'close' }
        assert.equal((await send(node, { secret: nodes.cluster.secret, query: 1, headers })).status, 200)
      }
    const tagsOf = (records: readonly LogRecord[]) =>
      records.map(record => (record.TAGS as { mark?: string }).mark).filter(mark => mark !== undefined)
    const expected = marks.flatMap(mark => [mark, mark, mark, mark])
    const { ids, token, url } = await exportOnce(nodes.b, secret, [nodes.a, nodes.b, c])
    for (const node of [nodes.a, nodes.b, c]) {
      const { pathname, search } = new URL(url)
      assert.deepEqual(tagsOf(await download(node.url + pathname + search)).toSorted(), expected)
    }
    const again = await requestExport(c, secret, token)
    assert.equal(again.request_id, ids.at(-1), 'a token is valid on all nodes')
    const listed = await api(c, secret, 'POST', '/api/v1/logs/_list?type=query&regionGroup=us-std')
    const results = listed.json.results as { request_id: string }[]
    assert.deepEqual(results.map(found => found.request_id).toSorted(), ids.toSorted())
    const search = { ...aroundNow(), region_group: 'us-std', text: 'on_' }
    const { json } = await api(c, secret, 'POST', '/api/v1/logs/_records?type=query', search)
    assert.deepEqual(tagsOf(json.records as LogRecord[]).toSorted(), expected)
    await nodes.cluster.stop(c)
    const later = await exported(nodes.b, secret, { region_group: 'us-std' })
    assert.deepEqual(tagsOf(later).toSorted(), expected, 'the records of a stopped node are kept')
    const words = ['account-key', 'list', '--data', nodes.a.data, '--store-schema', nodes.cluster.schema]
    assert.match(await outputOf(words, { TERRARIUM_STORE: nodes.postgres.url() }), /pipeline/)
  })
}

function testSlowLane(nodes: TwoNodes): void {
  test('the writes of a query in the slow lane reach all nodes, and metrics name the node', async () => {
    const elements = Array.from({ length: 3_000 }, (_, n) => n)
    const name = { repeat: { to_string: { var: 'n' } }, number: 200 }
    const slow = {
      do: [
        { foreach: { lambda: 'n', expr: { lowercase: name } }, collection: elements },
        { create: { collection: 'counters' }, params: { object: { data: { object: { n: 'slow' } } } } },
      ],
    }
    const metrics = /metrics are at (http:[^\s"]+)/.exec(nodes.b.stderr())?.[1] as string
    const sampleOf = async (metric: string) => {
      const text = await (await fetch(metrics)).text()
      const [, node, value] =
        new RegExp(`^terrarium_${metric}\\{node="([^"]+)"\\} (\\S+)$`, 'm').exec(text) ?? []
      assert.ok(node?.endsWith(`:${new URL(nodes.b.url).port}`) || node?.endsWith(':0'), text.slice(0, 500))
      return Number(value)
    }
    const before = await sampleOf('slow_lane_queries_total')
    const commits = await sampleOf('slow_lane_commits_total')
    const made = await send(nodes.b, { secret: nodes.cluster.secret, query: slow })
    assert.equal(made.status, 201, made.text)
    assert.ok((await sampleOf('slow_lane_queries_total')) > before)
    const { ref, ts } = (made.json as { resource: { ref: unknown; ts: number } }).resource
    const headers = { 'x-last-seen-txn': String(ts) }
    const read = { secret: nodes.cluster.secret, query: { get: ref }, headers }
    assert.equal((await sendUntilServed(nodes.a, read)).status, 200)
    const create = { create: { collection: 'counters' }, params: { object: {} } }
    const many = { count: { map: { lambda: '_', expr: create }, collection: elements } }
    const large = await send(nodes.b, { secret: nodes.cluster.secret, query: many })
    assert.equal(large.status, 200, large.text)
    assert.equal(await sampleOf('slow_lane_commits_total'), commits + 2)
    const count = { count: { documents: { collection: 'counters' } } }
    const seen = { 'x-last-seen-txn': String(large.headers.get('x-txn-time')) }
    const request = { secret: nodes.cluster.secret, query: count, headers: seen }
    const counts = await Promise.all([nodes.a, nodes.b].map(node => sendUntilServed(node, request)))
    const [there, here] = counts.map(({ json }) => (json as { resource: number }).resource)
    assert.ok(Number(there) > elements.length && there === here, `${there} and ${here}`)
    const lag = await sampleOf('store_lag_seconds')
    assert.ok(lag >= 0 && lag < 60, String(lag))
    await eventually('the store is there', async () => (await sampleOf('store_away')) === 0)
  })
}

/** Tests what continues after a node is killed. */
function testDeaths(nodes: TwoNodes): void {
  test('a client continues a stream of a killed node: no event is lost or repeated', async () => {
    const { secret } = nodes.cluster
    const made = await query(nodes.a, secret, { create: { collection: 'counters' }, params: { object: {} } })
    const { ref, ts } = made as { ref: unknown; ts: number }
    const written: number[] = []
    let isOver = false
    const writing = (async () => {
      for (let n = 1; !isOver; n++) {
        const update = { update: ref, params: { object: { data: { object: { n } } } } }
        written.push(((await query(nodes.a, secret, update)) as { ts: number }).ts)
        // Fewer writes than the limit of a database per second (`flagsOfA`).
        await setTimeout(30)
      }
    })()
    const seen: number[] = []
    const follow = async (reader: StreamReader, count: number) => {
      for (let event = await reader.read(); event !== undefined; event = await reader.read()) {
        if (event.type === 'version') seen.push(event.txn)
        if (seen.length >= count) break
      }
    }
    try {
      const first = await requestStream(nodes.b, secret, ref, { seen: ts })
      const reader = new StreamReader(first.response, first.abort)
      const begin = await reader.next()
      assert.equal(begin.type, 'start')
      seen.push(...(await eventTimes(nodes.a, secret, ref, ts, begin.txn)))
      await follow(reader, seen.length + 5)
      await nodes.cluster.kill(nodes.b)
      await follow(reader, Number.POSITIVE_INFINITY).catch(() => undefined)
      const last = seen.at(-1) as number
      await eventually('more is written', () => (written.at(-1) ?? 0) > last)
      nodes.b = await nodes.cluster.start({ data: nodes.b.data, flags: flagsOfB })
      const second = await requestStream(nodes.b, secret, ref, { seen: last })
      const again = new StreamReader(second.response, second.abort)
      const start = await again.next()
      assert.ok(start.txn >= last, 'the stream begins at the last seen time, or later')
      // The missed events are in the history up to the time at which the stream begins.
      seen.push(...(await eventTimes(nodes.b, secret, ref, last, start.txn)))
      await follow(again, seen.length + 5)
      again.close()
    } finally {
      isOver = true
      await writing
    }
    assert.deepEqual(seen, written.slice(0, seen.length))
  })

  test('background work moves to another node when its node is killed', async () => {
    const add = { create: { collection: 'counters' } }
    const many = { map: { lambda: 'n', expr: add }, collection: Array.from({ length: 300 }, () => 0) }
    await query(nodes.a, nodes.cluster.secret, many)
    const lease = `"${nodes.cluster.schema}".lease`
    const current = `SELECT holder FROM ${lease} WHERE name = 'background' AND until > now()`
    const holds = (node: Node, [row]: readonly Record<string, unknown>[]) =>
      String(row?.holder).includes(`-${node.pid}-`)
    const lock = new Client({ connectionString: nodes.postgres.url() })
    await lock.connect()
    // The lease of a node that was killed before may not have ended yet.
    let found: readonly Record<string, unknown>[] = []
    await eventually('one of the nodes holds the lease', async () => {
      await lock.query('BEGIN')
      found = (await lock.query(`${current} FOR UPDATE`)).rows
      if (holds(nodes.a, found) || holds(nodes.b, found)) return true
      await lock.query('ROLLBACK')
      return false
    })
    const [dying, left] = holds(nodes.a, found) ? [nodes.a, nodes.b] : [nodes.b, nodes.a]
    await nodes.cluster.kill(dying)
    // The lease of the killed node lasts until the test ends it.
    const kept = `SET holder = 'a killed node', until = now() + interval '1 hour'`
    await lock.query(`UPDATE ${lease} ${kept} WHERE name = 'background'`)
    await lock.query('COMMIT')
    await lock.end()
    const index = { name: 'all_counters', source: { collection: 'counters' } }
    await query(left, nodes.cluster.secret, { create_index: { object: index } })
    const active = { select: 'active', from: { get: { index: 'all_counters' } } }
    const isBuilt = async () => (await query(left, nodes.cluster.secret, active)) === true
    assert.equal(await isBuilt(), false)
    await nodes.postgres.query(`UPDATE ${lease} SET until = now() WHERE name = 'background'`)
    await eventually('the index is built', isBuilt)
    // The lease of a stalled node ends, and the node takes it again.
    await eventually('the node has the lease', async () => holds(left, await nodes.postgres.query(current)))
    const count = 'Count(Match(Index("all_counters")))'
    const documents = 'Count(Documents(Collection("counters")))'
    const isSame = `Equals(${count}, ${documents})`
    assert.equal(await runText(left, nodes.cluster.secret, isSame), true)
    await nodes.cluster.check(left.data)
    const again = await nodes.cluster.start({ data: dying.data })
    if (dying === nodes.a) nodes.a = again
    else nodes.b = again
  })
}

describeNodes(
  'nodes as a service',
  nodes => {
    testStart(nodes)
    testMove(nodes)
    testCounts(nodes)
    testQueryLog(nodes)
    testSlowLane(nodes)
    testDeaths(nodes)
  },
  { a: { flags: flagsOfA }, b: { flags: flagsOfB } },
)
