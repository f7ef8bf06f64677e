// The histories of combined sets. All events of one time are processed together. An event is shown if it changes the
// combined set. To decide this, the members are read as of the time of the event, or as of just before this time. The
// history of a join is computed from the histories of its source and its target sets.

import { step } from '../../base/effort.ts'
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
import type { Lambda, Ref, Value } from '../../values/value.ts'
import type { ValueKeys } from '../../values/value-keys.ts'
import { type SetLike, SetValue } from '../values/transient.ts'
import type { CallReading } from './call-reading.ts'
import { joinedElements, targetOf } from './join.ts'
import { Heap } from './streams.ts'

/** A member of a combined set: its events, and a function that tells whether the member contained a key. */
export interface HistoryMember {
  readonly events: HistoryStream
  /**
   * Returns whether the member contained `key`: with the changes of `event` (`then`), or just before `event`
   * (`before`).
   */
  holds(key: readonly Value[], event: SetEvent, when: 'then' | 'before'): boolean
}

type Combination = 'union' | 'intersection' | 'difference'

export function combinedHistory(combination: Combination, members: readonly HistoryMember[]): HistoryStream {
  const order = 'adds first'
  return {
    order,
    *scan(scan) {
      const { from, to, reverse } = scan
      const wide = {
        from: from && wholeMoment(from, 'low'),
        to: to && wholeMoment(to, 'high'),
        reverse: reverse === true,
      }
      for (const moment of moments(members, wide)) {
        const shown = merged(
          moment.filter(each => shows(combination, members, each)).map(each => seen(combination, each)),
        )
        for (const event of reverse ? shown.reverse() : shown) if (isWithin(event, scan, order)) yield event
      }
    },
  }
}

const isGoing = ({ action }: SetEvent) => action === 'remove' || action === 'delete'

/** Returns whether an event of a member changes the combined set. */
function shows(
  combination: Combination,
  members: readonly HistoryMember[],
  { event, member }: MemberEvent,
): boolean {
  const key = event.values.length === 0 ? [event.document] : event.values
  const others = members.filter((_, index) => index !== member)
  switch (combination) {
    case 'union':
      return true
    case 'intersection':
      return others.every(other => other.holds(key, event, isGoing(event) ? 'before' : 'then'))
    case 'difference':
      return member === 0
        ? !others.some(other => other.holds(key, event, 'before'))
        : uncovers(members, key, event)
  }
}

/**
 * Returns whether an event of a subtrahend adds an element of the first member to the difference, or removes the
 * element from the difference.
 */
function uncovers(members: readonly HistoryMember[], key: readonly Value[], event: SetEvent): boolean {
  const [first, ...subtrahends] = members as readonly [HistoryMember, ...HistoryMember[]]
  const when = isGoing(event) ? 'then' : 'before'
  return first.holds(key, event, 'then') && !subtrahends.some(other => other.holds(key, event, when))
}

/**
 * The event of a member as an event of the combined set. An element added to a subtrahend is removed from the
 * difference. An element removed from a subtrahend is added to the difference.
 */
function seen(combination: Combination, { event, member }: MemberEvent): SetEvent {
  if (combination !== 'difference' || member === 0) return event
  return { ...event, action: isGoing(event) ? 'add' : 'remove' }
}

interface MemberEvent {
  readonly event: SetEvent
  readonly member: number
}

