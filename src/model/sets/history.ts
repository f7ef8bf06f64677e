// The history of a set or document is a stream of events, which can be read from any place in both directions.
// Events with the same time are sorted by action: remove events first for an index or a collection, add events first
// for a document or a combined set.

import { nearestMicros } from '../../base/micros.ts'
import { equalValues } from '../../values/equality.ts'
import { compareArrays, compareDocuments } from '../../values/order.ts'
import {
  type ActionName,
  isObject,
  type Micros,
  type ObjectValue,
  type Ref,
  type TransactionTime,
  type Value,
} from '../../values/value.ts'

export interface SetEvent {
  readonly ts: Micros | TransactionTime
  readonly action: ActionName
  readonly document: Ref
  /** Empty for events of a collection or of a single document. */
  readonly values: readonly Value[]
  /** The fields that have changed since the previous version. Null for delete, add and remove events. */
  readonly fields: ObjectValue | null
  /** The sets whose history contains the event, as values of the language. */
  readonly sources: readonly Value[]
}

/**
 * A place between events. A place with `values` also has a `document`, and a place with a `document` also has
 * an `action`.
 */
export interface HistoryPlace {
  readonly ts: Micros
  readonly action?: ActionName
  readonly document?: Pick<Ref, 'id' | 'collection'>
  readonly values?: readonly Value[]
  /** `low`: before all events with the given members; `high`: after them. */
  readonly side: 'low' | 'high'
  /** The place is only a time. A scan that begins or ends here omits the remove events with the time `ts`. */
  readonly timeOnly?: boolean
}

export interface HistoryScan {
  readonly from?: HistoryPlace | undefined
  readonly to?: HistoryPlace | undefined
  readonly reverse?: boolean
}

/** Reads events on demand, in the order of their times. */
export type HistoryStream = (scan: HistoryScan) => Iterable<SetEvent>

/** Returns Infinity for events of the running transaction. */
export function eventTime({ ts }: Pick<SetEvent, 'ts'>): number {
  return typeof ts === 'number' ? ts : Number.POSITIVE_INFINITY
}

const ranks = { add: 0, create: 0, update: 1, remove: 2, delete: 2 } as const

function compareActions(left: ActionName, right: ActionName): number {
  return ranks[left] - ranks[right]
}

/** Compares events of a history by time, action (adds first), document and values, in this order. */
export function compareEvents(left: SetEvent, right: SetEvent): number {
  const [a, b] = [eventTime(left), eventTime(right)]
  if (a !== b) return a < b ? -1 : 1
  return (
    compareActions(left.action, right.action) ||
    compareDocuments(left.document, right.document) ||
    compareArrays(left.values, right.values)
  )
}

/** Negative for an event before the place, positive for an event after it. */
function compareToEventPlace(event: SetEvent, place: HistoryPlace): number {
  const ts = eventTime(event)
  if (ts !== place.ts) return ts < place.ts ? -1 : 1
  const difference =
    (place.action && compareActions(event.action, place.action)) ||
    (place.document && compareDocuments(event.document, place.document)) ||
    (place.values && compareArrays(event.values, place.values))
  return difference || (place.side === 'low' ? 1 : -1)
}

/** `place` is only a time, and `event` is a remove event with this time. */
function isRemovalAt(event: SetEvent, place: HistoryPlace): boolean {
  return place.timeOnly === true && eventTime(event) === place.ts && ranks[event.action] === ranks.remove
}

export function isWithin(event: SetEvent, { from, to }: HistoryScan): boolean {
  if ((from && isRemovalAt(event, from)) || (to && isRemovalAt(event, to))) return false
  if (from && compareToEventPlace(event, from) < 0) return false
  return !to || compareToEventPlace(event, to) < 0
}

/** If `at` is undefined, the scan is not limited. */
export function upTo(scan: HistoryScan, at: number | undefined): HistoryScan {
  if (at === undefined || (scan.to && scan.to.ts <= at)) return scan
  return { ...scan, to: { ts: nearestMicros(at), side: 'high' } }
}

/** Nested objects contain only their changed fields. Removed fields are null. */
export function changesBetween(before: ObjectValue, after: ObjectValue): ObjectValue {
  const changes = new Map<string, Value>()
  for (const [name, value] of after) {
    const old = before.get(name)
    if (old === undefined) changes.set(name, value)
    else if (equalValues(old, value)) continue
    else changes.set(name, isObject(old) && isObject(value) ? changesBetween(old, value) : value)
  }
  for (const name of before.keys()) if (!after.has(name)) changes.set(name, null)
  return changes
}
