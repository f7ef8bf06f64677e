// Streams that are computed from other streams. `reverse`, `range`, `filter` and `distinct` transform a single stream.
// `difference`, `intersection` and `union` combine several streams, which are called members.

import {
  besideKey,
  commonOrder,
  compareKeys,
  comparePlaces,
  compareToPlace,
  type Element,
  type ElementPlace,
  type ElementScan,
  type ElementStream,
  firstOf,
  placeWithin,
  reversedOrder,
  reversedPlace,
  type SetOrder,
} from '../../model/sets/stream.ts'
import { ElementReader } from './element-reader.ts'
import { Heap } from './heap.ts'

export function reversedStream(source: ElementStream): ElementStream {
  return {
    order: reversedOrder(source.order),
    scan: ({ from, to, reverse }) =>
      source.scan({
        from: to && reversedPlace(to),
        to: from && reversedPlace(from),
        reverse: reverse !== true,
      }),
  }
}

export function rangeStream(source: ElementStream, low: ElementPlace, high: ElementPlace): ElementStream {
  const { order } = source
  return {
    order,
    scan(scan) {
      let [from, to] = [low, high]
      if (scan.from) {
        const place = placeWithin(scan.from, order)
        if (comparePlaces(place, from, order) > 0) from = place
      }
      if (scan.to) {
        const place = placeWithin(scan.to, order)
        if (comparePlaces(place, to, order) < 0) to = place
      }
      return comparePlaces(from, to, order) < 0 ? source.scan({ ...scan, from, to }) : []
    },
  }
}

export function filteredStream(source: ElementStream, accepts: (element: Element) => boolean): ElementStream {
  return { order: source.order, scan: scan => Iterator.from(source.scan(scan)).filter(accepts) }
}

/** A group contains the elements with the same key, in the order of the set. */
type Groups = Generator<readonly Element[]>

/** `groups` reads whole groups: the places in its argument are never within a group. */
function groupedStream(order: SetOrder, groups: (scan: ElementScan) => Groups): ElementStream {
  return { order, scan: scan => groupedElements(order, groups, scan) }
}

function* groupedElements(
  order: SetOrder,
  groups: (scan: ElementScan) => Groups,
  scan: ElementScan,
): Generator<Element> {
  const from = scan.from && outsideGroup(scan.from, 'low')
  const to = scan.to && outsideGroup(scan.to, 'high')
  for (const group of groups({ from, to, reverse: scan.reverse === true })) {
    for (let index = 0; index < group.length; index++) {
      const element = group[scan.reverse ? group.length - 1 - index : index] as Element
      if (from !== scan.from && compareToPlace(element, scan.from as ElementPlace, order) < 0) continue
      if (to !== scan.to && compareToPlace(element, scan.to as ElementPlace, order) > 0) continue
      yield element
    }
  }
}

/**
 * Moves a place within a group to the start (`low`) or end (`high`) of the group. A place with values and a document is
 * within a group.
 */
function outsideGroup(place: ElementPlace, side: ElementPlace['side']): ElementPlace {
  const { document, values } = place
  return document === undefined || values.length === 0 ? place : { values, side, isWhole: true }
}

/** An element of a combined set has the sources of all members that contain its key. */
function withSources(
  group: readonly Element[],
  members: readonly (readonly Element[])[],
): readonly Element[] {
  if (members.length === 1) return group
  const sources = [...new Set(members.flatMap(member => (member[0] as Element).sources))]
  return group.map(element => ({ ...element, sources }))
}

/** Maximum number of elements with the same key that a reverse scan reads one by one before it seeks the first. */
const stepsMax = 8

/** Yields the first element of each key. A seek skips long runs of equal keys. */
export function distinctStream(source: ElementStream): ElementStream {
  return groupedStream(source.order, scan => distinctGroups(source, scan))
}

function* distinctGroups(source: ElementStream, scan: ElementScan): Groups {
  const reader = new ElementReader(source, source.order, scan)
  try {
    while (reader.current) yield [scan.reverse ? takeBackwards(reader, source) : takeForwards(reader)]
  } finally {
    reader.close()
  }
}

function takeBackwards(reader: ElementReader, source: ElementStream): Element {
  let first = reader.current as Element
  for (let steps = 0; steps < stepsMax; steps++) {
    reader.advance()
    if (!reader.current || compareKeys(reader.current, first, source.order) !== 0) return first
    first = reader.current
  }
  const run = { from: besideKey(first, 'low'), to: besideKey(first, 'high') }
  reader.seek(run.from)
  return firstOf(source.scan(run)) ?? first
}

