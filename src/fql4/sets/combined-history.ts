// The histories of combined sets: unions, intersections, differences and joins. The members of a combined set are the
// operands, such as the sets in a union. All events with the same time are processed together. The history contains the
// events that change the combined set. To find these events, the members are read as of the time of each event, or just
// before this time.

import { step } from '../../base/effort.ts'
import { upsert } from '../../base/upsert.ts'
import {
  compareEvents,
  eventTime,
  type HistoryPlace,
  type HistoryScan,
  type HistoryStream,
  isWithin,
  type SetEvent,
} from '../../model/sets/history.ts'
import { type Element, type ElementStream, keyOf } from '../../model/sets/stream.ts'
import type { Ref, Value } from '../../values/value.ts'
import type { ValueKeys } from '../../values/value-keys.ts'
import { type SetLike, SetValue } from '../values/transient.ts'
import type { CallReading } from './call-reading.ts'
import { Heap } from './heap.ts'
import { joinedElements, type TargetOf } from './join.ts'

export interface HistoryMember {
  readonly events: HistoryStream
  /**
   * Returns whether the member contained `key` at the time of `event` (`then`), or just before this time (`before`).
   */
  holds(key: readonly Value[], event: SetEvent, when: 'then' | 'before'): boolean
}

type Combination = 'union' | 'intersection' | 'difference'

export function combinedHistory(combination: Combination, members: readonly HistoryMember[]): HistoryStream {
  return scan => combinedEvents(combination, members, scan)
}

function* combinedEvents(
  combination: Combination,
  members: readonly HistoryMember[],
  scan: HistoryScan,
): Generator<SetEvent> {
  const { from, to, reverse } = scan
  const wholeMoments = {
    from: from && wholeMoment(from, 'low'),
    to: to && wholeMoment(to, 'high'),
    reverse: reverse === true,
  }
  for (const moment of moments(members, wholeMoments)) {
    const changes = moment.filter(each => changesSet(combination, members, each))
    const events = merged(changes.map(each => eventOfSet(combination, each)))
    for (const event of reverse ? events.reverse() : events) if (isWithin(event, scan)) yield event
  }
}

export const isRemoval = ({ action }: SetEvent): boolean => action === 'remove' || action === 'delete'

/** The key of the element that an event adds or removes. */
export function eventKey({ document, values }: SetEvent): readonly Value[] {
  return values.length === 0 ? [document] : values
}

function changesSet(
  combination: Combination,
  members: readonly HistoryMember[],
  { event, member }: MemberEvent,
): boolean {
  const key = eventKey(event)
  const others = members.filter((_, index) => index !== member)
  switch (combination) {
    case 'union':
      return true
    case 'intersection':
      return others.every(other => other.holds(key, event, isRemoval(event) ? 'before' : 'then'))
    case 'difference':
      return member === 0
        ? !others.some(other => other.holds(key, event, 'before'))
        : changesDifference(members, key, event)
  }
}

/**
 * Returns whether the event of a subtrahend changes a difference. The subtrahends are all members except the first. The
 * first member must contain the element. No subtrahend may contain the element after a removal, or before an addition.
 */
function changesDifference(
  members: readonly HistoryMember[],
  key: readonly Value[],
  event: SetEvent,
): boolean {
  const [first, ...subtrahends] = members as readonly [HistoryMember, ...HistoryMember[]]
  const when = isRemoval(event) ? 'then' : 'before'
  return first.holds(key, event, 'then') && !subtrahends.some(other => other.holds(key, event, when))
}

/** Converts an event of a member to an event of the combined set. An event of a subtrahend gets the opposite action. */
function eventOfSet(combination: Combination, { event, member }: MemberEvent): SetEvent {
  if (combination !== 'difference' || member === 0) return event
  return { ...event, action: isRemoval(event) ? 'add' : 'remove' }
}

interface MemberEvent {
  readonly event: SetEvent
  readonly member: number
}

/** Yields the events of all members, grouped by time. */
function* moments(members: readonly HistoryMember[], scan: HistoryScan): Generator<readonly MemberEvent[]> {
  const sign = scan.reverse ? -1 : 1
  const readers = members.map(({ events }, member) => ({
    member,
    iterator: events(scan)[Symbol.iterator](),
    event: undefined as SetEvent | undefined,
  }))
  const heap = new Heap<(typeof readers)[number]>(
    (left, right) =>
      compareTimes(left.event as SetEvent, right.event as SetEvent) * sign || left.member - right.member,
  )
  const advance = (reader: (typeof readers)[number]) => {
    const next = reader.iterator.next()
    reader.event = next.done ? undefined : next.value
    if (reader.event) heap.push(reader)
  }
  try {
    for (const reader of readers) advance(reader)
    for (let first = heap.peek(); first; first = heap.peek()) {
      const ts = eventTime(first.event as SetEvent)
      const moment: MemberEvent[] = []
      for (let next = heap.peek(); next && eventTime(next.event as SetEvent) === ts; next = heap.peek()) {
        heap.pop()
        moment.push({ event: next.event as SetEvent, member: next.member })
        advance(next)
      }
      yield moment
    }
  } finally {
    for (const { iterator } of readers) iterator.return?.()
  }
}

