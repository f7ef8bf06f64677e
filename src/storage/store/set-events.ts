// The history of a set: the events in which entries were added or removed, ordered by time. A set consists of the
// entries of an index with the same terms, or of the documents of a collection. The events of the set
// `documents(collection)` are stored. The events of an index are not stored, but computed from its entries (decision
// 44). Each entry contains the time of its addition, and an ended entry also the time of its removal. All entries of
// the set are read, and their events are sorted. If there are many events, all entries are read several times, and each
// time a part of the events is sorted.
//
// If few events of a large set are requested, reading all entries takes too long. Such events are computed from the
// change record (change-log.ts), which contains the written documents of the collection. The versions of a document
// before and after a write determine the events of this write.

import { keyAfter } from '../../base/bytes.ts'
import { endOfTime } from '../../base/micros.ts'
import { ByteWriter } from '../../values/byte-writer.ts'
import { compareBytes } from '../../values/order.ts'
import { type Micros, TransactionTime } from '../../values/value.ts'
import { entryDocumentBytes, entryDocumentOffset } from '../keys/key-reader.ts'
import { timeLength } from '../keys/key-times.ts'
import { eventRange, type IndexTable, indexTermsPrefix, keyTags } from '../keys/keyspace.ts'
import { prefixRange } from '../keys/prefix.ts'
import { encodeTuple } from '../keys/tuple.ts'
import type { Entry } from '../kv/kv-contract.ts'
import {
  entryCollection,
  entryDocument,
  entrySince,
  entryUntil,
  entryValues,
  eventIsRemove,
} from './entry-records.ts'
import { type EntrySet, withPlaceholders } from './index-scan.ts'
import type { BufferedEvent, EventSpan, RecordedEvents } from './recorded-events.ts'
import { countRow, type Snapshot } from './snapshot.ts'
import type { EventBound, EventScan, IndexEvent } from './store-contract.ts'

/**
 * Events can be computed from the entries of the set, or from the change record. `fewEntries`, `fewChanges` and
 * `manyEntries` limit the entries or changes that are read in one of these ways before the other way is tried.
 * `buffered` and `bufferedMax`: the initial and the maximum number of events that are sorted at once.
 */
export interface EventLimits {
  readonly fewEntries: number
  readonly fewChanges: number
  readonly manyEntries: number
  readonly buffered: number
  readonly bufferedMax: number
}

/**
 * Events are computed in this order from: the entries of a small set, a few changes from the change record, the entries
 * of a larger set, all changes, and all entries. Reading `manyEntries` entries takes some tenths of a second.
 */
const eventLimits: EventLimits = {
  fewEntries: 512,
  fewChanges: 1024,
  manyEntries: 65_536,
  buffered: 1024,
  bufferedMax: 32_768,
}

/** Excludes events before the time `oldest`, and remove events at `oldest`. */
function spanOf(set: EntrySet, scan: EventScan, oldest: Micros): EventSpan {
  const bound = (given: EventBound | undefined) => {
    if (given === undefined) return undefined
    const { values, ...rest } = given
    return values === undefined ? rest : { ...rest, values: encodeTuple(values, set.descending) }
  }
  const floor: EventBound = { ts: oldest, action: 'add', side: 'low' }
  const bounded = eventRange(set.database, set.index, set.terms, bound(scan.from), bound(scan.to))
  const retained = eventRange(set.database, set.index, set.terms, bound(floor), undefined)
  return {
    start: compareBytes(bounded.start, retained.start) < 0 ? retained.start : bounded.start,
    end: bounded.end,
    first: scan.from === undefined || scan.from.ts < oldest ? oldest : scan.from.ts,
    last: scan.to === undefined || scan.to.ts > endOfTime ? endOfTime : scan.to.ts,
    reverse: scan.reverse === true,
  }
}

/** Oldest first, or newest first if the scan is reversed. Rows are read when they are needed. */
export function* storedEvents(
  snapshot: Snapshot,
  set: EntrySet,
  scan: EventScan,
  oldest: Micros,
): Generator<IndexEvent> {
  const { end, reverse, start } = spanOf(set, scan, oldest)
  for (const row of snapshot.view.range({ start, end, reverse })) {
    countRow()
    if (!set.hasCollection(entryCollection(row))) continue
    const action = eventIsRemove(row) ? 'remove' : 'add'
    yield toEvent(snapshot, set, { key: row.key, ts: entrySince(row), action, row })
  }
}

/**
 * Oldest first, or newest first if the scan is reversed. `recorded`: computes events from the change record; undefined
 * if only the entries can be used.
 */
export function* entryEvents(
  snapshot: Snapshot,
  set: EntrySet,
  scan: EventScan,
  oldest: Micros,
  recorded: RecordedEvents | undefined,
  limits: EventLimits = eventLimits,
): Generator<IndexEvent> {
  const span = spanOf(set, scan, oldest)
  if (span.first > span.last || compareBytes(span.start, span.end) >= 0) return
  const walk = new EventWalk(snapshot, set, span, recorded, limits)
  if (yield* walk.overEntries(limits.fewEntries)) return
  if (yield* walk.overChanges(limits.fewChanges)) return
  if (yield* walk.overEntries(limits.manyEntries)) return
  if (yield* walk.overChanges(Number.POSITIVE_INFINITY)) return
  yield* walk.overEntries(Number.POSITIVE_INFINITY)
}

/**
 * Reads the events of a span from entries or changes. Each method continues after the last event that any method has
 * yielded, and returns true if it has reached the end of the span.
 */
