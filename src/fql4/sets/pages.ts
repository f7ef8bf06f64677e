// Pages of sets and histories. A forward page begins with the first element at or after the cursor. A backward page
// ends with the last element before the cursor. An additional element is read to find out whether another page exists.

import type { HistoryPlace, SetEvent } from '../../model/sets/history.ts'
import {
  type Element,
  type ElementPlace,
  type ElementStream,
  elementValue,
  firstOf,
} from '../../model/sets/stream.ts'
import { isNativeCollectionRef, type UnresolvedRef, type Value } from '../../values/value.ts'
import { ValueKeys } from '../../values/value-keys.ts'
import { type Call, undefinedReference } from '../definition.ts'
import { permissionDenied } from '../failure-errors.ts'
import { type Cursor, ElementWithSources, Page, type SetLike } from '../values/transient.ts'
import { CallReading } from './call-reading.ts'
import { cursorPlace, listOf, unresolvedIn } from './cursor.ts'
import { isHistory } from './describe.ts'
import { eventCursor, eventValue, type HistoryKind, readEventCursor } from './event-cursor.ts'
import { hasRef, resolveNames } from './former-names.ts'
import { openSet } from './open.ts'
import { openHistory } from './open-history.ts'

const pagesLimits = {
  /** Maximum number of elements of a page. */
  pageSizeMax: 100_000,
} as const

export interface PageRequest {
  readonly set: SetLike
  readonly direction: 'after' | 'before'
  /** If undefined, the page begins at the start of the set (`after`) or ends at the end of the set (`before`). */
  readonly cursor: Value | undefined
  /** The path from the call to the cursor. */
  readonly cursorAt: readonly string[]
  readonly size: bigint
  /** True to read the history of the set instead of its elements. */
  readonly events: boolean
  readonly sources: boolean
}

/** Permission errors have the position of the argument `paginate`. */
export function readPage(request: PageRequest, call: Call): Page {
  const { set, cursor } = request
  const ofEvents = request.events || isHistory(set)
  const reading = CallReading.of(call)
  const page = ofEvents ? pageOfEvents(request, reading) : pageOfElements(request, reading)
  const cursorKey = cursor === undefined ? '' : call.session.keys.keyOf(cursor)
  reading.finish(`${request.direction} ${cursorKey} ${request.size}`)
  return page
}

function pageOfElements(request: PageRequest, reading: CallReading): Page {
  const stream = openSet(request.set, reading)
  if (!stream) throw permissionDenied(reading.call, 'paginate')
  const given =
    request.cursor === undefined ? undefined : readCursor(request.cursor, stream, request, reading)
  return assemble<Element, ElementPlace>(request, {
    place: given && cursorPlace(given, stream.order),
    shown: given && { type: 'values', values: given },
    scan: scan => stream.scan(scan),
    value: elementValue,
    cursor: ({ values, document }) => ({ type: 'values', values: [...values, document] }),
  })
}

/** Throws `invalid ref` if the cursor contains the name of an object that never existed. */
function readCursor(
  cursor: Value,
  stream: ElementStream,
  { cursorAt }: PageRequest,
  { call, session }: CallReading,
): readonly Value[] {
  const given = listOf(cursor)
  const isElement = (values: readonly Value[]) => {
    const from = cursorPlace(values, stream.order)
    return firstOf(stream.scan({ from, to: { ...from, side: 'high' } })) !== undefined
  }
  // The last reference is the document of an element. Documents of deleted objects are in no set.
  const resolved = resolveNames(given, given.slice(0, -1).some(hasRef), isElement, session)
  if (resolved) return resolved
  throw undefinedReference(unresolvedIn(cursor) as UnresolvedRef, call, ...cursorAt)
}

function pageOfEvents(request: PageRequest, reading: CallReading): Page {
  const { set, direction, cursor, cursorAt } = request
  const scan = openHistory(set, reading)
  if (!scan) throw permissionDenied(reading.call, 'paginate')
  const isEvent = (from: HistoryPlace) => firstOf(scan({ from, to: { ...from, side: 'high' } })) !== undefined
  const given =
    cursor === undefined
      ? undefined
      : readEventCursor(cursor, direction, historyKind(set), reading.call, cursorAt, isEvent)
  return assemble<SetEvent, HistoryPlace>(request, {
    place: given?.place,
    shown: given && { type: 'event', event: given.shown },
    scan,
    value: eventValue,
    cursor: event => ({ type: 'event', event: eventCursor(event) }),
  })
}

function historyKind(set: SetLike): HistoryKind {
  if (set.kind === 'ref') return isNativeCollectionRef(set) ? 'native collection' : 'document'
  return set.shape.type === 'events' ? historyKind(set.shape.source) : 'set'
}

/** `T` is an element or an event, and `P` its place. `place` and `shown` represent the cursor of the request. */
interface PageSource<T, P> {
  readonly place: P | undefined
  readonly shown: Cursor | undefined
  scan(scan: {
    readonly from?: P | undefined
    readonly to?: P | undefined
    readonly reverse?: boolean
  }): Iterable<T>
  value(item: T): Value
  cursor(item: T): Cursor
}

type HasSources = { readonly sources: readonly Value[] }

function assemble<T extends HasSources, P>(
  { direction, size, sources }: PageRequest,
  source: PageSource<T, P>,
): Page {
  const count = Number(size < pagesLimits.pageSizeMax ? size : pagesLimits.pageSizeMax)
  const { place, shown } = source
  if (count <= 0) {
    // As in the hosted service, a page of size 0 has the cursor on both sides, and a page of negative size on one side.
    const isGiven = (side: PageRequest['direction']) => count === 0 || side === direction
    return new Page([], isGiven('after') ? shown : undefined, isGiven('before') ? shown : undefined)
  }
  const isForward = direction === 'after'
  const items: T[] = []
  // `Iterator.take` would make a page 2 % slower.
  for (const item of source.scan(isForward ? { from: place } : { to: place, reverse: true })) {
    items.push(item)
    if (items.length > count) break
  }
  const hasMore = items.length > count
  const next = hasMore ? source.cursor((isForward ? items[count] : items[count - 1]) as T) : undefined
  if (hasMore) items.pop()
  const data = isForward ? items : items.reverse()
  const values = data.map(item => {
    const value = source.value(item)
    return sources ? new ElementWithSources(value, distinctSets(item.sources)) : value
  })
  const places = () => data.map(item => source.cursor(item))
  return isForward ? new Page(values, shown, next, places) : new Page(values, next, shown, places)
}

function distinctSets(sets: readonly Value[]): readonly Value[] {
  if (sets.length < 2) return sets
  const keys = new ValueKeys()
  return [...new Map(sets.map(set => [keys.keyOf(set), set])).values()]
}
