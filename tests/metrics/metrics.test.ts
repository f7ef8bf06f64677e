// The metrics of one process, and their sums over workers.

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import type { ServiceHealth } from '../../src/server/operation/health.ts'
import { eventually } from '../support/eventually.ts'
import { folderOfFile } from '../support/folder.ts'
import { rootQuery, send } from '../support/http.ts'
import { runProgram } from '../support/program.ts'
import { type RunningServer, startServer } from '../support/server.ts'
import { type ServerProcess, startProcess, withoutSlowLane } from '../support/server-process.ts'

const folder = folderOfFile()
const flags = ['--metrics-port', '0']

/** The URL of the metrics in the server's log. */
function metricsUrl(server: RunningServer): string {
  const url = /metrics are at (http:\S+)"/.exec(server.stderr())?.[1]
  assert.ok(url, server.stderr())
  return url
}

/** All values by name and labels. */
async function scrape(server: RunningServer): Promise<Map<string, number>> {
  const response = await fetch(metricsUrl(server))
  assert.equal(response.status, 200)
  assert.match(response.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/)
  const lines = (await response.text()).split('\n').filter(line => line !== '' && !line.startsWith('#'))
  return new Map(
    lines.map(line => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  )
}

for (const workers of [1, 2]) {
  test(`requests to ${workers} worker(s) are counted`, async () => {
    const words = [...flags, '--workers', String(workers), ...withoutSlowLane]
    await using server = await startProcess({ flags: words })
    await rootQuery(server, { create_collection: { object: { name: 'things' } } })
    const before = await scrape(server)
    for (let n = 0; n < 5; n++) await rootQuery(server, { create: { collection: 'things' } })
    for (let n = 0; n < 3; n++) await rootQuery(server, { exists: { collection: 'things' } })
    // A connection per request, so that the workers take turns.
    for (let n = 0; n < 4; n++)
      await send(server, { secret: 'wrong', query: 1, headers: { connection: 'close' } })
    const after = await scrape(server)
    const grown = (name: string) => (after.get(name) ?? 0) - (before.get(name) ?? 0)
    assert.equal(grown('terrarium_requests_total{status="201"}'), 5)
    assert.equal(grown('terrarium_requests_total{status="200"}'), 3)
    assert.equal(grown('terrarium_requests_total{status="401"}'), 4)
    assert.equal(grown('terrarium_transactions_total{kind="write"}'), 5)
    assert.equal(grown('terrarium_transactions_total{kind="read"}'), 3)
    assert.equal(grown('terrarium_ops_total{kind="write"}'), 5)
    assert.equal(grown('terrarium_request_duration_seconds_count'), 12)
    assert.equal(grown('terrarium_request_duration_seconds_bucket{le="+Inf"}'), 12)
    assert.ok(grown('terrarium_request_bytes_total') > 0)
    assert.ok(grown('terrarium_response_bytes_total') > 0)
    assert.equal(after.get('terrarium_requests_in_flight'), 0)
    assert.equal(after.get('terrarium_streams_open'), 0)
    assert.equal(after.get('terrarium_query_log_lost_total'), 0)
    // Only the retries of these requests: during the start, processes may write rows that the first transaction has
    // read.
    assert.equal(grown('terrarium_transaction_retries_total'), 0)
    assert.ok((after.get('process_resident_memory_bytes') ?? 0) > 0)
  })
}

/** Reads the report of Health. */
async function healthOf(server: ServerProcess): Promise<ServiceHealth> {
  const request = { secret: server.rootSecret, method: 'GET', path: '/api/v1/health' }
  const { json, status } = await send(server, request)
  assert.equal(status, 200)
  return json as ServiceHealth
}

test('metrics and Health contain the supervisor, which evaluates the writes of its workers', async () => {
  await using server = await startProcess({ flags: [...flags, '--workers', '2'] })
  await rootQuery(server, { create_collection: { object: { name: 'things' } } })
  const before = await scrape(server)
  for (let n = 0; n < 5; n++) await rootQuery(server, { create: { collection: 'things' } })
  for (let n = 0; n < 3; n++) await rootQuery(server, { exists: { collection: 'things' } })
  const after = await scrape(server)
  const value = (name: string) => after.get(`terrarium_supervisor_${name}`) ?? Number.NaN
  const operations = value('operations_total')
  assert.ok(operations >= (before.get('terrarium_supervisor_operations_total') ?? Number.NaN) + 5)
  assert.equal(value('operations_in_flight'), 0)
  assert.ok(value('slow_lane_processes') >= 0)
  assert.equal(value('slow_lane_running'), 0)
  assert.equal(value('slow_lane_waiting'), 0)
  assert.ok(value('process_resident_memory_bytes') > 0)
  assert.ok(value('process_cpu_seconds_total') > 0)
  assert.ok(value('nodejs_eventloop_lag_p99_seconds') >= 0)
  await eventually('Health contains the supervisor', async () => {
    const { processes, workers } = await healthOf(server)
    const supervisor = processes.find(({ pid }) => pid === server.pid)
    if (supervisor === undefined) return false
    assert.equal(workers, 2)
    assert.ok((supervisor.forwarded?.operations ?? 0) >= operations)
    assert.equal(supervisor.counts.requests, 0)
    assert.ok(supervisor.memory_bytes > 0 && supervisor.slow_lane && supervisor.commit_log)
    assert.ok(supervisor.works_in_background)
    const others = processes.filter(({ pid }) => pid !== server.pid)
    assert.ok(others.every(({ forwarded, works_in_background: works }) => forwarded === null && !works))
    return true
  })
})

for (const workers of [1, 2]) {
  test(`metrics and Health of ${workers} worker(s) contain the state of the continuous backup`, async () => {
    const target = join(folder, `backup of ${workers}`)
    const words = [...flags, '--workers', String(workers), '--backup-to', target, ...withoutSlowLane]
    await using server = await startProcess({ flags: words })
    await rootQuery(server, { create_collection: { object: { name: 'things' } } })
    await eventually('the backup has the commit', async () => {
      const metrics = await scrape(server)
      const value = (name: string) => metrics.get(`terrarium_backup_${name}`) ?? 0
      return (
        value('failing') === 0 &&
        value('waiting_bytes') === 0 &&
        value('oldest_restorable_timestamp_seconds') > 0 &&
        value('newest_restorable_timestamp_seconds') >= value('oldest_restorable_timestamp_seconds')
      )
    })
    const { continuous_backup: backup } = await healthOf(server)
    assert.equal(backup?.target, target)
    assert.equal(backup.state, 'running')
  })
}

test('open streams are counted while they are open', async () => {
  await using server = await startServer({ flags })
  await rootQuery(server, { create_collection: { object: { name: 'things' } } })
  const stop = new AbortController()
  const stream = await fetch(`${server.url}/stream`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.rootSecret}`, 'x-faunadb-api-version': '4' },
    body: JSON.stringify({ documents: { collection: 'things' } }),
    signal: stop.signal,
  })
  assert.equal(stream.status, 200)
  assert.equal((await scrape(server)).get('terrarium_streams_open'), 1)
  stop.abort()
  await eventually('no stream is open', async () => {
    return (await scrape(server)).get('terrarium_streams_open') === 0
  })
})

test('the metrics port only serves GET /metrics, and the public port has no metrics', async () => {
  await using server = await startServer({ flags })
  const url = metricsUrl(server)
  // The connection outlives the interval between two reads of a collector.
  assert.equal((await fetch(url)).headers.get('keep-alive'), 'timeout=75')
  assert.equal((await fetch(url, { method: 'HEAD' })).status, 200)
  assert.equal((await fetch(url, { method: 'POST' })).status, 405)
  assert.equal((await fetch(new URL('/', url))).status, 404)
  assert.equal((await fetch(`${server.url}/metrics`)).status, 404)
})

test('a port in use is reported in one line', async () => {
  await using other = createServer()
  await new Promise<void>(resolve => other.listen(0, '127.0.0.1', resolve))
  const { port } = other.address() as AddressInfo
  for (const workers of ['1', '2']) {
    const words = ['serve', '--port', '0', '--data', folder, '--metrics-port', String(port)]
    const { status, stderr } = await runProgram([...words, '--workers', workers, '--log-level', 'error'])
    assert.equal(status, 1)
    assert.equal(stderr, `terrarium: cannot serve metrics on 127.0.0.1:${port}: it is already in use\n`)
  }
})
