// The timeline of a store that several processes of one machine share. They see each other's announcements through a
// file of a few numbers, read and written in place (a microsecond; it stays in the page cache and is never flushed), and
// they use one clock: the machine's steady clock, the same in all processes, plus an offset in the file that
// one process keeps true to the time of day. The offset only grows, so no time steps back. A reader takes the offset and the
// announcements in one look, behind its look at the steady clock: who has looked later has a time that is no earlier.
//
// The processes of a node over a shared store have no clock of their own (kv/postgres/read-times.ts). They use the file for the
// times that they have given to snapshots.

import { closeSync, openSync, readSync, statSync, writeSync } from 'node:fs'
import { endOfTime, type Micros, micros } from './micros.ts'
import { AnnouncedCommits, type Timeline } from './timeline.ts'
import type { Cancel, Timers } from './timers.ts'

/** How often the offset is compared with the time of day, in milliseconds. */
const keepIntervalMs = 500

const numberBytes = 8
/**
 * In the file: the offset, then for each process the oldest time it has announced, 0 for none, or {@link announcing}, and then
 * for each the newest time that it has given to a snapshot.
 */
const offsetPlace = 0
const announcementPlace = (process: number) => (1 + process) * numberBytes
/** The process is between its announcement and the time of that: two writes to the file. */
const announcing = -1
/** Looks at the file while a process is there; if it has lost the processor meanwhile, the reader has to wait. */
const looksMax = 50

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
  for (let place = 1; place <= 2 * processes; place++) numbers.write(place * numberBytes, 0)
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
export function openSharedTimeline(file: string, worker: number): Timeline & { close(): void } {
  const numbers = new SharedNumbers(file, 'r+', fileProcesses(file))
  const own = announcementPlace(worker)
  numbers.write(own, 0)
  numbers.read()
  const now = () => numbers.timeAt(steadyMicros())
  const commits = new AnnouncedCommits(oldest => {
    numbers.write(own, oldest === undefined ? announcing : oldest === endOfTime ? 0 : oldest)
  })
  const sureNow = () => {
    // An offset that has been used before is not newer than this one.
    numbers.read()
    return now()
  }
  return {
    now,
    announce: atLeast => commits.begin(atLeast, sureNow),
    reach() {
      const steady = steadyMicros()
      for (let looks = 0; looks < looksMax; looks++) {
        numbers.read()
        const { oldestAnnounced: oldest } = numbers
        const time = numbers.timeAt(steady)
        if (oldest !== undefined) return { now: time, upTo: Math.min(time, micros(oldest - 1)) }
      }
      return { now: numbers.timeAt(steady), upTo: undefined }
    },
    close: () => numbers.close(),
  }
}

/** How many processes a file was made for. */
function fileProcesses(file: string): number {
  return (statSync(file).size / numberBytes - 1) / 2
}

/** The times that the processes of a node have given to snapshots. */
export interface GivenTimes {
  /** The newest one, of any process. */
  newest(): Micros
  /** This process has given a time that is no earlier than {@link newest}. */
  note(time: Micros): void
}

/** Opens the times of a file that another process keeps, as the process with that number. */
export function openGivenTimes(file: string, worker: number): GivenTimes & { close(): void } {
  const processes = fileProcesses(file)
  const numbers = new SharedNumbers(file, 'r+', processes)
  const own = (1 + processes + worker) * numberBytes
  return {
    newest() {
      numbers.read()
      return numbers.newestGiven
    },
    note: time => numbers.write(own, time),
    close: () => numbers.close(),
  }
}

class SharedNumbers {
  readonly #descriptor: number
  readonly #seen: Float64Array
  readonly #seenBytes: Uint8Array
  readonly #written = new Float64Array(1)
  readonly #writtenBytes = new Uint8Array(this.#written.buffer)

  readonly #processes: number

  constructor(file: string, mode: 'r+' | 'w+', processes: number) {
    this.#descriptor = openSync(file, mode, 0o600)
    this.#processes = processes
    this.#seen = new Float64Array(1 + 2 * processes)
    this.#seenBytes = new Uint8Array(this.#seen.buffer)
  }

  get offset(): number {
    return this.#seen[0] as number
  }

  /** The time of day when the steady clock shows `steady` microseconds. */
  timeAt(steady: number): Micros {
    return micros(Math.floor(this.offset + steady))
  }

  /** {@link endOfTime} when there is none; undefined while a process is {@link announcing}. */
  get oldestAnnounced(): Micros | undefined {
    let oldest = endOfTime
    for (let place = 1; place <= this.#processes; place++) {
      const time = this.#seen[place] as number
      if (time === announcing) return undefined
      if (time > 0 && time < oldest) oldest = micros(time)
    }
    return oldest
  }

  get newestGiven(): Micros {
    return micros(Math.max(...this.#seen.subarray(1 + this.#processes)))
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

/**
 * The machine's steady clock in microseconds: the same in all processes, which `performance.now()` is not, for it counts from
 * the start of a process.
 */
function steadyMicros(): number {
  const [seconds, nanos] = process.hrtime()
  return seconds * 1e6 + nanos / 1e3
}
