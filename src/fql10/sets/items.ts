// Defines the items that are read from a set: elements, and positions without an element. A full page can end at a
// position without an element. The next element is then not read.

import type { Value as StoredValue } from '../../values/value.ts'
import type { QueryFailure } from '../failure/query-failure.ts'
import type { Value } from '../value.ts'

/** A position in a set, in a format that the set defines: plain data that can be stored. */
export type SetPosition = StoredValue

interface ElementItem {
  readonly kind: 'element'
  /** Computes the element. Call this function at most once, and only if the element is needed. */
  readonly value: () => Value
  /** A page that is read from this position begins with this element. */
  readonly position: () => SetPosition
}

/** The next item of a set. */
export type SetItem =
  | ElementItem
  /** A position without an element. A full page that ends here has a cursor, even if no element follows. */
  | { readonly kind: 'boundary'; readonly position: () => SetPosition }
  /** The position of an element that a filter has removed. */
  | { readonly kind: 'left out'; readonly position: () => SetPosition }
  /** The position of an element for which a filter has failed. The page that reads this item fails. */
  | { readonly kind: 'failed'; readonly failure: QueryFailure; readonly position: () => SetPosition }

/** True if an item is an element. Throws the failure of a failed filter. */
export function isElement(item: SetItem): item is ElementItem {
  if (item.kind === 'failed') throw item.failure
  return item.kind === 'element'
}

/** Returns a copy of an inner set's item. `position` is the position of the item in the outer set. */
export function withPosition(item: SetItem, position: () => SetPosition): SetItem {
  return item.kind === 'element'
    ? { kind: 'element', value: () => item.value(), position }
    : { ...item, position }
}
