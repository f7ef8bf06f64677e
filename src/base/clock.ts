// The only source of the time of day. All other code gets a `Clock` as a parameter, so that tests control the time.

import { readFileSync } from 'node:fs'
import { type Micros, micros } from './micros.ts'

export interface Clock {
  /** Microseconds since the Unix epoch; may step back when the machine's clock is set. */
  now(): Micros
  /** Monotonic milliseconds from an arbitrary start, for measuring durations. */
  elapsedMs(): number
}

/** Age at which the time of day is read again; until then it is extrapolated. Milliseconds. */
const anchorMaxAgeMs = 500

/** The last reading of the time of day, and the monotonic time of that reading. */
let anchorMicros = 0
let anchorElapsedMs = Number.NEGATIVE_INFINITY

/** Node has `Temporal` from version 26; without it the clock has millisecond resolution. */
function wallClockMicros(): number {
  if (typeof Temporal === 'undefined') return Date.now() * 1000
  return Number(Temporal.Now.instant().epochNanoseconds / 1000n)
}

/**
 * The machine's clock. Every request reads it several times. Reading microseconds takes a third of a microsecond, and
 * extrapolating from the last reading takes a tenth of that.
 */
export const systemClock: Clock = {
  now() {
    const elapsedMs = performance.now()
    if (elapsedMs - anchorElapsedMs > anchorMaxAgeMs) {
      anchorMicros = wallClockMicros()
      anchorElapsedMs = elapsedMs
    }
    return micros(anchorMicros + Math.floor((elapsedMs - anchorElapsedMs) * 1000))
  },
  elapsedMs: () => performance.now(),
}

/** The first releases of Node 22 lack `threadCpuUsage`; there the CPU time of all threads is used. */
const cpuUsage: () => NodeJS.CpuUsage =
  'threadCpuUsage' in process ? () => process.threadCpuUsage() : () => process.cpuUsage()

/**
 * Milliseconds that this thread has waited in the run queue for a processor since it started. The rest of the elapsed
 * time is the thread's own work and its disk waits. Linux reports it, which takes 10 to 30 microseconds; elsewhere it
 * is 0.
 */
export function starvedMs(): number {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[1]) / 1e6
  } catch {
    return 0
  }
}

/** CPU time of this thread since it started, in microseconds. */
export function threadMicros(): number {
  const { system, user } = cpuUsage()
  return system + user
}
