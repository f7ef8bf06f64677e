// Warns in the service log before the disk of the data directory is full. On a full disk, writes fail, so the operator
// needs the time to act that a warning gives.

import { statfsSync } from 'node:fs'
import type { Logger } from 'pino'
import { megabyte } from '../../base/bytes.ts'
import type { Cancel, Timers } from '../../base/timers.ts'

/** Milliseconds between two checks. */
const checkMs = 60_000
/** The warning begins at this share of the disk, but at most at `warningBytesMax`. */
const warningShare = 0.1
const warningBytesMax = 10_240 * megabyte

/** Sizes in bytes; both are 0 if they are unknown. */
export interface DiskSpace {
  readonly free: number
  readonly total: number
}

/** Some file systems do not report sizes, and a failing disk must not end the service or its health report. */
export function diskSpace(folder: string): DiskSpace {
  try {
    const { bavail, blocks, bsize } = statfsSync(folder)
    return { free: bavail * bsize, total: blocks * bsize }
  } catch {
    return { free: 0, total: 0 }
  }
}

/**
 * Logs a warning when little space is free, another one each time the free space has halved since the last warning, and
 * a message when enough space is free again.
 */
export function watchDisk(
  space: () => DiskSpace,
  log: Pick<Logger, 'info' | 'warn'>,
  timers: Timers,
): Cancel {
  let warnedAt = Number.POSITIVE_INFINITY
  const check = () => {
    const { free, total } = space()
    const sizes = { free_megabytes: Math.floor(free / megabyte) }
    if (free >= Math.min(total * warningShare, warningBytesMax)) {
      if (warnedAt < Number.POSITIVE_INFINITY) log.info(sizes, 'the disk has enough free space again')
      warnedAt = Number.POSITIVE_INFINITY
    } else if (free <= warnedAt / 2) {
      warnedAt = free
      log.warn(sizes, 'the disk is almost full: free space before writes fail')
    }
  }
  check()
  return timers.every(checkMs, check)
}
