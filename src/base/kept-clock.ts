// A clock that does not step back over restarts either. A client that has read at a time may rely on it that no later read
// has an earlier time, also when no commit, whose time is stored, came between. So a small file says how far the clock has
// come, a little ahead of the truth so that it is written now and then only. It is written in place and never
// flushed: it survives the end of the process, and that of the machine about as well as the machine's own time does.

import { closeSync, openSync, readSync, writeSync } from 'node:fs'
import { checksum, checksumBytes } from './checksum.ts'
import { epoch, type Micros, micros } from './micros.ts'

/** A clock over a file. */
interface KeptClock {
  readonly now: () => Micros
  /** Writes down the newest time exactly and closes the file. */
  close(): void
}

const numberBytes = 8

/**
 * Opens the clock kept in `file`, which is created if missing, over the machine's `clock`. After a crash it may be up to
 * `aheadMicros` ahead of where it was; a file that is not what was written counts as missing.
 */
export function openKeptClock(file: string, aheadMicros: number, clock: () => Micros): KeptClock {
  const descriptor = openFile(file)
  let latest = readTime(descriptor)
  let written = latest
  const write = (time: Micros) => {
    written = time
    try {
      writeSync(descriptor, encoded(time), 0, numberBytes + checksumBytes, 0)
    } catch {
      // A disk that takes no more must not stop those who only read; the promise holds until the process ends.
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

/** Not truncated: what is in it counts. */
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
