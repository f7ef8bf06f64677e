// The history of a set or document: its events, which can be read from any place in either direction. Events with the
// same time are ordered by their action. In an index or a collection, remove events come first. In documents and
// combined sets, add events come first.

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

/** An event of a history. */
export interface SetEvent {
  readonly ts: Micros | TransactionTime
  readonly action: ActionName
  readonly document: Ref
  /** The values of the index entry. Empty for events of a collection or of a single document. */
  readonly values: readonly Value[]
  /** The difference to the previous version; null for a delete, and for add and remove events. */
  readonly fields: ObjectValue | null
  /** The sets in whose history the event occurs, in the form that the language shows. */
  readonly sources: readonly Value[]
}

/**
 * A place in a history, always between events. If `document` is set, so is `action`. If `values` is set, so is
 * `document`.
 */
export interface HistoryPlace {
  readonly ts: Micros
  readonly action?: ActionName
  readonly document?: Pick<Ref, 'id' | 'collection'>
  readonly values?: readonly Value[]
  /** `low`: the place is before all events that match the given members. `high`: the place is after these events. */
  readonly side: 'low' | 'high'
  /**
   * True if the place is only a time. A scan that begins or ends at this place omits the remove events of that time.
   */
  readonly timeOnly?: boolean
}

/** The range and the direction of a read of events. */
export interface HistoryScan {
  readonly from?: HistoryPlace | undefined
  readonly to?: HistoryPlace | undefined
  readonly reverse?: boolean
}

/** The order of events with the same time. */
type EventOrder = 'removes first' | 'adds first'

/** The events of a set. A scan is lazy. */
export interface HistoryStream {
  readonly order: EventOrder
  scan(scan: HistoryScan): Iterable<SetEvent>
}

/** Returns the time of an event as a number. For events of the running transaction, this is infinity. */
export function eventTime({ ts }: Pick<SetEvent, 'ts'>): number {
  return typeof ts === 'number' ? ts : Number.POSITIVE_INFINITY
}

const ranks = { add: 0, create: 0, update: 1, remove: 2, delete: 2 } as const

function compareActions(left: ActionName, right: ActionName, order: EventOrder): number {
  const difference = ranks[left] - ranks[right]
  return order === 'removes first' ? -difference : difference
}

/** Compares events of one history by time, then action, then document, then values. */
export function compareEvents(left: SetEvent, right: SetEvent, order: EventOrder): number {
  const [a, b] = [eventTime(left), eventTime(right)]
  if (a !== b) return a < b ? -1 : 1
  return (
    compareActions(left.action, right.action, order) ||
    compareDocuments(left.document, right.document) ||
    compareArrays(left.values, right.values)
  )
}

/** Compares an event with a place. Negative if the event is before the place, positive if it is after the place. */
function compareToEventPlace(event: SetEvent, place: HistoryPlace, order: EventOrder): number {
  const ts = eventTime(event)
  if (ts !== place.ts) return ts < place.ts ? -1 : 1
  const difference =
    (place.action && compareActions(event.action, place.action, order)) ||
    (place.document && compareDocuments(event.document, place.document)) ||
    (place.values && compareArrays(event.values, place.values))
  return difference || (place.side === 'low' ? 1 : -1)
}

/** Returns whether `place` is only a time, and `event` is a remove event of that time. */
function isRemovalAt(event: SetEvent, place: HistoryPlace): boolean {
  return place.timeOnly === true && eventTime(event) === place.ts && ranks[event.action] === ranks.remove
}

/** Returns whether an event is between the bounds of a scan. */
export function isWithin(event: SetEvent, { from, to }: HistoryScan, order: EventOrder): boolean {
  if ((from && isRemovalAt(event, from)) || (to && isRemovalAt(event, to))) return false
  if (from && compareToEventPlace(event, from, order) < 0) return false
  return !to || compareToEventPlace(event, to, order) < 0
}

/**
 * Limits a scan to the events up to `at`, the time whose state is read. If `at` is undefined, does not limit the scan.
 */
export function upTo(scan: HistoryScan, at: number | undefined): HistoryScan {
  if (at === undefined || (scan.to && scan.to.ts <= at)) return scan
  return { ...scan, to: { ts: nearestMicros(at), side: 'high' } }
}

/**
 * Returns the fields of `after` that differ from `before`. Inner objects are compared in the same way. Removed fields
 * are null.
 */
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
