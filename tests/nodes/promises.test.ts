// For an application, two nodes are one database. Their clocks are minutes apart, and one of them has two workers.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import faunadb from 'faunadb'
import { eventually } from '../support/eventually.ts'
import { send } from '../support/http.ts'
import { patience } from '../support/patience.ts'
import { describeNodes, type Node, sendUntilServed, type TwoNodes } from './cluster.ts'

const { query: q } = faunadb
const minutesMs = 60_000

/** A driver for one node, as an application creates it. */
function clientOf(node: Node, secret: string): faunadb.Client {
  const { hostname, port } = new URL(node.url)
  const timeout = patience(30_000) / 1000
  return new faunadb.Client({ secret, domain: hostname, port: Number(port), scheme: 'http', timeout })
}

/** Passes the last seen time of another client to a client. The driver's types lack the method. */
function haveSeen(client: faunadb.Client, time: number): void {
  ;(client as unknown as { syncLastTxnTime(time: number): void }).syncLastTxnTime(time)
}

interface CreatedDocument {
  readonly ref: faunadb.values.Ref
  readonly ts: number
  readonly secret: string
}

let onA: faunadb.Client
let onB: faunadb.Client

/** Tests that writes on one node are seen on the other, in order. */
function testReads(nodes: TwoNodes): void {
  test('a client that sends the last seen time reads its writes on the other node, whatever the clocks', async () => {
    for (let n = 0; n < 20; n++) {
      const [writer, reader] = n % 2 === 0 ? [onA, onB] : [onB, onA]
      const made = await writer.query<CreatedDocument>(q.Create(q.Collection('counters'), { data: { n } }))
      haveSeen(reader, made.ts)
      const seen = await reader.query<CreatedDocument>(q.Get(made.ref))
      assert.equal(seen.ts, made.ts)
    }
  })

  test('/linearized sees all acknowledged writes, without a last seen time', async () => {
    for (let n = 1; n <= 10; n++) {
      const before = await nodes.cluster.count(nodes.b)
      assert.equal(await nodes.cluster.write(nodes.a), 'acknowledged')
      assert.equal(await nodes.cluster.count(nodes.b), before + 1)
    }
  })

  test('the current time and transaction times never go back, within and between nodes', async () => {
    let seen = 0
    for (let n = 0; n < 20; n++) {
      const node = n % 2 === 0 ? nodes.a : nodes.b
      const now = { to_micros: { now: null } }
      const headers = { 'x-last-seen-txn': String(seen) }
      const request = { secret: nodes.cluster.secret, query: now, headers }
      const { status, json, text } = await sendUntilServed(node, request)
      assert.equal(status, 200, text)
      const { resource } = json as { resource: number }
      assert.ok(resource >= seen, `${resource} is before ${seen}`)
      // The clock of the node differs by seven minutes.
      assert.ok(Math.abs(resource / 1000 - Date.now()) < 3 * minutesMs, "the node's own clock counts")
      seen = resource
    }
  })

  test('reads are later than the last seen time of their client, in both languages, during writes', async () => {
    const { cluster, a, b } = nodes
    let isReading = true
    const writing = [a, b].map(node => cluster.load(node, 2, () => !isReading))
    let seen = 0
    for (let n = 0; n < 120; n++) {
      const node = n % 3 === 0 ? a : b
      const is4 = n % 2 === 0
      const headers = { [is4 ? 'x-last-seen-txn' : 'x-last-txn-ts']: `${seen}` }
      const request = is4 ? { query: 1 } : { path: '/query/1', body: '{"query":"1"}' }
      const answer = await sendUntilServed(node, { secret: cluster.secret, headers, ...request })
      const read = is4 ? Number(answer.headers.get('x-txn-time')) : (answer.json as { txn_ts: number }).txn_ts
      assert.ok(read > seen, `read ${n} is at ${read}, and its client has seen ${seen}`)
      seen = read
    }
    isReading = false
    await Promise.all(writing)
  })

  test('reads of a node with two workers do not go back', async () => {
    const { cluster, b } = nodes
    let isReading = true
    const writing = cluster.load(nodes.a, 1, () => !isReading)
    let newest = 0
    for (let n = 0; n < 120; n++) {
      // A connection per request, so that the workers take turns.
      const request = { secret: cluster.secret, query: 1, headers: { connection: 'close' } }
      const { headers } = await send(b, request)
      const time = Number(headers.get('x-txn-time'))
      assert.ok(time >= newest, `read ${n} went back by ${newest - time}`)
      newest = time
    }
    isReading = false
    await writing
  })

  test('a stream on one node delivers the writes of the other, without gaps or duplicates', async () => {
    const made = await onA.query<CreatedDocument>(q.Create(q.Collection('counters'), { data: { n: 0 } }))
    haveSeen(onB, made.ts)
    const seen: number[] = []
    const started = Promise.withResolvers<void>()
    const stream = onB.stream(made.ref)
    stream.on('start', () => started.resolve())
    stream.on('version', event => {
      seen.push((event as { document: { data: { n: number } } }).document.data.n)
    })
    stream.on('error', error => started.reject(error))
    stream.start()
    await started.promise
    for (let n = 1; n <= 30; n++) {
      const writer = n % 3 === 0 ? onB : onA
      await writer.query(q.Update(made.ref, { data: { n } }))
    }
    await eventually('all events have come', () => seen.length >= 30)
    assert.deepEqual(
      seen,
      Array.from({ length: 30 }, (_, at) => at + 1),
    )
    stream.close()
  })
}

