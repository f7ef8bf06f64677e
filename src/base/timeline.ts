// What writers and readers of one store must agree on about time, so that a snapshot of time S holds every commit up
// to S and no later commit gets a time up to S.
//
// A commit has its time before it is visible, and it becomes visible only when it is durable. So a writer announces
// a time that its commit has at the earliest and no earlier commit has, then asks for the time of day; a reader asks
// for the time of day, looks at the announcement and only then takes its snapshot. If the reader missed the
// announcement, its time of day lies before the writer's; if it saw one that is later than the newest commit in its
// snapshot, that commit is on its way, and only what was certain before is certain.

/** Times are microseconds since the Unix epoch. */
export interface Timeline {
  /** The time of day; never steps back. */
  now(): number
  /** What was announced last. */
  announced(): number
  /** The oldest announcement that the one last answered by {@link announced} stands for. */
  oldestAnnounced(): number
  /**
   * Announces a commit at `newest` or later, behind others from `oldest` on that may not be visible yet; an earlier
   * value takes back what came to nothing. Answers a time after all that {@link now} answered before, anywhere.
   */
  announce(oldest: number, newest: number): number
}

/** The timeline of a store that one process has to itself. A clock that steps back stands still meanwhile. */
export function localTimeline(clock: () => number): Timeline {
  let announced = { oldest: 0, newest: 0 }
  let latest = 0
  const now = () => {
    latest = Math.max(latest, clock())
    return latest
  }
  return {
    now,
    announced: () => announced.newest,
    oldestAnnounced: () => announced.oldest,
    announce(oldest, newest) {
      announced = { oldest, newest }
      return now()
    },
  }
}
