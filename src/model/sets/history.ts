// The history of a set or document: its events from any place in either direction. At one moment the events of an
// index or a collection have remove events before add events; those of documents and of combined sets the other way round.

import { nearestMicros } from '../../base/micros.ts'
import { compareArrays, compareDocuments } from '../../values/order.ts'
import type { ActionName, Micros, ObjectValue, Ref, TransactionTime, Value } from '../../values/value.ts'

/** One event of a history. */
export interface SetEvent {
  readonly ts: Micros | TransactionTime
  readonly action: ActionName
  readonly document: Ref
  /** The covered values of an entry; empty where the document itself comes and goes, and for events of documents. */
  readonly values: readonly Value[]
  /** What changed in a document; null for a delete and for the events of sets. */
  readonly fields: ObjectValue | null
  /** The sets that have it, as the language shows them. */
  readonly sources: readonly Value[]
}

/** A place in a history; each part needs those before it. It always lies between events. */
export interface HistoryPlace {
  readonly ts: Micros
  readonly action?: ActionName
  readonly document?: Pick<Ref, 'id' | 'collection'>
  readonly values?: readonly Value[]
  /** Before (`low`) or behind (`high`) all events that agree with it as far as it goes. */
  readonly side: 'low' | 'high'
  /** The place is named by its time alone: reading on from it and reading up to it both leave out what went then. */
  readonly timeOnly?: boolean
}

/** Which events of a set, in which order. */
export interface HistoryScan {
  readonly from?: HistoryPlace | undefined
  readonly to?: HistoryPlace | undefined
  readonly reverse?: boolean
}

/** What comes first of the events of one moment. */
type EventOrder = 'removes first' | 'adds first'

/** The events of a set, read as they are asked for. */
export interface HistoryStream {
  readonly order: EventOrder
  scan(scan: HistoryScan): Iterable<SetEvent>
}

/** The time of an event as a number: those of the running transaction are later than all others. */
export function eventTime({ ts }: Pick<SetEvent, 'ts'>): number {
  return typeof ts === 'number' ? ts : Number.POSITIVE_INFINITY
}

const ranks = { add: 0, create: 0, update: 1, remove: 2, delete: 2 } as const

function compareActions(left: ActionName, right: ActionName, order: EventOrder): number {
  const difference = ranks[left] - ranks[right]
  return order === 'removes first' ? -difference : difference
}

/** Compares events of one history. */
export function compareEvents(left: SetEvent, right: SetEvent, order: EventOrder): number {
  const [a, b] = [eventTime(left), eventTime(right)]
  if (a !== b) return a < b ? -1 : 1
  return (
    compareActions(left.action, right.action, order) ||
    compareDocuments(left.document, right.document) ||
    compareArrays(left.values, right.values)
  )
}

/** Where an event lies seen from a place: negative before it, positive behind it, never zero. */
function compareToEventPlace(event: SetEvent, place: HistoryPlace, order: EventOrder): number {
  const ts = eventTime(event)
  if (ts !== place.ts) return ts < place.ts ? -1 : 1
  const difference =
    (place.action && compareActions(event.action, place.action, order)) ||
    (place.document && compareDocuments(event.document, place.document)) ||
    (place.values && compareArrays(event.values, place.values))
  return difference || (place.side === 'low' ? 1 : -1)
}

/** Whether something went at the very time that is all a place says. */
function wentAt(event: SetEvent, place: HistoryPlace): boolean {
  return place.timeOnly === true && eventTime(event) === place.ts && ranks[event.action] === ranks.remove
}

/** Whether an event lies within the bounds of a scan. */
export function isWithin(event: SetEvent, { from, to }: HistoryScan, order: EventOrder): boolean {
  if ((from && wentAt(event, from)) || (to && wentAt(event, to))) return false
  if (from && compareToEventPlace(event, from, order) < 0) return false
  return !to || compareToEventPlace(event, to, order) < 0
}

/** The bounds of a scan, cut off behind a time that the reading does not look beyond. */
export function upTo(scan: HistoryScan, at: number | undefined): HistoryScan {
  if (at === undefined || (scan.to && scan.to.ts <= at)) return scan
  return { ...scan, to: { ts: nearestMicros(at), side: 'high' } }
}
