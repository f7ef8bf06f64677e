// A read of a set: the session, the time of the read, and the costs.

import { upsert } from '../../base/upsert.ts'
import type { Session } from '../session.ts'

interface Meter {
  readonly key: string
  readonly partitions: number
  bytes: number
}

interface Counts {
  readonly meters: Map<string, Meter>
  /** How often each stored set occurs in the set that is read. */
  readonly occurrences: Map<string, number>
}

/** Bytes that are counted for a read without a result: about the size of the searched key. */
const emptyReadBytes = 19

export class Reading {
  readonly session: Session
  /** If undefined, the current state is read, including the writes of the transaction. */
  readonly at: number | undefined
  /** Results of {@link asOf} share these counts. */
  protected readonly counts: Counts

  constructor(session: Session, at: number | undefined, counts?: Counts) {
    this.session = session
    this.at = at
    this.counts = counts ?? { meters: new Map(), occurrences: new Map() }
  }

  /** Reads the same set at another time, and shares the counts. */
  asOf(at: number | undefined): Reading {
    return new Reading(this.session, at, this.counts)
  }

  /**
   * A key for the next occurrence of a stored set, which is read and counted twice if it occurs twice in a combined
   * set.
   */
  part(set: string): string {
    const occurrence = (this.counts.occurrences.get(set) ?? 0) + 1
    this.counts.occurrences.set(set, occurrence)
    return `${set} #${occurrence}`
  }

  /**
   * Yields the items of the stored set `key`, converted by `view`. Counts bytes and items, and checks the limits. An
   * item for which `view` returns undefined is counted and skipped.
   */
  *measured<T, R>(
    key: string,
    partitions: number,
    items: Iterable<T>,
    view: (item: T) => R | undefined,
  ): Generator<R> {
    const meter = upsert(this.counts.meters, key, () => ({ key, partitions, bytes: 0 }))
    const { counters } = this.session.transaction
    const iterator = items[Symbol.iterator]()
    try {
      for (;;) {
        const before = counters.readBytes
        const next = iterator.next()
        meter.bytes += counters.readBytes - before
        if (next.done) return
        this.session.countElement()
        const viewed = view(next.value)
        if (viewed !== undefined) yield viewed
      }
    } finally {
      iterator.return?.()
    }
  }

  /**
   * Counts the read operations for each stored set. `what` names the part of the set that was read, such as `all` or
   * `first`. Repeated reads of the same part with the same time `at` are counted once.
   */
  finish(what: string): void {
    for (const { key, bytes, partitions } of this.counts.meters.values()) {
      if (bytes === 0) this.session.transaction.counters.readBytes += emptyReadBytes
      this.session.countRead(`${key} ${what} @${this.at ?? ''}`, bytes, partitions)
    }
    this.counts.meters.clear()
  }
}
