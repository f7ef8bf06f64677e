// What writers and readers of one store must agree on about time, so that a snapshot of time S holds every commit up
// to S and no later commit gets a time up to S.
//
// A commit has its time before it is visible, and it becomes visible only when it is durable. So a writer announces
// the earliest time its commit may have, then asks for the time of day; a reader asks for the time of day, looks at
// the announcement and only then takes its snapshot. If the reader missed the announcement, its time of day lies
// before the writer's; if it saw it and the snapshot lacks the commit, the announcement bounds its time.

/** Times are microseconds since the Unix epoch. */
export interface Timeline {
  /** The time of day; never steps back. */
  now(): number
  /** The earliest time of the commits that were announced last; 0 when they were taken back. */
  announced(): number
  /** Announces commits at `from` or later. Answers a time after all that {@link now} answered before, anywhere. */
  announce(from: number): number
  /** Takes an announcement back: nothing was written. */
  retract(): void
}

/** The timeline of a store that one process has to itself. A clock that steps back stands still meanwhile. */
export function localTimeline(clock: () => number): Timeline {
  let announced = 0
  let newest = 0
  const now = () => {
    newest = Math.max(newest, clock())
    return newest
  }
  return {
    now,
    announced: () => announced,
    announce(from) {
      announced = from
      return now()
    },
    retract() {
      announced = 0
    },
  }
}
