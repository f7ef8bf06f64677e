// Coordinates the times of commits and snapshots of one store. A snapshot at time S contains every commit up to S, and
// every later commit gets a time after S.
//
// A commit gets a provisional time before its transaction is evaluated, and becomes visible only when it is durable. A
// snapshot must not miss a commit with an earlier time. So a writer first announces the commit to all processes and
// then reads the clock: the commit's time is later than the clock reading. A reader first reads the clock, then reads
// the announcements, and takes its snapshot last. If the reader missed an announcement, its clock reading is before the
// time of the announced commit. If the reader read an announcement, its snapshot may have one of two times: a time
// before the oldest announcement, or the time directly after the newest visible commit. A snapshot directly after a
// commit is safe, because commits are at least two microseconds apart.
//
// All processes read one clock. An announcement has the same time as its commit. This time is later than all clock
// readings before the announcement. So snapshot times never go back, in any process. Several processes of one machine
// share a timeline through a file.

import { closeSync, openSync, readSync, statSync, writeSync } from 'node:fs'
import { endOfTime, epoch, type Micros, micros } from './micros.ts'
import type { Cancel, Timers } from './timers.ts'

export interface Timeline {
  /** Returns the time. The clock never steps back. */
  now(): Micros
  /** The times that a snapshot taken after this call may have. If possible, `upTo` is later than `after`. */
  reach(after?: Micros): SnapshotBounds
  /**
   * The commit's time is at least `atLeast`, later than every result of {@link now} in any process, and at least {@link
   * commitDistance} later than the previous announcement of this process.
   */
  announce(atLeast: Micros): Announcement
  /**
   * All commits that follow this call get later times than the result. The caller must hold the store's write lock,
   * which only one process can hold. Only for stores that several machines share.
   */
  closed?(): Micros
}

/** A reader gets these times before it takes its snapshot. */
export interface SnapshotBounds {
  readonly now: Micros
  /**
   * Earlier than every commit in progress in any process, and not after the time of day. No later call in any process
   * returns an earlier time. Undefined while another process announces a commit whose time is not known yet.
   */
  readonly upTo: Micros | undefined
  /** Waiting does not yield a later time, because the time depends on another process that does not respond. */
  readonly isHalted?: boolean
}

export interface Announcement {
  /** If another commit uses this time first, the commit gets a later time. */
  readonly time: Micros
  /** Must be called once, when the commit is visible or has failed. */
  end(): void
}

/** Minimum distance of two commits in microseconds. */
export const commitDistance = 2

/** The announcements of one process. */
export class AnnouncedCommits {
  /** Announcements in the order of their times. */
  readonly #open = new Set<Announcement>()
  readonly #publish: (oldest: Micros | undefined) => void
  #newest = epoch

  /**
   * `publish` gets a time that is not later than any open commit, or {@link endOfTime} if no commit is open. Before the
   * first open commit determines its time, `publish` gets undefined.
   */
  constructor(publish: (oldest: Micros | undefined) => void = () => {}) {
    this.#publish = publish
  }

