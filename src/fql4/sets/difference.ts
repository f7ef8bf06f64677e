// Difference: the elements of the first member whose keys are in no other member.

import { besideKey, commonOrder, compareKeys, type Element } from '../../model/sets/order.ts'
import type { ElementStream } from '../../model/sets/stream.ts'
import { ElementReader } from './element-reader.ts'
import { groupedStream } from './grouped.ts'

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
