// A clock that never steps back, not even over a restart. After a read, a client may rely on every later read having no
// earlier time. The stored time of the newest commit does not ensure this, because there may be no commit between the
// reads. So a small file stores the time of the clock, somewhat ahead of the actual time, so that the file is rarely
// written. The file is written in place and never flushed: it survives a crash of the process, and a crash of the
// machine about as well as the system time does.

import { closeSync, openSync, readSync, writeSync } from 'node:fs'
import { checksum, checksumBytes } from './checksum.ts'
import { epoch, type Micros, micros } from './micros.ts'

/** A clock backed by a file. */
interface PersistentClock {
  readonly now: () => Micros
  /** Writes the newest time exactly and closes the file. */
  close(): void
}

const numberBytes = 8

/**
 * Opens the clock stored in `file`, which is created if missing, over the machine's `clock`. After a crash the clock
 * may be up to `aheadMicros` ahead of its last time. A file with an invalid checksum counts as missing.
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
      // A full disk must not stop reads. The clock still never steps back until the process exits.
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
