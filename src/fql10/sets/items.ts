// Defines the items that are read from a set: elements, and places without an element. A full page can end at a
// place without an element, so that the next element is not read.

import type { Value as StoredValue } from '../../values/value.ts'
import type { QueryFailure } from '../failure/query-failure.ts'
import type { Value } from '../value.ts'

/** A place from which a set can be read: plain data in a format that the set defines. */
export type SetPlace = StoredValue

interface ElementItem {
  readonly kind: 'element'
  /** Computes the element. Call this function at most once, and only if the element is needed. */
  readonly value: () => Value
  /** A page that is read from this place begins with this element. */
  readonly place: () => SetPlace
}

export type SetItem =
  | ElementItem
  /** A full page that ends here has a cursor, even if no element follows. */
  | { readonly kind: 'boundary'; readonly place: () => SetPlace }
  /** A filter has removed the element at this place. */
  | { readonly kind: 'left out'; readonly place: () => SetPlace }
  /** A filter has failed for the element at this place. The page that reads this item fails. */
  | { readonly kind: 'failed'; readonly failure: QueryFailure; readonly place: () => SetPlace }

/** Returns whether the item is an element. Throws the failure of a failed filter. */
export function isElementOrThrow(item: SetItem): item is ElementItem {
  if (item.kind === 'failed') throw item.failure
  return item.kind === 'element'
}

/** Copies an item of an inner set. `place` is the place of the item in the outer set. */
export function withPlace(item: SetItem, place: () => SetPlace): SetItem {
  return item.kind === 'element' ? { kind: 'element', value: () => item.value(), place } : { ...item, place }
}
