// The timeline of a store that several processes of one machine share. They see each other's announcements through a
// file of three numbers, read and written in place (a microsecond; it stays in the page cache and is never flushed), and
// they reckon with one clock: the machine's steady clock, the same in all processes, plus an offset in the file that
// one process keeps true to the time of day. The offset only grows, so nobody's time steps back.

import { closeSync, openSync, readSync, writeSync } from 'node:fs'
import type { Timeline } from './timeline.ts'
import type { Cancel, Timers } from './timers.ts'

/** Microseconds by which the steady clocks of two processes may seem to differ; see {@link steadyOrigin}. */
const disagreementMax = 10
/** How often the offset is compared with the time of day, in milliseconds. */
const keepIntervalMs = 500

const numberBytes = 8
/** Offset before announcement: a reader never has a newer offset than the announcement it saw allows for. */
const places = { offset: 0, announced: numberBytes } as const
const numbersInFile = 3

/** Makes the file anew and keeps its offset true until the answer is called. Before anyone opens it. */
export function keepSharedTimeline(file: string, wallClock: () => number, timers: Timers): Cancel {
  const numbers = new SharedNumbers(file, 'w+')
  const keep = () => {
    const offset = wallClock() - steadyMicros()
    if (offset > numbers.offset) numbers.write(places.offset, offset)
    numbers.read()
  }
  keep()
  numbers.write(places.announced, 0, 0)
  const cancel = timers.every(keepIntervalMs, keep)
  return () => {
    cancel()
    numbers.close()
  }
}

/** Opens the timeline that another process keeps. */
export function openSharedTimeline(file: string): Timeline & { close(): void } {
  const numbers = new SharedNumbers(file, 'r+')
  numbers.read()
  const now = () => Math.floor(numbers.offset + steadyMicros())
  return {
    now,
    announced() {
      numbers.read()
      return numbers.newestAnnounced
    },
    oldestAnnounced: () => numbers.oldestAnnounced,
    announce(oldest, newest) {
      numbers.write(places.announced, oldest, newest)
      numbers.read()
      return now() + disagreementMax
    },
    close: () => numbers.close(),
  }
}

class SharedNumbers {
  readonly #descriptor: number
  readonly #seen = new Float64Array(numbersInFile)
  readonly #seenBytes = new Uint8Array(this.#seen.buffer)
  readonly #written = new Float64Array(2)
  readonly #writtenBytes = new Uint8Array(this.#written.buffer)

  constructor(file: string, mode: 'r+' | 'w+') {
    this.#descriptor = openSync(file, mode, 0o600)
  }

  get offset(): number {
    return this.#seen[0] as number
  }

  get oldestAnnounced(): number {
    return this.#seen[1] as number
  }

  get newestAnnounced(): number {
    return this.#seen[2] as number
  }

  read(): void {
    readSync(this.#descriptor, this.#seenBytes, 0, this.#seenBytes.length, 0)
  }

  /** Writes one or two numbers from `place` on, in one go. */
  write(place: number, first: number, second?: number): void {
    this.#written[0] = first
    this.#written[1] = second ?? 0
    writeSync(
      this.#descriptor,
      this.#writtenBytes,
      0,
      second === undefined ? numberBytes : 2 * numberBytes,
      place,
    )
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