/** Compares times without subtraction, because the time of the running transaction is infinite. */
function compareTimes(left: SetEvent, right: SetEvent): number {
  const [a, b] = [eventTime(left), eventTime(right)]
  return a < b ? -1 : a > b ? 1 : 0
}

/** A merged event has the sources of all members with an equal event. */
function merged(events: readonly SetEvent[]): SetEvent[] {
  const result: SetEvent[] = []
  for (const event of events.toSorted(compareEvents)) {
    const last = result.at(-1)
    const isSame = last?.action === event.action && compareEvents(last, event) === 0
    if (!isSame) result.push(event)
    else result[result.length - 1] = { ...last, sources: [...last.sources, ...event.sources] }
  }
  return result
}

/** Returns the place before (`low`) or after (`high`) all events with the time of `place`. */
function wholeMoment(place: HistoryPlace, side: HistoryPlace['side']): HistoryPlace {
  return place.action === undefined ? place : { ts: place.ts, side }
}

/** An interval in which the source contained an element: `since` is inclusive, `until` exclusive. */
interface Presence {
  readonly since: number
  until: number
}

interface SourceElement {
  readonly values: readonly Value[]
  readonly document: Ref
  readonly presences: Presence[]
  /** The number of source entries for this element at the current event, while the history is read. */
  count: number
}

/** A time before the retained history. */
const always = Number.NEGATIVE_INFINITY
const stillPresent = Number.POSITIVE_INFINITY

/**
 * The history of a join contains the events of the target sets that happened while the source contained their element.
 * Adding or removing an element of the source causes no event. Reads the whole history of `source` immediately, and the
 * histories of the target sets on demand. `present`: the current elements of the source, including elements that were
 * added before the retained history.
 */
export function joinHistory(
  source: HistoryStream,
  present: ElementStream,
  targetOf: TargetOf,
  reading: CallReading,
  open: (target: SetLike) => HistoryStream | undefined,
): HistoryStream {
  const members: HistoryMember[] = []
  for (const element of sourceElements(source, present, reading.session.keys)) {
    const target = targetOf(element)
    const history = target && open(target)
    if (history === undefined) continue
    const events: HistoryStream = scan => eventsDuring(element.presences, history(scan))
    // The history of a union never calls `holds`.
    members.push({ events, holds: () => true })
  }
  return combinedHistory('union', members)
}

/** Yields the events within the intervals `presences`. */
function* eventsDuring(presences: readonly Presence[], events: Iterable<SetEvent>): Generator<SetEvent> {
  for (const event of events) {
    const ts = eventTime(event)
    step(presences.length)
    if (presences.some(({ since, until }) => since <= ts && (ts < until || until === stillPresent)))
      yield { ...event, sources: event.sources.map(elementSetOf) }
  }
}

/** For a set of events, returns the set to which the events belong. Returns other values unchanged. */
export function elementSetOf<T extends Value>(set: T): T | SetLike {
  return set instanceof SetValue && set.shape.type === 'events' ? elementSetOf(set.shape.source) : set
}

/** Returns all current and former elements, with the intervals in which the source contained them. */
function sourceElements(
  history: HistoryStream,
  present: ElementStream,
  keys: ValueKeys,
): Iterable<SourceElement> {
  const elements = new Map<string, SourceElement>()
  for (const event of history({})) {
    const element = elementOf(event, elements, keys)
    const ts = eventTime(event)
    if (isRemoval(event)) leave(element, ts)
    else if (event.action !== 'update') enter(element, ts)
  }
  for (const element of joinedElements(present)) {
    const { presences } = elementOf(element, elements, keys)
    if (presences.length === 0) presences.push({ since: always, until: stillPresent })
  }
  return elements.values()
}

function elementOf(
  item: Pick<Element, 'values' | 'document'>,
  elements: Map<string, SourceElement>,
  keys: ValueKeys,
): SourceElement {
  const { values, document } = item
  const key = keys.keyOf(keyOf({ values, document, sources: [] }))
  return upsert(elements, key, () => ({ values, document, presences: [], count: 0 }))
}

function enter(element: SourceElement, ts: number): void {
  if (element.count++ === 0) element.presences.push({ since: ts, until: stillPresent })
}

function leave(element: SourceElement, ts: number): void {
  if (element.count === 0) element.presences.push({ since: always, until: ts })
  else if (--element.count === 0) (element.presences.at(-1) as Presence).until = ts
}
