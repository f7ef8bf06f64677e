// Difference: the elements of the first member whose keys no other member has.

import { besideKey, commonOrder, compareKeys, type Element } from '../../model/sets/order.ts'
import type { ElementScan, ElementStream } from '../../model/sets/stream.ts'
import { ElementReader } from './element-reader.ts'
import { GroupedStream } from './grouped.ts'

export class DifferenceStream extends GroupedStream {
  readonly #first: ElementStream
  readonly #others: readonly ElementStream[]

  constructor(first: ElementStream, others: readonly ElementStream[]) {
    super(commonOrder([first, ...others].map(member => member.order)))
    this.#first = first
    this.#others = others
  }

  protected *groups(scan: ElementScan): Generator<readonly Element[]> {
    const [near, far] = scan.reverse ? (['high', 'low'] as const) : (['low', 'high'] as const)
    const first = new ElementReader(this.#first, this.order, scan)
    const others = this.#others.map(stream => new ElementReader(stream, this.order, scan))
    try {
      while (first.current) {
        const key: Element = first.current
        const place = besideKey(key, near)
        const isTaken = others.some(other => {
          other.seek(place)
          return other.current !== undefined && compareKeys(other.current, key, this.order) === 0
        })
        if (isTaken) first.seek(besideKey(key, far))
        else yield first.takeGroup()
      }
    } finally {
      for (const reader of [first, ...others]) reader.close()
    }
  }
}
