// Union: every key as often as in the member that has it most.

import { commonOrder, compareKeys, type Element } from '../../model/sets/order.ts'
import type { ElementScan, ElementStream } from '../../model/sets/stream.ts'
import { ElementReader } from './element-reader.ts'
import { GroupedStream, withSources } from './grouped.ts'
import { Heap } from './heap.ts'

interface Member {
  readonly reader: ElementReader
  readonly place: number
}

export class UnionStream extends GroupedStream {
  readonly #members: readonly ElementStream[]

  constructor(members: readonly ElementStream[]) {
    super(commonOrder(members.map(member => member.order)))
    this.#members = members
  }

  protected *groups(scan: ElementScan): Generator<readonly Element[]> {
    const { order } = this
    const sign = scan.reverse ? -1 : 1
    const members = this.#members.map((stream, place) => ({
      reader: new ElementReader(stream, order, scan),
      place,
    }))
    const ahead = (left: Member, right: Member) =>
      compareKeys(left.reader.current as Element, right.reader.current as Element, order) * sign ||
      left.place - right.place
    const heap = new Heap(ahead)
    try {
      for (const member of members) if (member.reader.current) heap.push(member)
      for (let first = heap.pop(); first; first = heap.pop()) yield takeKey(first, heap, this)
    } finally {
      for (const { reader } of members) reader.close()
    }
  }
}

/** All elements with the key at which `first` stands, of the member that has most of them. */
function takeKey(first: Member, heap: Heap<Member>, { order }: UnionStream): readonly Element[] {
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
