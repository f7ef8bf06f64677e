// Runs the load process against a port, and measures the memory, CPU time and disk space of a server.

import { spawn, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

/** Input of the load process. */
export interface LoadPlan {
  readonly port: number
  readonly connections: number
  readonly warmupSeconds: number
  readonly seconds: number
  /** The default is HTTP/1.1. */
  readonly protocol?: 'h2'
  /**
   * Open loop: requests are sent at this rate. Without a rate, each connection sends a request after it has received
   * the response to the previous one.
   */
  readonly ratePerSecond?: number
  /** Whole HTTP/1.1 requests of head and body, translated for HTTP/2. The load repeats the list. */
  readonly requests: readonly string[]
  /** Processes of the server whose CPU time is measured, together with that of all their descendants. */
  readonly pids?: readonly number[]
}

/** Measurements after the warm-up. */
export interface LoadResult {
  readonly requestsPerSecond: number
  readonly p50Micros: number
  readonly p95Micros: number
  readonly p99Micros: number
  readonly maxMicros: number
  /** The number of cores that the load process itself keeps busy. */
  readonly cores: number
  /** Cores that the server kept busy ({@link LoadPlan.pids}); 0 if the system does not report it. */
  readonly serverCores: number
  /** Responses that were neither 200 nor 201, including the warm-up. */
  readonly failures: number
  readonly firstFailure?: string | undefined
}

/** Uses a process of its own; rejects when a response was a failure. */
export async function measure(plan: LoadPlan): Promise<LoadResult> {
  const child = spawn(process.execPath, [fileURLToPath(new URL('load.ts', import.meta.url))], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = new Promise<number | null>(resolve => child.once('close', resolve))
  child.stdin.end(JSON.stringify(plan))
  const output = await text(child.stdout)
  if ((await ended) !== 0) throw new Error('the load process failed')
  const result: LoadResult = JSON.parse(output)
  if (result.failures > 0)
    throw new Error(`${result.failures} requests failed, first: ${result.firstFailure}`)
  return result
}

/** Returns the median of each value. */
export function medianOf(results: readonly LoadResult[]): LoadResult {
  const of = (figure: (result: LoadResult) => number) => median(results.map(figure))
  return {
    requestsPerSecond: of(result => result.requestsPerSecond),
    p50Micros: of(result => result.p50Micros),
    p95Micros: of(result => result.p95Micros),
    p99Micros: of(result => result.p99Micros),
    maxMicros: of(result => result.maxMicros),
    cores: of(result => result.cores),
    serverCores: of(result => result.serverCores),
    failures: 0,
  }
}

/** Returns an HTTP/1.1 request with a JSON body. */
export function post(path: string, body: unknown, headers: Readonly<Record<string, string>> = {}): string {
  const json = JSON.stringify(body)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const length = Buffer.byteLength(json)
  return `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n${lines.join('')}\r\n${json}`
}

/** Mebibytes of a process; zero if the system does not report it. */
export interface Memory {
  /** Allocated memory. */
  readonly own: number
  /** Mapped pages of files, mostly of the data file. The system frees them when other processes need memory. */
  readonly mapped: number
  /** Maximum of both together. */
  readonly peak: number
}

export function memoryMebibytes(pid: number): Memory {
  let status = ''
  try {
    status = readFileSync(`/proc/${pid}/status`, 'utf8')
  } catch {
    return { own: 0, mapped: 0, peak: 0 }
  }
  const read = (name: string) => Number(new RegExp(`${name}:\\s*(\\d+) kB`).exec(status)?.[1] ?? 0) / 1024
  return { own: read('RssAnon'), mapped: read('RssFile'), peak: read('VmHWM') }
}

const nanosPerMs = 1e6

/** CPU time of all threads so far; 0 if the system does not report it. */
export function processorMs(pid: number): number {
  const threads = `/proc/${pid}/task`
  try {
    const nanos = readdirSync(threads).map(thread => {
      const [ran] = readFileSync(`${threads}/${thread}/schedstat`, 'utf8').split(' ')
      return Number(ran)
    })
    return nanos.reduce((sum, each) => sum + each, 0) / nanosPerMs
  } catch {
    return 0
  }
}

/** A server's process and all its descendants, each after its parent. */
export function processesOf(pid: number): readonly number[] {
  const { stdout } = spawnSync('ps', ['--ppid', String(pid), '-o', 'pid='], { encoding: 'utf8' })
  return [pid, ...stdout.split(/\s+/).filter(Boolean).map(Number).flatMap(processesOf)]
}

/** Allocated memory of all processes of a server. */
export function privateMebibytes(pid: number): number {
  return processesOf(pid).reduce((sum, each) => sum + memoryMebibytes(each).own, 0)
}

/** CPU time of all processes of a server so far. */
export function serverMs(pid: number): number {
  return processesOf(pid).reduce((sum, each) => sum + processorMs(each), 0)
}

/** Allocated memory of each process of a server, as text, beginning with `pid`. */
export function memoryOfEach(pid: number): string {
  const parts = processesOf(pid).map((each, place) => {
    const name = isSlowLane(each) ? 'slow lane' : place === 0 ? 'service' : 'worker'
    return `${name} ${memoryMebibytes(each).own.toFixed(0)} MiB`
  })
  return parts.join(', ')
}

function isSlowLane(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('slow-lane')
  } catch {
    return false
  }
}

const blockBytes = 512

/** Returns the bytes on disk, without the files of the query log. */
export function diskBytes(folder: string): number {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter(entry => entry.isFile() && !entry.parentPath.includes('query-log'))
  return (
    files.reduce((sum, { name, parentPath }) => sum + statSync(join(parentPath, name)).blocks, 0) * blockBytes
  )
}

/** Returns the upper one of the two in the middle of an even count. */
export function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] as number
}
