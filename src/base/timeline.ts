// What writers and readers of one store must agree on about time, so that a snapshot of time S holds every commit up
// to S and no later commit gets a time up to S.
//
// A commit gets a time to begin with before it is evaluated, and becomes visible only when it is durable. So a writer
// announces that a commit is on its way, then reads the clock: the commit's time is later. A reader reads the clock,
// then the announcements, and only then takes its snapshot. If it missed an announcement, its time lies before that
// commit's. If it saw one, only what was certain before is certain: times before the oldest announcement, and the
// moment behind the newest commit that it sees, for a commit is always at least two later than the one before it.

import { endOfTime, epoch, type Micros, micros } from './micros.ts'

export interface Timeline {
  /** The time of day; never steps back. */
  now(): Micros
  /**
   * Announces a commit. Its time is at least `atLeast`, after all that {@link now} returned before, in any process, and
   * two or more after the one this process announced before it.
   */
  announce(atLeast: Micros): Announcement
  /** A time at or before those of all commits on their way, of any process; {@link endOfTime} when there are none. */
  oldestAnnounced(): Micros
  /** Under the writer's lock, where machines share a store: a time that no further commit may come up to. */
  closed?(): Micros
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
  readonly #announced: (oldest: Micros) => void
  #newest = epoch
  #published = endOfTime

  /** `announced` gets the oldest time still open, or {@link endOfTime}, before anything relies on it. */
  constructor(announced: (oldest: Micros) => void = () => {}) {
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
    const floor = Math.max(atLeast, micros(this.#newest + commitDistance))
    this.#publish(Math.min(this.oldest, floor))
    const time = Math.max(floor, micros(clock() + 1))
    this.#newest = time
    const announcement: Announcement = {
      time,
      end: () => {
        this.#open.delete(announcement)
        // While others are open, the oldest time published holds for them as well.
        if (this.#open.size === 0) this.#publish(endOfTime)
      },
    }
    this.#open.add(announcement)
    return announcement
  }

  #publish(oldest: Micros): void {
    if (oldest === this.#published) return
    this.#published = oldest
    this.#announced(oldest)
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
    oldestAnnounced: () => commits.oldest,
  }
}
