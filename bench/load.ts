// The load process. The closed loop keeps a number of requests running. The open loop sends requests at a fixed rate,
// whether or not earlier ones have been answered; the time that a request waits for a free connection counts. It
// reports throughput and latency, and shares only the machine with the server.
//
// It reads a plan from standard input and writes a result to standard output, both as JSON (`bench/measure.ts`).

import { text } from 'node:stream/consumers'
import { http1Client, http2Client, type LoadClient } from './load-clients.ts'
import type { LoadPlan, LoadResult } from './measure.ts'
import { processorSeconds } from './processor-time.ts'

/** Latencies are counted by the microsecond up to this value; longer ones count as this value. */
const latencyMaxMicros = 10_000_000

/** HTTP/2 connections for the requests. */
const sessions = 4

const plan: LoadPlan = JSON.parse(await text(process.stdin))
const latencies = new Uint32Array(latencyMaxMicros + 1)
let recording = false
let stopped = false
let failures = 0
let firstFailure: string | undefined
let next = 0

function openClients(): readonly LoadClient[] {
  const { port, requests, connections } = plan
  if (plan.protocol !== 'h2') {
    return Array.from({ length: connections }, () => http1Client(port, requests))
  }
  const lanes = Math.ceil(connections / sessions)
  return Array.from({ length: sessions }, () => http2Client(port, requests, lanes))
}

/** `fromMs`: when the request was due. */
function send(client: LoadClient, fromMs: number, then: () => void): void {
  client.send(next++ % plan.requests.length, failure => {
    if (failure !== undefined) {
      failures += 1
      firstFailure ??= failure
    } else if (recording) {
      const micros = Math.round((performance.now() - fromMs) * 1000)
      const slot = Math.min(micros, latencyMaxMicros)
      latencies[slot] = (latencies[slot] as number) + 1
    }
    then()
  })
}

/** Sends one request after the other on each lane. */
function driveClosed(client: LoadClient): void {
  const again = () => {
    if (!stopped) send(client, performance.now(), again)
  }
  for (let lane = 0; lane < client.lanes; lane++) again()
}

/** Sends a fixed number of requests per second, each on a free lane. */
function driveOpen(clients: readonly LoadClient[], perSecond: number): void {
  const free = clients.flatMap(client => Array.from({ length: client.lanes }, () => client))
  const startMs = performance.now()
  let sent = 0
  const sendDue = () => {
    const due = Math.floor(((performance.now() - startMs) * perSecond) / 1000)
    while (sent < due && free.length > 0) {
      // The lane that has been idle longest comes first, so that no connection is closed because it is idle.
      const client = free.shift() as LoadClient
      // The n-th request is due after n intervals.
      send(client, startMs + (++sent * 1000) / perSecond, () => {
        free.push(client)
        if (!stopped) sendDue()
      })
    }
  }
  const tick = setInterval(() => (stopped ? clearInterval(tick) : sendDue()), 1)
}

function percentileMicros(count: number, share: number): number {
  let left = Math.ceil(count * share)
  for (let micros = 0; micros <= latencyMaxMicros; micros++) {
    left -= latencies[micros] as number
    if (left <= 0) return micros
  }
  return latencyMaxMicros
}

const pause = (seconds: number) => new Promise(resolve => setTimeout(resolve, seconds * 1000))

const clients = openClients()
const ended = Promise.all(clients.map(client => client.ended))
if (plan.ratePerSecond === undefined) for (const client of clients) driveClosed(client)
else driveOpen(clients, plan.ratePerSecond)
await Promise.race([pause(plan.warmupSeconds), ended])
recording = true
const from = performance.now()
const cpuBefore = process.cpuUsage()
const serverBefore = processorSeconds(plan.pids ?? [])
await Promise.race([pause(plan.seconds), ended])
recording = false
const seconds = (performance.now() - from) / 1000
const cpu = process.cpuUsage(cpuBefore)
const serverCores = (processorSeconds(plan.pids ?? []) - serverBefore) / seconds
stopped = true
for (const client of clients) client.close()
await ended

const count = latencies.reduce((sum, found) => sum + found, 0)
const result: LoadResult = {
  requestsPerSecond: count / seconds,
  p50Micros: percentileMicros(count, 0.5),
  p95Micros: percentileMicros(count, 0.95),
  p99Micros: percentileMicros(count, 0.99),
  maxMicros: percentileMicros(count, 1),
  cores: (cpu.user + cpu.system) / 1e6 / seconds,
  serverCores,
  failures,
  firstFailure,
}
process.stdout.write(JSON.stringify(result))
