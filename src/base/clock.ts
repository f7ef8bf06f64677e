// The only source of the time of day. Everything else is handed a `Clock`, so tests decide what time it is.

import { readFileSync } from 'node:fs'
import { type Micros, micros } from './micros.ts'

export interface Clock {
  /** Microseconds since the Unix epoch; may step back when the machine's clock is set. */
  now(): Micros
  /** Milliseconds from an arbitrary start, never stepping back; for measuring how long something took. */
  elapsedMs(): number
}

/** How long the time of day is extrapolated from one reading before it is read again, in milliseconds. */
const anchorMaxAgeMs = 500

/** A reading of the time of day, and when on the other clock it was taken. */
let anchorMicros = 0
let anchorElapsedMs = Number.NEGATIVE_INFINITY

/** Node has `Temporal` from version 26 on; without it the clock has milliseconds. */
function wallClockMicros(): number {
  if (typeof Temporal === 'undefined') return Date.now() * 1000
  return Number(Temporal.Now.instant().epochNanoseconds / 1000n)
}

/**
 * The machine's clock. A reading with microseconds costs a third of a microsecond, which every request would pay
 * several times; the time passed since the last reading costs a tenth of that.
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

/** The first releases of Node 22 can tell only the time of all threads. */
const cpuUsage: () => NodeJS.CpuUsage =
  'threadCpuUsage' in process ? () => process.threadCpuUsage() : () => process.cpuUsage()

/**
 * Milliseconds that this thread was ready to work since it began, and others had the processor. Linux tells, in 10 to 30
 * microseconds; elsewhere 0. What has passed without them is the thread's own work and its waits for the disk.
 */
export function starvedMs(): number {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[1]) / 1e6
  } catch {
    return 0
  }
}

/** Microseconds that this thread has worked since it began, whatever else the machine was busy with. */
export function threadMicros(): number {
  const { system, user } = cpuUsage()
  return system + user
}