function takeForwards(reader: ElementReader): Element {
  const element = reader.current as Element
  reader.seek(besideKey(element, 'high'))
  return element
}

/** Yields an element of the first member if no other member contains the key of the element. */
export function differenceStream(first: ElementStream, others: readonly ElementStream[]): ElementStream {
  const order = commonOrder([first, ...others].map(member => member.order))
  return groupedStream(order, scan => differenceGroups(first, others, order, scan))
}

function* differenceGroups(
  first: ElementStream,
  others: readonly ElementStream[],
  order: SetOrder,
  scan: ElementScan,
): Groups {
  const [near, far] = scan.reverse ? (['high', 'low'] as const) : (['low', 'high'] as const)
  const reader = new ElementReader(first, order, scan)
  const otherReaders = others.map(stream => new ElementReader(stream, order, scan))
  try {
    while (reader.current) {
      const key: Element = reader.current
      const place = besideKey(key, near)
      const isTaken = otherReaders.some(other => {
        other.seek(place)
        return other.current !== undefined && compareKeys(other.current, key, order) === 0
      })
      if (isTaken) reader.seek(besideKey(key, far))
      else yield reader.takeGroup()
    }
  } finally {
    for (const each of [reader, ...otherReaders]) each.close()
  }
}

/**
 * Yields the keys that all members contain, each as often as in the member with the fewest elements with this key. The
 * algorithm is a leapfrog join: every reader seeks the current key of another reader. A small member therefore limits
 * the number of elements that are read from large members.
 */
export function intersectionStream(members: readonly ElementStream[]): ElementStream {
  const order = commonOrder(members.map(member => member.order))
  return groupedStream(order, scan => commonGroups(members, order, scan))
}

function* commonGroups(members: readonly ElementStream[], order: SetOrder, scan: ElementScan): Groups {
  const readers = members.map(stream => new ElementReader(stream, order, scan))
  try {
    while (seekCommonKey(readers, order, scan.reverse === true)) {
      const groups = readers.map(reader => reader.takeGroup())
      const shortest = groups.reduce((best, group) => (group.length < best.length ? group : best))
      yield withSources(shortest, groups)
    }
  } finally {
    for (const reader of readers) reader.close()
  }
}

/** Moves all readers to the next key that all members contain. Returns false if there is none. */
function seekCommonKey(readers: readonly ElementReader[], order: SetOrder, reverse: boolean): boolean {
  const sign = reverse ? -1 : 1
  const side = reverse ? 'high' : 'low'
  let goal = readers[0]?.current
  for (let matching = 0, index = 0; goal && matching < readers.length; index = (index + 1) % readers.length) {
    const reader = readers[index] as ElementReader
    reader.seek(besideKey(goal, side))
    if (reader.current === undefined) return false
    if (compareKeys(reader.current, goal, order) * sign > 0) {
      goal = reader.current
      matching = 1
    } else matching++
  }
  return goal !== undefined
}

interface Member {
  readonly reader: ElementReader
  readonly index: number
}

/** Yields the keys of all members, each as often as in the member with the most elements with this key. */
export function unionStream(members: readonly ElementStream[]): ElementStream {
  const order = commonOrder(members.map(member => member.order))
  return groupedStream(order, scan => allGroups(members, order, scan))
}

function* allGroups(members: readonly ElementStream[], order: SetOrder, scan: ElementScan): Groups {
  const sign = scan.reverse ? -1 : 1
  const readers = members.map((stream, index) => ({
    reader: new ElementReader(stream, order, scan),
    index,
  }))
  const compare = (left: Member, right: Member) =>
    compareKeys(left.reader.current as Element, right.reader.current as Element, order) * sign ||
    left.index - right.index
  const heap = new Heap(compare)
  try {
    for (const member of readers) if (member.reader.current) heap.push(member)
    for (let first = heap.pop(); first; first = heap.pop()) yield takeKey(first, heap, order)
  } finally {
    for (const { reader } of readers) reader.close()
  }
}

/** Reads the elements with the current key of `first` from all members, and returns the longest list of them. */
function takeKey(first: Member, heap: Heap<Member>, order: SetOrder): readonly Element[] {
  const key = first.reader.current as Element
  const taken: Member[] = [first]
  for (let next = heap.peek(); next; next = heap.peek()) {
    if (compareKeys(next.reader.current as Element, key, order) !== 0) break
    taken.push(heap.pop() as Member)
  }
  const groups = taken.map(({ reader }) => reader.takeGroup())
  for (const member of taken) if (member.reader.current) heap.push(member)
  const longest = groups.reduce((best, group) => (group.length > best.length ? group : best))
  return withSources(longest, groups)
}
