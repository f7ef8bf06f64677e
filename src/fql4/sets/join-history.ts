// The history of a join: for each target set, the events that happened while the source contained the element of the
// target. Adding or removing the source element itself causes no events.

import { step } from '../../base/effort.ts'
import { eventTime, type HistoryStream } from '../../model/sets/history.ts'
import { type Element, type ElementStream, keyOf } from '../../model/sets/stream.ts'
import type { Lambda, Ref, Value } from '../../values/value.ts'
import type { ValueKeys } from '../../values/value-keys.ts'
import { type SetLike, SetValue } from '../values/transient.ts'
import type { CallReading } from './call-reading.ts'
import { combinedHistory, type HistoryMember } from './combined-history.ts'
import { joinedElements, targetOf } from './join.ts'

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

/** The time before the retained history. */
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

/** The events of another history that happened within some intervals. */
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

/** For a set of events, the set that the events belong to. The sources of a join are these sets, not their events. */
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
