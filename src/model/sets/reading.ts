// A read of a set: its valid time, its costs and its session.

import { upsert } from '../../base/upsert.ts'
import type { Session } from '../session.ts'

/** The costs of one stored set in a reading. */
interface Meter {
  /** Identifies a read within a query. */
  readonly key: string
  readonly partitions: number
  bytes: number
}

/** Bytes charged for a reading that finds nothing: about the bytes of the key that was searched for. */
const emptyReadBytes = 19

export class Reading {
  readonly session: Session
  /** The time whose state is read; undefined is now, with the transaction's own writes. */
  readonly at: number | undefined
  /** The treatment of index entries whose documents the caller may not read. */
  readonly hidden: 'left out' | 'shown'
  readonly #meters: Map<string, Meter>
  /** The number of occurrences of each stored set in the set that is read. */
  readonly #parts: Map<string, number>

  constructor(
    session: Session,
    at: number | undefined,
    hidden: Reading['hidden'],
    meters: Map<string, Meter> = new Map(),
    parts: Map<string, number> = new Map(),
  ) {
    this.session = session
    this.at = at
    this.hidden = hidden
    this.#meters = meters
    this.#parts = parts
  }

  /** Begins a reading at the session's valid time. */
  static begin(session: Session, hidden: Reading['hidden'] = 'left out'): Reading {
    return new Reading(session, session.validTime, hidden)
  }

  /** The counts that a reading shares with the readings derived from it (`asOf`). */
  protected get counts(): [Map<string, Meter>, Map<string, number>] {
    return [this.#meters, this.#parts]
  }

  /** The same reading as of another time. */
  asOf(at: number | undefined): Reading {
    return new Reading(this.session, at, this.hidden, ...this.counts)
  }

  /**
   * Returns a name for one more occurrence of a stored set. A combined set that contains the same stored set twice also
   * reads the stored set twice.
   */
  part(set: string): string {
    const occurrence = (this.#parts.get(set) ?? 0) + 1
    this.#parts.set(set, occurrence)
    return `${set} #${occurrence}`
  }

  /**
   * Yields the items of the stored set named `key`, converted by `view`. Counts bytes and items, and enforces the
   * limits. Items for which `view` returns undefined are counted, but not yielded.
   */
  *measured<T, R>(
    key: string,
    partitions: number,
    items: Iterable<T>,
    view: (item: T) => R | undefined,
  ): Generator<R> {
    const meter = upsert(this.#meters, key, () => ({ key, partitions, bytes: 0 }))
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
   * Counts the read bytes of each stored set. `what` names the part that was read, such as `all` or `first`. If a query
   * reads the same part of a set several times at one read time, it pays once.
   */
  finish(what: string): void {
    for (const { key, bytes, partitions } of this.#meters.values()) {
      if (bytes === 0) this.session.transaction.counters.readBytes += emptyReadBytes
      this.session.countRead(`${key} ${what} @${this.at ?? ''}`, bytes, partitions)
    }
    this.#meters.clear()
  }
}
