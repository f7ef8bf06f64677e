// A read of a set: the session, the time whose state is read, and the costs.

import { upsert } from '../../base/upsert.ts'
import type { Session } from '../session.ts'

/** The costs of reading one stored set. */
interface Meter {
  /** Identifies this read among the reads of a query. */
  readonly key: string
  readonly partitions: number
  bytes: number
}

/** Bytes charged for a read that finds nothing: about the size of the key that was searched for. */
const emptyReadBytes = 19

export class Reading {
  readonly session: Session
  /** The time whose state is read. If undefined, the current state is read, including the transaction's own writes. */
  readonly at: number | undefined
  /** The treatment of index entries whose documents the caller may not read. */
  readonly hidden: 'left out' | 'shown'
  readonly #meters: Map<string, Meter>
  /** For each stored set, the number of its occurrences in the set that is read. */
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

  /** Begins a read at the session's valid time. */
  static begin(session: Session, hidden: Reading['hidden'] = 'left out'): Reading {
    return new Reading(session, session.validTime, hidden)
  }

  /** The meters and the numbers of occurrences. Readings that `asOf` returns use the same counts. */
  protected get counts(): [Map<string, Meter>, Map<string, number>] {
    return [this.#meters, this.#parts]
  }

  /** Returns a Reading of the same set as of another time. Both readings count their costs together. */
  asOf(at: number | undefined): Reading {
    return new Reading(this.session, at, this.hidden, ...this.counts)
  }

  /**
   * Returns a name for one more occurrence of a stored set. If a combined set contains the same stored set twice, the
   * stored set is read twice.
   */
  part(set: string): string {
    const occurrence = (this.#parts.get(set) ?? 0) + 1
    this.#parts.set(set, occurrence)
    return `${set} #${occurrence}`
  }

  /**
   * Yields the items of the stored set that `key` names, converted by `view`. Counts bytes and items, and enforces the
   * limits. If `view` returns undefined, the item is counted but not yielded.
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
   * Counts the bytes that were read of each stored set. `what` names the part that was read, such as `all` or `first`.
   * If a query reads the same part of a set several times as of the same time, the query pays once.
   */
  finish(what: string): void {
    for (const { key, bytes, partitions } of this.#meters.values()) {
      if (bytes === 0) this.session.transaction.counters.readBytes += emptyReadBytes
      this.session.countRead(`${key} ${what} @${this.at ?? ''}`, bytes, partitions)
    }
    this.#meters.clear()
  }
}
