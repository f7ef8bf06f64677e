// The agreement of writers and readers of one store about time: a snapshot at time S contains every commit up to S, and
// no later commit gets a time up to S.
//
// A commit gets a provisional time before it is evaluated, and becomes visible only when it is durable. So a writer
// first announces the commit and then reads the clock: the commit's time is later than that reading. A reader reads the
// clock, then the announcements, and only then takes its snapshot. If the reader missed an announcement, its time is
// before that commit's time. If the reader saw an announcement, its snapshot may use two times: a time before the
// oldest announcement, or the time directly after the newest visible commit. The latter is safe because commits are at
// least two microseconds apart.
//
// All processes read one clock. The time of an announcement is the time of its commit, and later than any time that a
// reader took from the clock before. So snapshot times never go back, in any process.

import { endOfTime, epoch, type Micros, micros } from './micros.ts'

export interface Timeline {
  /** The time of day; never steps back. */
  now(): Micros
  /**
   * Returns the times that a snapshot taken after this call may have. If the timeline can determine a time later than
   * `after`, it returns such a time.
   */
  reach(after?: Micros): Reach
  /**
   * Announces a commit. Its time is at least `atLeast`, later than every result of {@link now} in any process, and at
   * least {@link commitDistance} later than the previous announcement of this process.
   */
  announce(atLeast: Micros): Announcement
  /**
   * Returns a time that every later commit will exceed. The caller holds the writer's lock. Only timelines of stores that
   * several machines share have this method.
   */
  closed?(): Micros
}

/** The times that a reader may use, read before it takes its snapshot. */
export interface Reach {
  /** The time of day. */
  readonly now: Micros
  /**
   * Earlier than every commit in progress in any process, and not after the time of day. It never goes back, in any
   * process. Undefined while another process is announcing a commit whose time is not known yet.
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
  /** Ordered by time. */
  readonly #open = new Set<Announcement>()
  readonly #announced: (oldest: Micros | undefined) => void
  #newest = epoch

  /**
   * `announced` publishes the oldest open time, or {@link endOfTime} when no commit is open. It is called before any code
   * uses that time. It is called with undefined while the time of the first open commit is being determined.
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