/** Tests that rules of one node hold on the other. */
function testRules(nodes: TwoNodes): void {
  test('a unique index holds across nodes', async () => {
    const create = (client: faunadb.Client) =>
      client.query(q.Create(q.Collection('operations'), { data: { name: 'the only one' } })).then(
        () => 'made',
        error => (error as { requestResult?: { statusCode?: number } }).requestResult?.statusCode,
      )
    const results = await Promise.all([onA, onB, onA, onB].map(create))
    assert.deepEqual(results.toSorted(), [400, 400, 400, 'made'])
    await onA.query(
      q.Map(q.Paginate(q.Match(q.Index('by_name'), 'the only one')), q.Lambda('r', q.Delete(q.Var('r')))),
    )
  })

  test('a new secret works on the other node, a revoked one does not', async () => {
    const key = await onA.query<CreatedDocument>(q.CreateKey({ role: 'server' }))
    const headers = { 'x-last-seen-txn': String(key.ts) }
    const ask = () => sendUntilServed(nodes.b, { secret: key.secret, query: 1, headers })
    assert.equal((await ask()).status, 200)
    await onA.query(q.Delete(key.ref))
    await eventually('the revoked secret is rejected', async () => (await ask()).status === 401)
  })

  test('a change of a role on one node takes effect on the other', async () => {
    const privilegesOf = (read: boolean) => [{ resource: q.Collection('counters'), actions: { read } }]
    await onA.query(q.CreateRole({ name: 'reader', privileges: privilegesOf(true) }))
    const key = await onA.query<CreatedDocument>(q.CreateKey({ role: q.Role('reader') }))
    const get = { get: { ref: { collection: 'counters' }, id: '1' } }
    const ask = (ts: number) => {
      const headers = { 'x-last-seen-txn': String(ts) }
      return sendUntilServed(nodes.b, { secret: key.secret, query: get, headers })
    }
    assert.equal((await ask(key.ts)).status, 200)
    const update = q.Update(q.Role('reader'), { privileges: privilegesOf(false) })
    const changed = await onA.query<CreatedDocument>(update)
    assert.equal((await ask(changed.ts)).status, 403)
  })
}

/** Tests the record behind both nodes. */
function testRecord(nodes: TwoNodes): void {
  test('metrics and logs name no password; /ping commits', async () => {
    const before = await nodes.postgres.query(`SELECT max(seq) AS seq FROM "${nodes.cluster.schema}".log`)
    const ping = await send(nodes.a, { method: 'GET', path: '/ping?scope=write&timeout=60000' })
    assert.equal(ping.status, 200)
    const behind = await nodes.postgres.query(`SELECT max(seq) AS seq FROM "${nodes.cluster.schema}".log`)
    assert.ok(Number(behind[0]?.seq) > Number(before[0]?.seq))
    assert.doesNotMatch(nodes.a.stderr() + nodes.b.stderr(), /postgres:\/\//)
  })

  test('a replica that contradicts the record is rebuilt while workers run', async () => {
    await nodes.cluster.write(nodes.a)
    const isNoted = () => nodes.b.stderr().includes('the record has another history')
    /** Workers exit when their replica is invalid, and requests at that time get no response. */
    const holdsAll = async () => {
      const request = { secret: nodes.cluster.secret, query: 1, path: '/linearized' }
      return (await send(nodes.b, request).catch(() => undefined))?.status === 200
    }
    // Simulates a promoted server that ranOutOfMemory the last batch and has written others since. Repeated if the
    // service has written a batch in between, because the node would then fetch that batch with its new name.
    for (let past = 0; !isNoted(); past++) {
      await eventually('the replica contains the whole record', async () => isNoted() || (await holdsAll()))
      await nodes.postgres.query(
        `UPDATE "${nodes.cluster.schema}".log SET batch = 'of past ${past}' WHERE seq = (SELECT max(seq) FROM "${nodes.cluster.schema}".log)`,
      )
      nodes.b.proxy.cut()
      await eventually('the record is looked at', async () => isNoted() || (await holdsAll()))
    }
    await nodes.cluster.untilAcknowledged(nodes.b)
    await nodes.cluster.check(nodes.b.data)
  })
}

const clockAhead = (ms: number) => ({
  preload: '../support/set-clock.ts',
  env: { CLOCK_AHEAD_MS: `${ms}` },
})

describeNodes(
  'two nodes are one database',
  nodes => {
    before(() => {
      onA = clientOf(nodes.a, nodes.cluster.secret)
      onB = clientOf(nodes.b, nodes.cluster.secret)
    })
    after(() => Promise.all([onA.close(), onB.close()]))

    testReads(nodes)
    testRules(nodes)
    testRecord(nodes)
  },
  { a: clockAhead(7 * minutesMs), b: { ...clockAhead(-7 * minutesMs), flags: ['--workers', '2'] } },
)
