// Intersection: the keys of all members, each with its smallest multiplicity. The members seek past one another (a
// leapfrog join), so a small member limits how much of a large one is read.

import { besideKey, commonOrder, compareKeys, type SetOrder } from '../../model/sets/order.ts'
import type { ElementStream } from '../../model/sets/stream.ts'
import { ElementReader } from './element-reader.ts'
import { groupedStream, withSources } from './grouped.ts'

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

/** Moves all readers to the next common key; false when there is none. */
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
