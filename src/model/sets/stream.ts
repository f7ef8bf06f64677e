// A readable set: its order, and its elements from any place in either direction. Streams are lazy: reading a page of a
// set with a million elements reads only the page.

import type { Element, SetBound, SetOrder } from './order.ts'

/** Selects elements of a set, and the direction. */
export interface ElementScan {
  /** Only elements after this place, in the set's own order. */
  readonly from?: SetBound | undefined
  /** Only elements before this place. */
  readonly to?: SetBound | undefined
  /** Last element first. `from` and `to` keep their meaning. */
  readonly reverse?: boolean
}

export interface ElementStream {
  readonly order: SetOrder
  scan(scan: ElementScan): Iterable<Element>
}

/** Returns the first item, or undefined, and closes the iterator. */
export function firstOf<T>(items: Iterable<T>): T | undefined {
  for (const item of items) return item
  return undefined
}
