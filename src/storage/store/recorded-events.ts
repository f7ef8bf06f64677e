// Computes the events of an index's entries from the change record (change-log.ts): compares the entries of each
// written version with those of the previous version. The cost depends on the number of changes in the collection, not
// on the size of the set (the entries with the same terms).
//
// If a transaction inserts a version into the past, the change is recorded at the time of the transaction. Such a
// version has an expiry mark at its own time (expiry-marks.ts), so the expiry marks are read, too.

import type { CpuBudget } from '../../base/admission/time-budget.ts'
import { step } from '../../base/effort.ts'
import { limits } from '../../base/limits.ts'
import { mergeJoin } from '../../base/merge-join.ts'
import { epoch, micros } from '../../base/micros.ts'
import { compareBytes } from '../../values/order.ts'
import { type CollectionId, firstUserCollection, type Micros, type Ref } from '../../values/value.ts'
import { indexEventKey } from '../keys/keyspace.ts'
import type { KeyInterval } from '../keys/prefix.ts'
import type { Bytes, Entry } from '../kv/kv-contract.ts'
import { readCollectionChanges, recordSince } from './change-log.ts'
import { validAt } from './documents.ts'
import { markedDocuments } from './expiry-marks.ts'
import type { EntrySet } from './index-scan.ts'
import { entriesOfStored, entryRow, type IndexTables, notIn, type PreparedEntry } from './index-tables.ts'
import { versionTime } from './records.ts'
import type { Snapshot } from './snapshot.ts'
import type { IndexEvent } from './store-contract.ts'
import type { VersionReader } from './version-reader.ts'

/** Approximate cost in steps of effort (`src/base/effort.ts`). */
const stepsPerChange = 20

/**
 * Factor of the time limit for computing bindings (computed fields) again. It is generous, because the same bindings
 * were computed within the normal limit when the version was written.
 */
const bindingTimeFactor = 10

/** Not decoded yet. */
export interface BufferedEvent {
  /** Keys determine the order of the events of a set. */
  readonly key: Bytes
  readonly ts: Micros
  readonly action: IndexEvent['action']
  readonly row: Entry
}

/** The requested part of a set's history. Includes the times `first` and `last`. */
export interface EventSpan extends KeyInterval {
  readonly first: Micros
  readonly last: Micros
  readonly reverse: boolean
}

/** The changes that one transaction made to a set. */
interface RecordedChange {
  /** The events in the requested order. */
  readonly events: readonly BufferedEvent[]
  /** The number of documents that were read. */
  readonly documents: number
}

/** Documents of one collection that may have a version at `time`. */
interface WrittenDocuments {
  readonly time: Micros
  readonly documents: readonly Ref[]
}

interface RecordParts {
  readonly snapshot: Snapshot
  readonly reader: VersionReader
  readonly bindingBudget: CpuBudget
}

export class RecordedEvents {
  readonly #parts: RecordParts
  readonly #index: IndexTables
  readonly #collection: CollectionId

  /** `index` must cover only `collection`. The transaction of `parts.snapshot` must not write. */
  constructor(parts: RecordParts, index: IndexTables, collection: CollectionId) {
    this.#parts = parts
    this.#index = index
    this.#collection = collection
  }

  /**
   * Grouped by their time. Undefined if the change record begins after the start of the span, or if the collection is
   * not a user collection.
   */
  within(set: EntrySet, span: EventSpan): Iterable<RecordedChange> | undefined {
    const { lastCommitTime, view } = this.#parts.snapshot
    const since = recordSince(view, lastCommitTime)
    const isRecorded = since === epoch || span.first > since
    return this.#collection >= firstUserCollection && isRecorded ? this.#changes(set, span) : undefined
  }

  *#changes(set: EntrySet, span: EventSpan): Generator<RecordedChange> {
    const sign = span.reverse ? -1 : 1
    for (const { documents, time } of this.#written(set, span)) {
      const events: BufferedEvent[] = []
      for (const ref of documents) {
        step(stepsPerChange)
        for (const event of this.#eventsOf(ref, time, set)) {
          if (compareBytes(event.key, span.start) >= 0 && compareBytes(event.key, span.end) < 0)
            events.push(event)
        }
      }
      events.sort((left, right) => compareBytes(left.key, right.key) * sign)
      yield { events, documents: documents.length }
    }
  }

  /** Documents that may have a version within a span, grouped by the time of the version. */
  *#written({ database }: EntrySet, { first, last, reverse }: EventSpan): Generator<WrittenDocuments> {
    const { view } = this.#parts.snapshot
    const recorded = readCollectionChanges(view, database, this.#collection, first, last, reverse)
    const marked = markedDocuments(view, { database, collection: this.#collection }, first, last, reverse)
    const sign = reverse ? -1 : 1
    for (const [committed, marks] of mergeJoin(recorded, marked, (l, r) => (l.time - r.time) * sign)) {
      const time = (committed ?? marks)?.time as Micros
      const documents = new Map(committed?.changes.map(({ ref }) => [ref.id, ref]))
      for (const ref of marks?.documents ?? []) documents.set(ref.id, ref)
      yield { time, documents: [...documents.values()] }
    }
  }

  /** The events that the version of a document at `time` has caused. */
  *#eventsOf(ref: Ref, time: Micros, set: EntrySet): Generator<BufferedEvent> {
    const { bindingBudget } = this.#parts
    const stored = this.#storedAt(ref, time)
    if (stored === undefined || versionTime(stored) !== time) return
    const earlier = this.#storedAt(ref, micros(time - 1))
    const [before, after] = bindingBudget.perItem(
      bindingTimeFactor * limits.documentBindingsMs,
      () => [this.#entriesOf(ref, earlier, set), this.#entriesOf(ref, stored, set)] as const,
    )
    for (const entry of notIn(after, before)) yield bufferedEvent(entry, time, 'remove')
    for (const entry of notIn(before, after)) yield bufferedEvent(entry, time, 'add')
  }

  /**
   * Does not count the bytes: a query is charged for the returned events, not for the versions from which they are
   * computed.
   */
  #storedAt(ref: Ref, time: Micros): Uint8Array | undefined {
    const { snapshot } = this.#parts
    const { readBytes } = snapshot.counters
    const stored = validAt(snapshot, ref, time)
    snapshot.counters.readBytes = readBytes
    return stored
  }

  #entriesOf(ref: Ref, stored: Uint8Array | undefined, { terms }: EntrySet): readonly PreparedEntry[] {
    if (stored === undefined) return []
    const version = this.#parts.reader.read(ref, stored)
    const entries = entriesOfStored(this.#index, version, version.ts)
    return entries.filter(({ parts }) => compareBytes(parts.terms, terms) === 0)
  }
}

function bufferedEvent(entry: PreparedEntry, ts: Micros, action: IndexEvent['action']): BufferedEvent {
  return { key: indexEventKey(entry.parts, ts, action), ts, action, row: entryRow(entry, ts) }
}
