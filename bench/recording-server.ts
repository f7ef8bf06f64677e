// Terrarium as a program that alternately records requests and does not record them. After each phase, it writes a line
// with its measurements to standard error. So one process is compared with itself: two processes of the same program
// differ by more than the costs of a record.

import { Edge } from '../src/server/http/edge.ts'

/** Milliseconds of a phase, and milliseconds at its start in which buffered records of the phase before are written. */
const phaseMs = 2000
const settleMs = 700

/** A line on standard error, after the word `phase`. */
export interface Phase {
  readonly records: boolean
  readonly requests: number
  /** CPU time of all threads per request, in microseconds. */
  readonly cpuMicros: number
}

let records = true
let requests = 0

const { serve } = Edge.prototype
Edge.prototype.serve = function (endpoint, request, parameters) {
  requests++
  const changed: { recorded?: boolean } = endpoint
  if (endpoint.recorded !== undefined) changed.recorded = records
  serve.call(this, endpoint, request, parameters)
}

function begin(): void {
  setTimeout(() => {
    const before = requests
    const cpu = process.cpuUsage()
    setTimeout(() => {
      const { system, user } = process.cpuUsage(cpu)
      const count = requests - before
      const phase: Phase = { records, requests: count, cpuMicros: (system + user) / count }
      if (count > 0) process.stderr.write(`phase ${JSON.stringify(phase)}\n`)
      records = !records
      begin()
    }, phaseMs - settleMs).unref()
  }, settleMs).unref()
}

begin()
await import('../src/cli/main.ts')
