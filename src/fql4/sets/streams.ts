// Streams that are computed from other streams. Some transform the scan of one stream: reverse, range, filter,
// distinct. The others combine several streams: difference, intersection, union.

import {
  besideKey,
  commonOrder,
  compareKeys,
  comparePlaces,
  compareToPlace,
  type Element,
  type ElementScan,
  type ElementStream,
  firstOf,
  placeWithin,
  reversedOrder,
  reversedPlace,
  type SetBound,
  type SetOrder,
} from '../../model/sets/stream.ts'
import { ElementReader } from './element-reader.ts'

// Streams that transform the scan of another stream: reverse, range, filter.

/** The elements of another stream in reverse. */
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

/** The elements of another stream between two places. */
export function rangeStream(source: ElementStream, low: SetBound, high: SetBound): ElementStream {
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

/** The elements of another stream for which a condition is true. */
export function filteredStream(source: ElementStream, holds: (element: Element) => boolean): ElementStream {
  return {
    order: source.order,
    *scan(scan) {
      for (const element of source.scan(scan)) if (holds(element)) yield element
    },
  }
}

/**
 * A stream of grouped elements. `groups` reads the groups between two places. These places are never within a group.
 * The elements of each group have the order of the set.
 */
function groupedStream(
  order: SetOrder,
  groups: (scan: ElementScan) => Iterable<readonly Element[]>,
): ElementStream {
  return {
    order,
    *scan(scan) {
      const from = scan.from && outsideGroup(scan.from, 'low')
      const to = scan.to && outsideGroup(scan.to, 'high')
      for (const group of groups({ from, to, reverse: scan.reverse === true })) {
        for (let index = 0; index < group.length; index++) {
          const element = group[scan.reverse ? group.length - 1 - index : index] as Element
          if (from !== scan.from && compareToPlace(element, scan.from as SetBound, order) < 0) continue
          if (to !== scan.to && compareToPlace(element, scan.to as SetBound, order) > 0) continue
          yield element
        }
      }
    },
  }
}

/**
 * Returns the edge of the group if `place` is within a group, otherwise `place` itself. A place is within a group if it
 * contains a document after its values.
 */
function outsideGroup(place: SetBound, side: SetBound['side']): SetBound {
  return place.document === undefined || place.values.length === 0 ? place : { values: place.values, side }
}

/** The elements of one member, with the sources of all members. */
function withSources(
  group: readonly Element[],
  members: readonly (readonly Element[])[],
): readonly Element[] {
  if (members.length === 1) return group
  const sources = [...new Set(members.flatMap(member => (member[0] as Element).sources))]
  return group.map(element => ({ ...element, sources }))
}

// Distinct: for every key the first element of the set. Long runs of equal keys are skipped with a seek.

/** Number of equal elements read one by one in reverse, before a seek finds the first equal element. */
const stepsMax = 8

export function distinctStream(source: ElementStream): ElementStream {
  return groupedStream(source.order, function* (scan) {
    const reader = new ElementReader(source, source.order, scan)
    try {
      while (reader.current) yield [scan.reverse ? takeBackwards(reader, source) : takeForwards(reader)]
    } finally {
      reader.close()
    }
  })
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

// Difference: the elements of the first member whose keys are in no other member.

export function differenceStream(first: ElementStream, others: readonly ElementStream[]): ElementStream {
  const order = commonOrder([first, ...others].map(member => member.order))
  return groupedStream(order, function* (scan) {
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
  })
}

// Intersection: the keys that all members contain, each with its smallest multiplicity. The members seek past one
// another (a leapfrog join), so a small member limits how much of a large member is read.

export function intersectionStream(members: readonly ElementStream[]): ElementStream {
  const order = commonOrder(members.map(member => member.order))
  return groupedStream(order, function* (scan) {
    const readers = members.map(stream => new ElementReader(stream, order, scan))
    try {
      while (meet(readers, order, scan.reverse === true)) {
        const groups = readers.map(reader => reader.takeGroup())
        const shortest = groups.reduce((best, group) => (group.length < best.length ? group : best))
        yield withSources(shortest, groups)
      }
    } finally {
      for (const reader of readers) reader.close()
    }
  })
}

/** Moves all readers to the next common key. Returns false if there is no further common key. */
function meet(readers: readonly ElementReader[], order: SetOrder, reverse: boolean): boolean {
  const sign = reverse ? -1 : 1
  const side = reverse ? 'high' : 'low'
  let goal = readers[0]?.current
  for (let settled = 0, index = 0; goal && settled < readers.length; index = (index + 1) % readers.length) {
    const reader = readers[index] as ElementReader
    reader.seek(besideKey(goal, side))
    if (reader.current === undefined) return false
    if (compareKeys(reader.current, goal, order) * sign > 0) {
      goal = reader.current
      settled = 1
    } else settled++
  }
  return goal !== undefined
}

// Union: every key with its largest multiplicity in any member.

interface Member {
  readonly reader: ElementReader
  readonly place: number
}

export function unionStream(members: readonly ElementStream[]): ElementStream {
  const order = commonOrder(members.map(member => member.order))
  return groupedStream(order, function* (scan) {
    const sign = scan.reverse ? -1 : 1
    const readers = members.map((stream, place) => ({
      reader: new ElementReader(stream, order, scan),
      place,
    }))
    const ahead = (left: Member, right: Member) =>
      compareKeys(left.reader.current as Element, right.reader.current as Element, order) * sign ||
      left.place - right.place
    const heap = new Heap(ahead)
    try {
      for (const member of readers) if (member.reader.current) heap.push(member)
      for (let first = heap.pop(); first; first = heap.pop()) yield takeKey(first, heap, order)
    } finally {
      for (const { reader } of readers) reader.close()
    }
  })
}

/** All elements with the current key of `first`, from the member with the most elements of this key. */
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

/** A binary heap for merging many readers with logarithmic cost per step. */
export class Heap<T> {
  readonly #items: T[] = []
  readonly #compare: (left: T, right: T) => number

  constructor(compare: (left: T, right: T) => number) {
    this.#compare = compare
  }

  peek(): T | undefined {
    return this.#items[0]
  }

  push(item: T): void {
    const items = this.#items
    let index = items.length
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (this.#compare(items[parent] as T, item) <= 0) break
      items[index] = items[parent] as T
      index = parent
    }
    items[index] = item
  }

  /** Removes and returns the least item; undefined when the heap is empty. */
  pop(): T | undefined {
    const items = this.#items
    const least = items[0]
    const last = items.pop()
    if (items.length > 0) this.#sink(last as T)
    return least
  }

  /** Inserts `item` at the root and moves it down to its place. */
  #sink(item: T): void {
    const items = this.#items
    let index = 0
    for (;;) {
      let child = 2 * index + 1
      if (child >= items.length) break
      const right = child + 1
      if (right < items.length && this.#compare(items[right] as T, items[child] as T) < 0) child = right
      if (this.#compare(item, items[child] as T) <= 0) break
      items[index] = items[child] as T
      index = child
    }
    items[index] = item
  }
}
