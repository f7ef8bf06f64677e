// Streams that transform the scan of another stream: reverse, range, filter.

import {
  comparePlaces,
  type Element,
  placeWithin,
  reversedOrder,
  reversedPlace,
  type SetBound,
} from '../../model/sets/order.ts'
import type { ElementStream } from '../../model/sets/stream.ts'

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
