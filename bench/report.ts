// The results of a run: prints them, writes them as JSON on request, and compares them with the file of an earlier run.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { LoadResult } from './measure.ts'

export interface Row {
  readonly case: string
  readonly subject: string
  readonly requestsPerSecond: number
  readonly p50Micros: number
  readonly p95Micros: number
  readonly p99Micros: number
  readonly maxMicros: number
  /** CPU time of all processes of the server per request; 0 if the system does not report it. */
  readonly cpuMicrosPerRequest: number
  /** Throughput divided by that of other subjects in the same run, by name. */
  readonly ratios: Readonly<Record<string, number>>
  /** The CPU time per request divided by the CPU time of other subjects, by the name of the subject. */
  readonly cpuRatios: Readonly<Record<string, number>>
}

const milliseconds = (micros: number) => (micros / 1000).toFixed(2).padStart(8)

/** Headings of the columns of {@link Report.add}. */
export const heading = [
  ''.padEnd(26),
  'req/s'.padStart(9),
  ...['p50 ms', 'p95 ms', 'p99 ms', 'max ms'].map(name => name.padStart(8)),
  'CPU µs'.padStart(8),
].join(' ')

/** Formats a result in columns. */
export function line(name: string, result: LoadResult): string {
  const { p50Micros, p95Micros, p99Micros, maxMicros } = result
  return [
    name.padEnd(26),
    Math.round(result.requestsPerSecond).toLocaleString('en').padStart(9),
    ...[p50Micros, p95Micros, p99Micros, maxMicros].map(milliseconds),
    cpuMicros(result).toFixed(1).padStart(8),
  ].join(' ')
}

/** CPU time of the server per request, in microseconds. */
export function cpuMicros({ serverCores, requestsPerSecond }: LoadResult): number {
  return requestsPerSecond === 0 ? 0 : (serverCores * 1e6) / requestsPerSecond
}

/** Collects and prints the results of a run. */
export class Report {
  readonly #rows: Row[] = []
  readonly #earlier: readonly Row[]

  /** `compared`: the file of an earlier run, whose results are compared. */
  constructor(compared: string | undefined) {
    if (compared !== undefined && !existsSync(compared)) throw new Error(`there is no file ${compared}`)
    this.#earlier = compared === undefined ? [] : JSON.parse(readFileSync(compared, 'utf8')).rows
  }

  /** `beside`: measurements of the same run, by name, for the ratios. */
  add(
    benchCase: string,
    subject: string,
    result: LoadResult,
    beside: Readonly<Record<string, LoadResult | undefined>> = {},
    remark = '',
  ): void {
    const ratios: Record<string, number> = {}
    const cpuRatios: Record<string, number> = {}
    const words: string[] = []
    for (const [name, other] of Object.entries(beside)) {
      if (other === undefined) continue
      ratios[name] = result.requestsPerSecond / other.requestsPerSecond
      cpuRatios[name] = cpuMicros(result) / cpuMicros(other)
      words.push(`${ratios[name].toFixed(2)} of ${name} (CPU ${cpuRatios[name].toFixed(2)})`)
    }
    const { requestsPerSecond, p50Micros, p95Micros, p99Micros, maxMicros } = result
    const row = {
      case: benchCase,
      subject,
      ...{ requestsPerSecond, p50Micros, p95Micros, p99Micros, maxMicros },
      cpuMicrosPerRequest: cpuMicros(result),
      ratios,
      cpuRatios,
    }
    this.#rows.push(row)
    console.log([line(subject, result), ...words, remark].filter(Boolean).join('   '))
    const change = this.#changeOf(row)
    if (change !== undefined) console.log(change)
  }

  write(file: string): void {
    writeFileSync(file, `${JSON.stringify({ node: process.version, rows: this.#rows }, undefined, 2)}\n`)
  }

  #changeOf(row: Row): string | undefined {
    const before = this.#earlier.find(other => other.case === row.case && other.subject === row.subject)
    if (before === undefined) return undefined
    const change = (now: number, then: number) =>
      then === 0 ? '' : `${now >= then ? '+' : ''}${((now / then - 1) * 100).toFixed(0)} %`
    const parts = [
      `req/s ${change(row.requestsPerSecond, before.requestsPerSecond)}`,
      `p99 ${change(row.p99Micros, before.p99Micros)}`,
      `CPU ${change(row.cpuMicrosPerRequest, before.cpuMicrosPerRequest)}`,
    ]
    for (const [name, ratio] of Object.entries(row.ratios)) {
      const then = before.ratios[name]
      if (then !== undefined) parts.push(`${then.toFixed(2)} → ${ratio.toFixed(2)} of ${name}`)
    }
    return `${''.padEnd(26)} before: ${parts.join(', ')}`
  }
}
