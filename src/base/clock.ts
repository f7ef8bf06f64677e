// The only source of the time of day. All other code gets a `Clock` as a parameter, so that tests control the time. The
// clock of a service (`openPersistentClock`) never steps back, even after a restart.

import { closeSync, openSync, readFileSync, readSync, writeSync } from 'node:fs'
import { checksum, checksumBytes } from './checksum.ts'
import { epoch, type Micros, micros } from './micros.ts'

export interface Clock {
  /**
   * Microseconds since the Unix epoch. The time of {@link systemClock} may step back when the machine's clock is set.
   */
  now(): Micros
  /** Monotonic milliseconds from an arbitrary start, for measuring durations. */
  elapsedMs(): number
}

/**
 * Milliseconds for which the time of day is extrapolated from the last reading. After this duration, the time of day is
 * read again.
 */
const anchorMaxAgeMs = 500

/** The last reading of the time of day, and the monotonic time of that reading. */
let anchorMicros = 0
let anchorElapsedMs = Number.NEGATIVE_INFINITY

/** Node has `Temporal` from version 26. In older versions, the clock has millisecond resolution. */
function wallClockMicros(): number {
  if (typeof Temporal === 'undefined') return Date.now() * 1000
  return Number(Temporal.Now.instant().epochNanoseconds / 1000n)
}

/**
 * The machine's clock. Every request reads the time several times. Reading the time from the system takes a third of a
 * microsecond; extrapolating from the last reading takes a tenth of this time.
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
 * Milliseconds that this thread has waited in the run queue for a processor since the thread started. The thread spent
 * the rest of its lifetime working, or waiting for something else, such as the disk. On Linux, reading this value takes
 * 10 to 30 microseconds. On other systems the result is 0.
 */
export function starvedMs(): number {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[1]) / 1e6
  } catch {
    return 0
  }
}

/** CPU time of this thread since the thread started, in microseconds. */
export function threadMicros(): number {
  const { system, user } = cpuUsage()
  return system + user
}

// A clock that never steps back, even after a restart. A client may rely on the order of its reads: a later read never
// has an earlier time. The stored time of the newest commit does not ensure this order, because there may be no commit
// between two reads. So a small file stores a time slightly ahead of the clock. Because of this margin, the file is
// rarely written. The file is written in place and never flushed. Its content survives a crash of the process. After a
// crash of the machine, the last writes may be missing.

/** A clock backed by a file. */
interface PersistentClock {
  readonly now: () => Micros
  /** Writes the newest time without the margin, and closes the file. */
  close(): void
}

const numberBytes = 8

/**
 * Opens the clock that is stored in `file` and follows the machine's `clock`. Creates the file if it is missing. After
 * a crash, the clock may be up to `aheadMicros` ahead of its last time. A file with an invalid checksum is treated as
 * missing.
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

/** Opens for reading and writing without truncating the file. */
function openFile(file: string): number {
  closeSync(openSync(file, 'a', 0o600))
  return openSync(file, 'r+')
}

function encoded(time: Micros): Buffer {
  const bytes = Buffer.alloc(numberBytes + checksumBytes)
  bytes.writeDoubleBE(time)
  bytes.writeUInt32BE(checksum(bytes.subarray(0, numberBytes)), numberBytes)
  return bytes
}

function readTime(descriptor: number): Micros {
  const bytes = Buffer.alloc(numberBytes + checksumBytes)
  const length = readSync(descriptor, bytes, 0, bytes.length, 0)
  const isIntact =
    length === bytes.length && bytes.readUInt32BE(numberBytes) === checksum(bytes.subarray(0, numberBytes))
  return isIntact ? micros(bytes.readDoubleBE()) : epoch
}
