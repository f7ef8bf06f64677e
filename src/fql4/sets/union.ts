// Union: every key with its largest multiplicity in any member.

import { commonOrder, compareKeys, type Element, type SetOrder } from '../../model/sets/order.ts'
import type { ElementStream } from '../../model/sets/stream.ts'
import { ElementReader } from './element-reader.ts'
import { groupedStream, withSources } from './grouped.ts'
import { Heap } from './heap.ts'

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

/** All elements with the current key of `first`, from the member that has the most of them. */
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
