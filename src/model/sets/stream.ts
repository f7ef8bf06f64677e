// A readable set: its order, and its elements from any place in either direction, produced as they are asked for.
// Reading a page of a set of a million elements reads a page.

import type { Element, SetBound, SetOrder } from './order.ts'

/** Which elements of a set, in which direction. */
export interface ElementScan {
  /** Elements behind this place, in the set's own order. */
  readonly from?: SetBound | undefined
  /** Elements before this place. */
  readonly to?: SetBound | undefined
  /** Last element first; `from` and `to` keep their meaning. */
  readonly reverse?: boolean
}

export interface ElementStream {
  readonly order: SetOrder
  scan(scan: ElementScan): Iterable<Element>
}

/** The first item, or undefined; ends the iteration. */
export function firstOf<T>(items: Iterable<T>): T | undefined {
  for (const item of items) return item
  return undefined
}
