// One reading of a set: the time it looks at, what it has cost, and who asks.

import { upsert } from '../../base/upsert.ts'
import type { Session } from '../session.ts'

/** What one stored set was read for in the course of a reading. */
interface Meter {
  /** Tells the reads of one query apart. */
  readonly key: string
  readonly partitions: number
  bytes: number
}

/** Bytes that a reading which finds nothing costs, about those of the key that it looks for. */
const emptyReadBytes = 19

export class Reading {
  readonly session: Session
  /** The time whose state is read; undefined is now, with the transaction's own writes. */
  readonly at: number | undefined
  /** Whether entries of an index show whose documents the caller may not read. */
  readonly hidden: 'left out' | 'shown'
  readonly #meters: Map<string, Meter>
  /** How often each stored set stands in the set that is read. */
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

  /** Begins a reading at the time that the session looks at. */
  static begin(session: Session, hidden: Reading['hidden'] = 'left out'): Reading {
    return new Reading(session, session.validTime, hidden)
  }

  /** What readings share that are parts of one. */
  protected get counts(): [Map<string, Meter>, Map<string, number>] {
    return [this.#meters, this.#parts]
  }

  /** The same reading looking at another time. */
  lookingAt(at: number | undefined): Reading {
    return new Reading(this.session, at, this.hidden, ...this.counts)
  }

  /** A name for one more occurrence of a stored set: a set made of the same one twice is read twice. */
  part(set: string): string {
    const occurrence = (this.#parts.get(set) ?? 0) + 1
    this.#parts.set(set, occurrence)
    return `${set} #${occurrence}`
  }

  /** What is read from storage for the set named `key`, as `view` shows it, measured and limited; what that leaves out counts, too. */
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

  /** Counts what was read, unless this query has made the same reading (`what` names it) before. */
  finish(what: string): void {
    for (const { key, bytes, partitions } of this.#meters.values()) {
      if (bytes === 0) this.session.transaction.counters.readBytes += emptyReadBytes
      this.session.countRead(`${key} ${what} @${this.at ?? ''}`, bytes, partitions)
    }
    this.#meters.clear()
  }
}