/** The events of all members, grouped by time. */
function* moments(members: readonly HistoryMember[], scan: HistoryScan): Generator<readonly MemberEvent[]> {
  const sign = scan.reverse ? -1 : 1
  const readers = members.map(({ events }, member) => ({
    member,
    iterator: events.scan(scan)[Symbol.iterator](),
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

/** Compares times. Subtraction would not work, because the running transaction's time is infinite. */
function compareTimes(left: SetEvent, right: SetEvent): number {
  const [a, b] = [eventTime(left), eventTime(right)]
  return a < b ? -1 : a > b ? 1 : 0
}

/** Sorts events and merges equal events of several members. A merged event has the sources of all its members. */
function merged(events: readonly SetEvent[]): SetEvent[] {
  const result: SetEvent[] = []
  for (const event of events.toSorted((left, right) => compareEvents(left, right, 'adds first'))) {
    const last = result.at(-1)
    const isSame = last?.action === event.action && compareEvents(last, event, 'adds first') === 0
    if (!isSame) result.push(event)
    else result[result.length - 1] = { ...last, sources: [...last.sources, ...event.sources] }
  }
  return result
}

/** The place before (`low`) or after (`high`) all events with the time of `place`. */
function wholeMoment(place: HistoryPlace, side: HistoryPlace['side']): HistoryPlace {
  return place.action === undefined ? place : { ts: place.ts, side }
}

// The history of a join: for each target set, the events that happened while the source contained the element of the
// target. Adding or removing the source element itself causes no events.

/** The interval in which an element was in the source: `since` is inclusive, `until` exclusive. */
interface Presence {
  readonly since: number
  until: number
}

interface SourceElement {
  readonly values: readonly Value[]
  readonly document: Ref
  readonly presences: Presence[]
  /** Number of entries with this key at the current point of the history. */
  count: number
}

/** A time before the retained history. */
const always = Number.NEGATIVE_INFINITY
const stillThere = Number.POSITIVE_INFINITY

/** `present`: the current source, which also contains elements added before the retained history. */
export function joinHistory(
  source: HistoryStream,
  present: ElementStream,
  link: Lambda | Ref,
  reading: CallReading,
  open: (target: SetLike) => HistoryStream | undefined,
): HistoryStream {
  return {
    order: 'adds first',
    scan(scan) {
      const members: HistoryMember[] = []
      for (const element of sourceElements(source, present, reading.session.keys)) {
        const target = open(targetOf(element, link, reading))
        if (target) members.push({ events: during(element.presences, target), holds: () => true })
      }
      return combinedHistory('union', members).scan(scan)
    },
  }
}

/** The events of the history `events` that happened within one of the intervals `presences`. */
function during(presences: readonly Presence[], events: HistoryStream): HistoryStream {
  return {
    order: events.order,
    *scan(scan) {
      for (const event of events.scan(scan)) {
        const ts = eventTime(event)
        step(presences.length)
        if (presences.some(({ since, until }) => since <= ts && (ts < until || until === stillThere)))
          yield { ...event, sources: event.sources.map(readSet) }
      }
    },
  }
}

/**
 * For a set of events, the set to which the events belong; for any other value, the value itself. The sources of a join
 * are sets, not their events.
 */
function readSet(source: Value): Value {
  return source instanceof SetValue && source.shape.type === 'events' ? source.shape.source : source
}

/** All current and former elements of the source, with their intervals. */
function sourceElements(
  history: HistoryStream,
  present: ElementStream,
  keys: ValueKeys,
): Iterable<SourceElement> {
  const elements = new Map<string, SourceElement>()
  for (const event of history.scan({})) {
    const element = elementOf(event, elements, keys)
    const ts = eventTime(event)
    if (event.action === 'remove' || event.action === 'delete') leave(element, ts)
    else if (event.action !== 'update') enter(element, ts)
  }
  for (const element of joinedElements(present)) {
    const { presences } = elementOf(element, elements, keys)
    if (presences.length === 0) presences.push({ since: always, until: stillThere })
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
  const known = elements.get(key)
  if (known) return known
  const element: SourceElement = { values, document, presences: [], count: 0 }
  elements.set(key, element)
  return element
}

function enter(element: SourceElement, ts: number): void {
  if (element.count++ === 0) element.presences.push({ since: ts, until: stillThere })
}

function leave(element: SourceElement, ts: number): void {
  if (element.count === 0) element.presences.push({ since: always, until: ts })
  else if (--element.count === 0) (element.presences.at(-1) as Presence).until = ts
}
