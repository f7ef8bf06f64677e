// The timeline of a store that several processes of one machine share. They see each other's announcements through a
// file of a few numbers, read and written in place (a microsecond; it stays in the page cache and is never flushed), and
// they use one clock: the machine's steady clock, the same in all processes, plus an offset in the file that
// one process keeps true to the time of day. The offset only grows, so no time steps back.

import { closeSync, openSync, readSync, statSync, writeSync } from 'node:fs'
import { endOfTime, type Micros, micros } from './micros.ts'
import { AnnouncedCommits, type Timeline } from './timeline.ts'
import type { Cancel, Timers } from './timers.ts'

/** Microseconds by which the steady clocks of two processes may seem to differ; see {@link steadyOrigin}. */
const disagreementMax = 10
/** How often the offset is compared with the time of day, in milliseconds. */
const keepIntervalMs = 500

const numberBytes = 8
/** In the file: the offset, then for each process the oldest time it has announced, 0 for none. */
const offsetPlace = 0
const announcementPlace = (process: number) => (1 + process) * numberBytes

/**
 * Makes the file anew, for processes 0 to `processes` - 1, and keeps its offset true until the returned function is called.
 * Before anyone opens it.
 */
export function keepSharedTimeline(
  file: string,
  processes: number,
  wallClock: () => number,
  timers: Timers,
): Cancel {
  const numbers = new SharedNumbers(file, 'w+', processes)
  const keep = () => {
    const offset = wallClock() - steadyMicros()
    if (offset > numbers.offset) numbers.write(offsetPlace, offset)
    numbers.read()
  }
  keep()
  for (let process = 0; process < processes; process++) numbers.write(announcementPlace(process), 0)
  const cancel = timers.every(keepIntervalMs, keep)
  return () => {
    cancel()
    numbers.close()
  }
}

/**
 * Opens the timeline that another process keeps, as the process with that number, and takes back what the one before it
 * had announced: nothing of that may be on its way any more. So who opens the folder first, for which it holds the writer's
 * lock once, is in time.
 */
export function openSharedTimeline(file: string, process: number): Timeline & { close(): void } {
  const numbers = new SharedNumbers(file, 'r+', fileProcesses(file))
  const own = announcementPlace(process)
  numbers.write(own, 0)
  numbers.read()
  const now = () => micros(Math.floor(numbers.offset + steadyMicros()))
  const commits = new AnnouncedCommits(oldest => {
    numbers.write(own, oldest === endOfTime ? 0 : oldest)
  })
  const sureNow = () => {
    // An offset that has been used before is not newer than this one.
    numbers.read()
    return micros(now() + disagreementMax)
  }
  return {
    now,
    announce: atLeast => commits.begin(atLeast, sureNow),
    oldestAnnounced() {
      numbers.read()
      return numbers.oldestAnnounced
    },
    close: () => numbers.close(),
  }
}

/** How many processes a file was made for. */
function fileProcesses(file: string): number {
  return statSync(file).size / numberBytes - 1
}

class SharedNumbers {
  readonly #descriptor: number
  readonly #seen: Float64Array
  readonly #seenBytes: Uint8Array
  readonly #written = new Float64Array(1)
  readonly #writtenBytes = new Uint8Array(this.#written.buffer)

  constructor(file: string, mode: 'r+' | 'w+', processes: number) {
    this.#descriptor = openSync(file, mode, 0o600)
    this.#seen = new Float64Array(1 + processes)
    this.#seenBytes = new Uint8Array(this.#seen.buffer)
  }

  get offset(): number {
    return this.#seen[0] as number
  }

  get oldestAnnounced(): Micros {
    let oldest = endOfTime
    for (let place = 1; place < this.#seen.length; place++) {
      const time = this.#seen[place] as number
      if (time > 0 && time < oldest) oldest = micros(time)
    }
    return oldest
  }

  read(): void {
    readSync(this.#descriptor, this.#seenBytes, 0, this.#seenBytes.length, 0)
  }

  write(place: number, number: number): void {
    this.#written[0] = number
    writeSync(this.#descriptor, this.#writtenBytes, 0, numberBytes, place)
  }

  close(): void {
    closeSync(this.#descriptor)
  }
}

/** Where this process's `performance.now()` begins on the machine's steady clock, in milliseconds. */
const steadyOrigin = measureOrigin()

/** Taken from the closest of several pairs of readings, so that being interrupted between two does no harm. */
function measureOrigin(): number {
  let origin = 0
  let closest = Number.POSITIVE_INFINITY
  for (let attempt = 0; attempt < 100; attempt++) {
    const before = performance.now()
    const steady = Number(process.hrtime.bigint()) / 1e6
    const after = performance.now()
    if (after - before >= closest) continue
    closest = after - before
    origin = steady - (before + after) / 2
  }
  return origin
}

function steadyMicros(): number {
  return (steadyOrigin + performance.now()) * 1000
}
