// What writers and readers of one store must agree on about time, so that a snapshot of time S holds every commit up
// to S and no later commit gets a time up to S.
//
// A commit gets a time to begin with before it is evaluated, and becomes visible only when it is durable. So a writer
// announces that a commit is on its way, then reads the clock: the commit's time is later. A reader reads the clock,
// then the announcements, and only then takes its snapshot. If it missed an announcement, its time lies before that
// commit's. If it saw one, only what was certain before is certain: times before the oldest announcement, and the
// moment behind the newest commit that it sees, for a commit is always at least two later than the one before it.
//
// All processes read one clock, and an announcement names the very time of its commit, which is later than any time that a
// reader took from the clock before. So the times of snapshots do not go back, whichever process takes them.

import { endOfTime, epoch, type Micros, micros } from './micros.ts'

export interface Timeline {
  /** The time of day; never steps back. */
  now(): Micros
  /**
   * How far time has come for a snapshot that is taken after this call; later than `after` where the timeline knows that to be
   * certain.
   */
  reach(after?: Micros): Reach
  /**
   * Announces a commit. Its time is at least `atLeast`, after all that {@link now} returned before, in any process, and
   * two or more after the one this process announced before it.
   */
  announce(atLeast: Micros): Announcement
  /** Under the writer's lock, where machines share a store: a time that no further commit may come up to. */
  closed?(): Micros
}

/** What a reader learns of time before it takes its snapshot. */
export interface Reach {
  /** The time of day. */
  readonly now: Micros
  /**
   * Before the times of all commits on their way, of any process, and not after the time of day. It does not go back, in no
   * process. Undefined: another process is about to announce a commit, of a time that is not known yet.
   */
  readonly upTo: Micros | undefined
  /** No later time can be had by waiting: another process or machine decides about it, and does not answer now. */
  readonly isHalted?: boolean
}

/** A commit on its way. */
export interface Announcement {
  /** Its time, if no other commit has come up to that before it. */
  readonly time: Micros
  /** To be called once, when the commit is visible or has come to nothing. */
  end(): void
}

/** The least distance between the times of two commits that follow each other. */
export const commitDistance = 2

/** The commits that one process has on their way. */
export class AnnouncedCommits {
  /** In the order of their times. */
  readonly #open = new Set<Announcement>()
  readonly #announced: (oldest: Micros | undefined) => void
  #newest = epoch

  /**
   * `announced` gets the oldest time still open, or {@link endOfTime}, before anything relies on it; undefined while the time of
   * the first one is being found.
   */
  constructor(announced: (oldest: Micros | undefined) => void = () => {}) {
    this.#announced = announced
  }

  /** A time at or before all that are open; {@link endOfTime} when none is. */
  get oldest(): Micros {
    for (const { time } of this.#open) return time
    return endOfTime
  }

  /** The oldest open time behind `time`; {@link endOfTime} when there is none. */
  oldestBehind(time: Micros): Micros {
    for (const announced of this.#open) if (announced.time > time) return announced.time
    return endOfTime
  }

  /** Announces a commit; `clock` is read when the others can see that. */
  begin(atLeast: Micros, clock: () => Micros): Announcement {
    const isFirst = this.#open.size === 0
    if (isFirst) this.#announced(undefined)
    const time = Math.max(atLeast, micros(this.#newest + commitDistance), micros(clock() + 1))
    this.#newest = time
    // While others are open, the oldest time published holds for this one as well.
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

/** The timeline of a store that one process has to itself. A clock that steps back stands still meanwhile. */
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