  /** {@link endOfTime} if no commit is open. */
  get oldest(): Micros {
    for (const { time } of this.#open) return time
    return endOfTime
  }

  /** {@link endOfTime} if there is no such commit. */
  oldestAfter(time: Micros): Micros {
    for (const announced of this.#open) if (announced.time > time) return announced.time
    return endOfTime
  }

  /** Reads `clock` after the announcement is visible to the other processes. */
  begin(atLeast: Micros, clock: () => Micros): Announcement {
    const isFirst = this.#open.size === 0
    if (isFirst) this.#publish(undefined)
    const time = Math.max(atLeast, micros(this.#newest + commitDistance), micros(clock() + 1))
    this.#newest = time
    // While other commits are open, the published time is earlier than the time of this commit, so it need not change.
    if (isFirst) this.#publish(time)
    const announcement: Announcement = {
      time,
      end: () => {
        this.#open.delete(announcement)
        if (this.#open.size === 0) this.#publish(endOfTime)
      },
    }
    this.#open.add(announcement)
    return announcement
  }
}

/**
 * The timeline of a store that only one process uses. When the clock steps back, the time does not advance until the
 * clock catches up.
 */
export function localTimeline(clock: () => Micros): Timeline {
  const commits = new AnnouncedCommits()
  let latest = epoch
  const now = () => {
    latest = Math.max(latest, clock())
    return latest
  }
  return {
    now,
    announce: atLeast => commits.begin(atLeast, now),
    reach: () => {
      const time = now()
      return { now: time, upTo: Math.min(time, micros(commits.oldest - 1)) }
    },
  }
}

/** The offset is compared with the time of day at this interval. */
const adjustIntervalMs = 500

const numberBytes = 8
/**
 * Byte offsets of the numbers in the file: first the offset of the clock, then the oldest announced commit of each
 * process ({@link announcing}, or 0 for none), then the newest snapshot time of each process.
 */
const offsetAt = 0
const announcementAt = (process: number) => (1 + process) * numberBytes
/** A commit is announced, but its time is not yet written: these are two writes. */
const announcing = -1
/**
 * After this number of reads of `announcing`, the operating system has probably preempted the process, and the reader
 * has to wait.
 */
const readsMax = 50

/**
 * The timeline of a store that several processes of one machine share, through a file of a few numbers. The file is
 * read and written in place, which takes a microsecond: it stays in the page cache and is never flushed. All processes
 * use one clock: the machine's monotonic clock plus an offset in the file. One process adjusts the offset so that the
 * sum follows the time of day. The offset only grows, so the time never steps back. A reader reads the monotonic clock
 * first, then the offset and the announcements in one read. So a later reader never gets an earlier time.
 *
 * If several nodes (services on different machines) share a store, their processes use the clock of the database
 * (storage/postgres/record-clock.ts). The file then contains only the times that the processes of a node have used for
 * snapshots.
 *
 * Creates the file for processes 0 to `processes` - 1. Adjusts the offset until the returned function is called. Must
 * be called before any process opens the file.
 */
export function maintainSharedTimeline(
  file: string,
  processes: number,
  wallClock: () => number,
  timers: Timers,
): Cancel {
  const numbers = new SharedNumbers(file, 'w+', processes)
  const maintain = () => {
    const offset = wallClock() - steadyMicros()
    if (offset > numbers.offset) numbers.write(offsetAt, offset)
    numbers.read()
  }
  maintain()
  for (let index = 1; index <= 2 * processes; index++) numbers.write(index * numberBytes, 0)
  const cancel = timers.every(adjustIntervalMs, maintain)
  return () => {
    cancel()
    numbers.close()
  }
}

/**
 * `worker`: the number of this process. Deletes the announcements of its predecessor with this number, whose commits
 * have ended. A process may open the file even after it has taken the store's write lock.
 */
export function openSharedTimeline(file: string, worker: number): Timeline & { close(): void } {
  const numbers = new SharedNumbers(file, 'r+', fileProcesses(file))
  const own = announcementAt(worker)
  numbers.write(own, 0)
  numbers.read()
  const now = () => numbers.timeAt(steadyMicros())
  const commits = new AnnouncedCommits(oldest => {
    numbers.write(own, oldest === undefined ? announcing : oldest === endOfTime ? 0 : oldest)
  })
  /** Reads the newest offset first, so the time is not earlier than any result of `now` in another process. */
  const newestNow = () => {
    numbers.read()
    return now()
  }
  return {
    now,
    announce: atLeast => commits.begin(atLeast, newestNow),
    reach() {
      const steady = steadyMicros()
      for (let reads = 0; reads < readsMax; reads++) {
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

function fileProcesses(file: string): number {
  return (statSync(file).size / numberBytes - 1) / 2
}

/** The newest time that any process of a node has used for a snapshot. */
export interface UsedSnapshotTimes {
  newest(): Micros
  /** Must not be earlier than {@link newest}. */
  note(time: Micros): void
}

/** `worker`: the number of this process. */
export function openSnapshotTimes(file: string, worker: number): UsedSnapshotTimes & { close(): void } {
  const processes = fileProcesses(file)
  const numbers = new SharedNumbers(file, 'r+', processes)
  const own = (1 + processes + worker) * numberBytes
  return {
    newest() {
      numbers.read()
      return numbers.newestSnapshot
    },
    note: time => numbers.write(own, time),
    close: () => numbers.close(),
  }
}

/** The numbers in the file, as of the last {@link read}. */
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

  timeAt(steady: number): Micros {
    return micros(Math.floor(this.offset + steady))
  }

  /** {@link endOfTime} if no commit is announced, undefined while a process is {@link announcing}. */
  get oldestAnnounced(): Micros | undefined {
    let oldest = endOfTime
    for (let index = 1; index <= this.#processes; index++) {
      const time = this.#seen[index] as number
      if (time === announcing) return undefined
      if (time > 0 && time < oldest) oldest = micros(time)
    }
    return oldest
  }

  get newestSnapshot(): Micros {
    return micros(Math.max(...this.#seen.subarray(1 + this.#processes)))
  }

  read(): void {
    readSync(this.#descriptor, this.#seenBytes, 0, this.#seenBytes.length, 0)
  }

  write(at: number, number: number): void {
    this.#written[0] = number
    writeSync(this.#descriptor, this.#writtenBytes, 0, numberBytes, at)
  }

  close(): void {
    closeSync(this.#descriptor)
  }
}

/**
 * Returns the time of a clock that is equal in all processes, unlike `performance.now()`, which counts from the start
 * of each process.
 */
function steadyMicros(): number {
  const [seconds, nanos] = process.hrtime()
  return seconds * 1e6 + nanos / 1e3
}
