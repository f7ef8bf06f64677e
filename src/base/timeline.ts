// The agreement of writers and readers of one store about time: a snapshot at time S contains every commit up to S, and
// no commit after the snapshot gets a time up to S.
//
// A commit gets a provisional time before it is evaluated, and becomes visible only when it is durable. So a writer
// first announces the commit and then reads the clock: the commit's time is later than the clock reading. A reader
// reads the clock, then the announcements, and only then takes its snapshot. If the reader missed an announcement, its
// clock reading is before the time of that commit. If the reader saw an announcement, its snapshot may have one of two
// times: a time before the oldest announcement, or the time directly after the newest visible commit. The second time
// is safe because commits are at least two microseconds apart.
//
// All processes read one clock. An announcement has the same time as its commit. This time is later than every time
// that a reader read from the clock before the announcement. So snapshot times never go back, in any process. Several
// processes of one machine share a timeline through a file.

import { closeSync, openSync, readSync, statSync, writeSync } from 'node:fs'
import { endOfTime, epoch, type Micros, micros } from './micros.ts'
import type { Cancel, Timers } from './timers.ts'

export interface Timeline {
  /** The time of day; never steps back. */
  now(): Micros
  /**
   * Returns the times that a snapshot taken after this call may have. `upTo` is later than `after`, if the timeline can
   * determine such a time.
   */
  reach(after?: Micros): Reach
  /**
   * Announces a commit. The time of the commit is at least `atLeast`, and later than every result of {@link now} in any
   * process. The time is also at least {@link commitDistance} later than the previous announcement of this process.
   */
  announce(atLeast: Micros): Announcement
  /**
   * Returns a time that every later commit will exceed. The caller holds the writer's lock. Only timelines of stores
   * that several machines share have this method.
   */
  closed?(): Micros
}

/** The times that a snapshot may have. A reader gets these times before it takes its snapshot. */
export interface Reach {
  /** The time of day. */
  readonly now: Micros
  /**
   * A snapshot may have this time. This time is earlier than every commit in progress in any process, and not after the
   * time of day. Later calls never return an earlier time, in any process. Undefined while another process is
   * announcing a commit whose time is not known yet.
   */
  readonly upTo: Micros | undefined
  /** True if waiting does not yield a later time, because the time depends on another process that does not respond. */
  readonly isHalted?: boolean
}

/** An announced commit in progress. */
export interface Announcement {
  /** The planned time of the commit. If another commit takes this time first, the commit gets a later time. */
  readonly time: Micros
  /** Call once, when the commit is visible or has failed. */
  end(): void
}

/** The smallest distance between the times of two consecutive commits, in microseconds. */
export const commitDistance = 2

/** The announced commits of one process. */
export class AnnouncedCommits {
  /** The announced commits that have not ended, ordered by time. */
  readonly #open = new Set<Announcement>()
  readonly #announced: (oldest: Micros | undefined) => void
  #newest = epoch

  /**
   * `announced` publishes the oldest time of an open commit, or {@link endOfTime} when no commit is open. `announced`
   * is called before any code uses the published time. It is called with undefined before the time of the first open
   * commit is determined.
   */
  constructor(announced: (oldest: Micros | undefined) => void = () => {}) {
    this.#announced = announced
  }

