// The only source of the time of day. All other code gets a `Clock` as a parameter, so that tests control the time.

import { closeSync, openSync, readFileSync, readSync, writeSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { epoch, type Micros, micros } from './micros.ts'

export interface Clock {
  /** Microseconds since the Unix epoch. {@link systemClock} may step back when the machine's clock is set. */
  now(): Micros
  /** Monotonic milliseconds from an arbitrary start, for measuring durations. */
  elapsedMs(): number
}

/** The time of day is extrapolated for this duration, and then read again. */
const anchorMaxAgeMs = 500

let anchorMicros = 0
let anchorElapsedMs = Number.NEGATIVE_INFINITY

/** Node has `Temporal` from version 26. In older versions, the clock has millisecond resolution. */
function wallClockMicros(): number {
  if (typeof Temporal === 'undefined') return Date.now() * 1000
  return Number(Temporal.Now.instant().epochNanoseconds / 1000n)
}

/**
 * Extrapolates the time of day from its last reading, because a reading of the machine's clock takes a third of a
 * microsecond, and every request needs the time of day several times.
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

/** The first releases of Node 22 lack `threadCpuUsage`. With these releases, the CPU time of all threads is used. */
const cpuUsage: () => NodeJS.CpuUsage =
  'threadCpuUsage' in process ? () => process.threadCpuUsage() : () => process.cpuUsage()

/**
 * Milliseconds that this thread has waited in the run queue for a processor; 0 on other systems than Linux. During the
 * rest of its lifetime, the thread worked or waited for something else, such as the disk. A call takes 10 to 30
 * microseconds on Linux.
 */
export function starvedMs(): number {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[1]) / 1e6
  } catch {
    return 0
  }
}

/** CPU time since the thread started. */
export function threadMicros(): number {
  const { system, user } = cpuUsage()
  return system + user
}

interface PersistentClock {
  readonly now: () => Micros
  /** Writes the newest time without `aheadMicros`, and closes the file. */
  close(): void
}

const numberBytes = 8
const checksumBytes = 4

/**
 * A clock that never steps back, even after a restart: a later read of a client never has an earlier time. The time of
 * the newest commit does not ensure this order, because there may be no commit between two reads. So a small file
 * stores a time slightly ahead of the clock, and is rarely written. The file is never flushed. Its content survives a
 * crash of the process; after a crash of the machine, the last writes may be missing. A file that is missing or has an
 * invalid checksum is replaced. After a crash, the clock may be up to `aheadMicros` ahead of its last time.
 */
export function openPersistentClock(file: string, aheadMicros: number, clock: () => Micros): PersistentClock {
  const descriptor = openFile(file)
  let latest = readTime(descriptor)
  let written = latest
  const write = (time: Micros) => {
    written = time
    try {
      writeSync(descriptor, encoded(time), 0, numberBytes + checksumBytes, 0)
    } catch {
      // A full disk must not stop reads. Until the process exits, the clock still never steps back.
    }
  }
  return {
    now() {
      latest = Math.max(latest, clock())
      if (latest > written) write(micros(latest + aheadMicros))
      return latest
    },
    close() {
      if (latest > 0) write(latest)
      closeSync(descriptor)
    },
  }
}

/** Creates a missing file, but does not truncate an existing file. */
function openFile(file: string): number {
  closeSync(openSync(file, 'a', 0o600))
  return openSync(file, 'r+')
}

function encoded(time: Micros): Buffer {
  const bytes = Buffer.alloc(numberBytes + checksumBytes)
  bytes.writeDoubleBE(time)
  bytes.writeUInt32BE(crc32(bytes.subarray(0, numberBytes)), numberBytes)
  return bytes
}

function readTime(descriptor: number): Micros {
  const bytes = Buffer.alloc(numberBytes + checksumBytes)
  const length = readSync(descriptor, bytes, 0, bytes.length, 0)
  const isIntact =
    length === bytes.length && bytes.readUInt32BE(numberBytes) === crc32(bytes.subarray(0, numberBytes))
  return isIntact ? micros(bytes.readDoubleBE()) : epoch
}