class EventWalk {
  readonly #snapshot: Snapshot
  readonly #set: EntrySet
  readonly #recorded: RecordedEvents | undefined
  readonly #bufferedMax: number
  #bufferedNext: number
  #span: EventSpan

  constructor(
    snapshot: Snapshot,
    set: EntrySet,
    span: EventSpan,
    recorded: RecordedEvents | undefined,
    { buffered, bufferedMax }: Pick<EventLimits, 'buffered' | 'bufferedMax'>,
  ) {
    this.#bufferedNext = buffered
    this.#bufferedMax = bufferedMax
    this.#snapshot = snapshot
    this.#set = set
    this.#span = span
    this.#recorded = recorded
  }

  /** Returns false if the set has more than `entriesMax` entries. */
  *overEntries(entriesMax: number): Generator<IndexEvent, boolean> {
    for (;;) {
      const buffered = this.#bufferEvents(entriesMax)
      if (buffered === undefined) return false
      for (const event of buffered.events) yield this.#pass(event)
      if (buffered.areAll) return true
      // Filling a buffer reads all entries of the set, and a caller that continues usually reads many more events.
      this.#bufferedNext = Math.min(2 * this.#bufferedNext, this.#bufferedMax)
    }
  }

  /** Returns false after more than `changesMax` changes, or if the change record does not cover the span. */
  *overChanges(changesMax: number): Generator<IndexEvent, boolean> {
    const recorded = this.#recorded?.within(this.#set, this.#span)
    if (recorded === undefined) return false
    let left = changesMax
    for (const { documents, events } of recorded) {
      for (const event of events) yield this.#pass(event)
      left -= documents
      if (left < 0) return false
    }
    return true
  }

  #pass(event: BufferedEvent): IndexEvent {
    const { key, ts } = event
    this.#span = this.#span.reverse
      ? { ...this.#span, end: key, last: ts }
      : { ...this.#span, start: keyAfter(key), first: ts }
    return toEvent(this.#snapshot, this.#set, event)
  }

  /**
   * The next events in order. `areAll`: these are all remaining events of the span. Undefined if the set has more than
   * `entriesMax` entries.
   */
  #bufferEvents(
    entriesMax: number,
  ): { readonly events: readonly BufferedEvent[]; readonly areAll: boolean } | undefined {
    const buffered = new EventBuffer(this.#span, this.#bufferedNext)
    const { database, index, terms } = this.#set
    let entries = 0
    for (const table of ['live', 'ended'] as const satisfies readonly IndexTable[]) {
      const prefix = indexTermsPrefix(table, database, index, terms)
      for (const row of this.#snapshot.view.range(prefixRange(prefix))) {
        if (++entries > entriesMax) return undefined
        countRow()
        if (!this.#set.hasCollection(entryCollection(row))) continue
        buffered.add(row, prefix.length, entrySince(row), 'add')
        if (table === 'ended') buffered.add(row, prefix.length, entryUntil(row), 'remove')
      }
    }
    return buffered.finish()
  }
}

/** Collects the first events of a span, which can be added in any order. */
class EventBuffer {
  #span: EventSpan
  #events: BufferedEvent[] = []
  #areAll = true
  readonly #max: number

  constructor(span: EventSpan, max: number) {
    this.#span = span
    this.#max = max
  }

  add(row: Entry, prefixLength: number, ts: Micros, action: IndexEvent['action']): void {
    const { end, first, last, start } = this.#span
    if (ts < first || ts > last) return
    const key = eventKeyOf(row.key, prefixLength, ts, action)
    if (compareBytes(key, start) < 0 || compareBytes(key, end) >= 0) return
    this.#events.push({ key, ts, action, row })
    if (this.#events.length === 2 * this.#max) this.#cut()
  }

  /** Sorts the events in the order of the scan, and drops the second half. */
  #cut(): void {
    this.#sort()
    this.#events.length = this.#max
    this.#areAll = false
    const { key, ts } = this.#events[this.#max - 1] as BufferedEvent
    this.#span = this.#span.reverse
      ? { ...this.#span, start: keyAfter(key), first: ts }
      : { ...this.#span, end: key, last: ts }
  }

  finish() {
    this.#sort()
    return { events: this.#events, areAll: this.#areAll }
  }

  #sort(): void {
    const sign = this.#span.reverse ? -1 : 1
    this.#events.sort((left, right) => compareBytes(left.key, right.key) * sign)
  }
}

function toEvent(snapshot: Snapshot, set: EntrySet, { action, row, ts }: BufferedEvent): IndexEvent {
  snapshot.counters.readBytes += row.value.length
  const document = entryDocument(set.database, row)
  return {
    ts: ts === snapshot.commitTime ? TransactionTime.micros : ts,
    action,
    document,
    values: withPlaceholders(snapshot, entryValues(row, document)),
  }
}

const writer = new ByteWriter()

/**
 * The key of an event, in the encoding of `indexEventKey`, by which the events of a set are ordered. `entry`: the key
 * of the entry. `prefixLength`: the length of this key up to the end of the terms.
 */
function eventKeyOf(
  entry: Uint8Array,
  prefixLength: number,
  ts: Micros,
  action: 'add' | 'remove',
): Uint8Array {
  const end = entry[0] === keyTags.indexEnded ? entry.length - timeLength : entry.length
  const document = entryDocumentOffset(entry)
  const documentEnd = document + entryDocumentBytes
  writer.reset().u8(keyTags.indexEvent).append(entry.subarray(1, prefixLength)).ascending(ts)
  writer.u8(action === 'add' ? 1 : 0).append(entry.subarray(document, documentEnd))
  return writer.append(entry.subarray(prefixLength, document)).append(entry.subarray(documentEnd, end)).copy()
}
