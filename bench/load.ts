// The load process: keeps a number of HTTP/1.1 connections busy over raw sockets, one request at a time on each, and
// reports throughput and latency. A process of its own, so that it shares nothing with the server but the machine.
//
// It reads a plan from standard input and writes a result to standard output, both as JSON (`bench/measure.ts`).

import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import type { LoadPlan, LoadResult } from './measure.ts'

/** Latencies are counted by the microsecond up to here; slower ones count as this. */
const latencyMaxMicros = 1_000_000

const plan: LoadPlan = JSON.parse(await text(process.stdin))
const requests = plan.requests.map(request => Buffer.from(request))
const latencies = new Uint32Array(latencyMaxMicros + 1)
let recording = false
let stopped = false
let failures = 0
let firstFailure: string | undefined

/** The bytes of the whole response at the start of `data`, or 0 while it is not complete. */
function responseLength(data: Buffer): number {
  const headEnd = data.indexOf('\r\n\r\n')
  if (headEnd < 0) return 0
  const length = /\r\ncontent-length: *(\d+)/i.exec(data.toString('latin1', 0, headEnd))?.[1]
  if (length === undefined) throw new Error(`a response without content-length: ${data.toString()}`)
  const whole = headEnd + 4 + Number(length)
  return data.length < whole ? 0 : whole
}

/** Sends requests one after the other, from `first` on in the plan's order, until the time is over. */
function drive(socket: Socket, first: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let next = first
    let sentAt = 0
    let received: Buffer | undefined
    const send = () => {
      sentAt = performance.now()
      socket.write(requests[next++ % requests.length] as Buffer)
    }
    socket.on('data', (chunk: Buffer) => {
      const data = received ? Buffer.concat([received, chunk]) : chunk
      if (responseLength(data) === 0) {
        received = data
        return
      }
      received = undefined
      // Status codes of 200 and 201 begin at the tenth byte with "20".
      if (data[9] !== 0x32 || data[10] !== 0x30) {
        failures += 1
        firstFailure ??= data.toString()
      } else if (recording) {
        const micros = Math.round((performance.now() - sentAt) * 1000)
        const slot = Math.min(micros, latencyMaxMicros)
        latencies[slot] = (latencies[slot] as number) + 1
      }
      if (!stopped) return send()
      socket.end()
      resolve()
    })
    socket.on('error', reject)
    socket.on('close', () => (stopped ? resolve() : reject(new Error('the server closed a connection'))))
    send()
  })
}

function percentileMicros(count: number, share: number): number {
  let left = Math.ceil(count * share)
  for (let micros = 0; micros <= latencyMaxMicros; micros++) {
    left -= latencies[micros] as number
    if (left <= 0) return micros
  }
  return latencyMaxMicros
}

/** Seconds of processor time that the server has used; one tick of /proc is 10 ms on every Linux. */
function serverSeconds(): number {
  let ticks = 0
  for (const pid of plan.pids ?? []) {
    try {
      // The name, in parentheses, may contain blanks; user and system time are the 12th and 13th words behind it.
      const words = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ') ?? []
      ticks += Number(words[11]) + Number(words[12])
    } catch {
      return 0
    }
  }
  return ticks / 100
}

const pause = (seconds: number) => new Promise(resolve => setTimeout(resolve, seconds * 1000))

const sockets = Array.from({ length: plan.connections }, () =>
  connect({ host: '127.0.0.1', port: plan.port, noDelay: true }),
)
const stride = Math.ceil(requests.length / plan.connections)
const drivers = Promise.all(sockets.map((socket, index) => drive(socket, index * stride)))
await Promise.race([pause(plan.warmupSeconds), drivers])
recording = true
const from = performance.now()
const cpuBefore = process.cpuUsage()
const serverBefore = serverSeconds()
await Promise.race([pause(plan.seconds), drivers])
recording = false
const seconds = (performance.now() - from) / 1000
const cpu = process.cpuUsage(cpuBefore)
const serverCores = (serverSeconds() - serverBefore) / seconds
stopped = true
await drivers

const count = latencies.reduce((sum, found) => sum + found, 0)
const result: LoadResult = {
  requestsPerSecond: count / seconds,
  p50Micros: percentileMicros(count, 0.5),
  p95Micros: percentileMicros(count, 0.95),
  p99Micros: percentileMicros(count, 0.99),
  cores: (cpu.user + cpu.system) / 1e6 / seconds,
  serverCores,
  failures,
  firstFailure,
}
process.stdout.write(JSON.stringify(result))
