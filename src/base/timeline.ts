// What writers and readers of one store must agree on about time, so that a snapshot of time S holds every commit up
// to S and no later commit gets a time up to S.
//
// A commit gets a time to begin with before it is evaluated, and becomes visible only when it is durable. So a writer
// announces that a commit is on its way, then reads the clock: the commit's time is later. A reader reads the clock,
// then the announcements, and only then takes its snapshot. If it missed an announcement, its time lies before that
// commit's. If it saw one, only what was certain before is certain: times before the oldest announcement, and the
// moment behind the newest commit that it sees, for a commit is always at least two later than the one before it.

/** Times are microseconds since the Unix epoch. */
export interface Timeline {
  /** The time of day; never steps back. */
  now(): number
  /**
   * Announces a commit. Its time is at least `atLeast`, after all that {@link now} returned before, in any process, and
   * two or more after the one this process announced before it.
   */
  announce(atLeast: number): Announcement
  /** A time at or before those of all commits on their way, of any process; Infinity when there are none. */
  oldestAnnounced(): number
  /** Under the writer's lock, where machines share a store: a time that no further commit may come up to. */
  closed?(): number
}

/** A commit on its way. */
export interface Announcement {
  /** Its time, if no other commit has come up to that before it. */
  readonly time: number
  /** To be called once, when the commit is visible or has come to nothing. */
  end(): void
}

/** The least distance between the times of two commits that follow each other. */
export const commitDistance = 2

/** The commits that one process has on their way. */
export class AnnouncedCommits {
  /** In the order of their times. */
  readonly #open = new Set<Announcement>()
  readonly #announced: (oldest: number) => void
  #newest = 0
  #told = Number.POSITIVE_INFINITY

  /** `announced` is told the oldest time still open, or Infinity, before anything relies on it. */
  constructor(announced: (oldest: number) => void = () => {}) {
    this.#announced = announced
  }

  /** A time at or before all that are open; Infinity when none is. */
  get oldest(): number {
    for (const { time } of this.#open) return time
    return Number.POSITIVE_INFINITY
  }

  /** The oldest open time behind `time`; Infinity when there is none. */
  oldestBehind(time: number): number {
    for (const announced of this.#open) if (announced.time > time) return announced.time
    return Number.POSITIVE_INFINITY
  }

  /** Announces a commit; `clock` is read when the others can see that. */
  begin(atLeast: number, clock: () => number): Announcement {
    const floor = Math.max(atLeast, this.#newest + commitDistance)
    this.#tell(Math.min(this.oldest, floor))
    const time = Math.max(floor, clock() + 1)
    this.#newest = time
    const announcement: Announcement = {
      time,
      end: () => {
        this.#open.delete(announcement)
        // While others are open, the oldest time told holds for them as well.
        if (this.#open.size === 0) this.#tell(Number.POSITIVE_INFINITY)
      },
    }
    this.#open.add(announcement)
    return announcement
  }

  #tell(oldest: number): void {
    if (oldest === this.#told) return
    this.#told = oldest
    this.#announced(oldest)
  }
}

/** The timeline of a store that one process has to itself. A clock that steps back stands still meanwhile. */
export function localTimeline(clock: () => number): Timeline {
  const commits = new AnnouncedCommits()
  let latest = 0
  const now = () => {
    latest = Math.max(latest, clock())
    return latest
  }
  return {
    now,
    announce: atLeast => commits.begin(atLeast, now),
    oldestAnnounced: () => commits.oldest,
  }
}
