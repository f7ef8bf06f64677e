// Streams that change how another is walked: turned around, cut to a range, thinned out by a condition.

import {
  comparePlaces,
  type Element,
  placeWithin,
  reversedOrder,
  type SetBound,
  type SetOrder,
  turnedPlace,
} from '../../model/sets/order.ts'
import type { ElementScan, ElementStream } from '../../model/sets/stream.ts'

/** The elements of another stream, last first. */
export class ReversedStream implements ElementStream {
  readonly order: SetOrder
  readonly #source: ElementStream

  constructor(source: ElementStream) {
    this.order = reversedOrder(source.order)
    this.#source = source
  }

  scan({ from, to, reverse }: ElementScan): Iterable<Element> {
    return this.#source.scan({
      from: to && turnedPlace(to),
      to: from && turnedPlace(from),
      reverse: reverse !== true,
    })
  }
}

/** The elements of another stream between two places. */
export class RangeStream implements ElementStream {
  readonly order: SetOrder
  readonly #source: ElementStream
  readonly #from: SetBound
  readonly #to: SetBound

  constructor(source: ElementStream, from: SetBound, to: SetBound) {
    this.order = source.order
    this.#source = source
    this.#from = from
    this.#to = to
  }

  scan(scan: ElementScan): Iterable<Element> {
    const { order } = this
    let [from, to] = [this.#from, this.#to]
    if (scan.from) {
      const place = placeWithin(scan.from, order)
      if (comparePlaces(place, from, order) > 0) from = place
    }
    if (scan.to) {
      const place = placeWithin(scan.to, order)
      if (comparePlaces(place, to, order) < 0) to = place
    }
    return comparePlaces(from, to, order) < 0 ? this.#source.scan({ ...scan, from, to }) : []
  }
}

/** The elements of another stream that a condition holds for. */
export class FilteredStream implements ElementStream {
  readonly order: SetOrder
  readonly #source: ElementStream
  readonly #holds: (element: Element) => boolean

  constructor(source: ElementStream, holds: (element: Element) => boolean) {
    this.order = source.order
    this.#source = source
    this.#holds = holds
  }

  *scan(scan: ElementScan): Generator<Element> {
    for (const element of this.#source.scan(scan)) if (this.#holds(element)) yield element
  }
}