  /** The oldest open time; {@link endOfTime} when no commit is open. */
  get oldest(): Micros {
    for (const { time } of this.#open) return time
    return endOfTime
  }

  /** The oldest open time after `time`; {@link endOfTime} when there is none. */
  oldestAfter(time: Micros): Micros {
    for (const announced of this.#open) if (announced.time > time) return announced.time
    return endOfTime
  }

  /** Announces a commit. `clock` is read after the announcement is visible to the other processes. */
  begin(atLeast: Micros, clock: () => Micros): Announcement {
    const isFirst = this.#open.size === 0
    if (isFirst) this.#announced(undefined)
    const time = Math.max(atLeast, micros(this.#newest + commitDistance), micros(clock() + 1))
    this.#newest = time
    // While other commits are open, the published oldest time is valid for this commit as well.
    if (isFirst) this.#announced(time)
    const announcement: Announcement = {
      time,
      end: () => {
        this.#open.delete(announcement)
        if (this.#open.size === 0) this.#announced(endOfTime)
      },
    }
    this.#open.add(announcement)
    return announcement
  }
}

/**
 * The timeline of a store that only one process uses. When the clock steps back, this timeline stands still until the
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

// The timeline of a store that several processes of one machine share. The processes see each other's announcements
// through a file of a few numbers. The file is read and written in place, which takes a microsecond: the file stays in
// the page cache and is never flushed. All processes use one clock: the machine's monotonic clock, which all processes
// share, plus an offset in the file. One process adjusts the offset so that the sum follows the time of day. The offset
// only grows, so the time never steps back. A reader reads the monotonic clock first, then the offset and the
// announcements in one read. So a later reader never gets an earlier time.
//
// If several nodes share a store, the processes of a node have no clock of their own
// (storage/kv/postgres/record-clock.ts). The processes of such a node store in the file only the times that they have
// given to snapshots.

/** Interval at which the offset is compared with the time of day, in milliseconds. */
const keepIntervalMs = 500

const numberBytes = 8
/**
 * Layout of the file. First the offset. Then for each process the time of its oldest announced commit, 0 if it has
 * announced none, or {@link announcing}. Then for each process the newest time that it has given to a snapshot.
 */
const offsetPlace = 0
const announcementPlace = (process: number) => (1 + process) * numberBytes
/**
 * The process has announced a commit but has not yet written its time. The announcement and the time are two writes to
 * the file.
 */
const announcing = -1
/**
 * How often a reader re-reads the file while a process is `announcing`. If the system has preempted the process in this
 * state, the reader gets no time from the file and has to wait.
 */
const looksMax = 50

/**
 * Creates the file for processes 0 to `processes` - 1, and adjusts its offset until the returned function is called.
 * Call this function before any process opens the file.
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
 * Opens the timeline in a file that another process has created, as the process numbered `worker`. Deletes the
 * announcements of the previous process with this number: its commits cannot still be in progress. A process may open
 * the file late, even while it already holds the writer's lock.
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
    // The offset may have grown since it was last read.
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

/** The number of processes for which a file was created. */
function fileProcesses(file: string): number {
  return (statSync(file).size / numberBytes - 1) / 2
}

/** The times that the processes of a node have given to snapshots. */
export interface SnapshotTimes {
  /** The newest time of all processes. */
  newest(): Micros
  /** Records a time that this process has given. The time must not be earlier than {@link newest}. */
  note(time: Micros): void
}

/** Opens the snapshot times in a file that another process has created, as the process numbered `worker`. */
export function openSnapshotTimes(file: string, worker: number): SnapshotTimes & { close(): void } {
  const processes = fileProcesses(file)
  const numbers = new SharedNumbers(file, 'r+', processes)
  const own = (1 + processes + worker) * numberBytes
  return {
    newest() {
      numbers.read()
      return numbers.newestAssigned
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

  /** The time of day when the monotonic clock is at `steady` microseconds. */
  timeAt(steady: number): Micros {
    return micros(Math.floor(this.offset + steady))
  }

  /**
   * The oldest announced time; {@link endOfTime} when there is none, undefined while a process is {@link announcing}.
   */
  get oldestAnnounced(): Micros | undefined {
    let oldest = endOfTime
    for (let place = 1; place <= this.#processes; place++) {
      const time = this.#seen[place] as number
      if (time === announcing) return undefined
      if (time > 0 && time < oldest) oldest = micros(time)
    }
    return oldest
  }

  get newestAssigned(): Micros {
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
 * The machine's monotonic clock in microseconds, which is the same in all processes. `performance.now()` differs: it
 * counts from the start of each process.
 */
function steadyMicros(): number {
  const [seconds, nanos] = process.hrtime()
  return seconds * 1e6 + nanos / 1e3
}
