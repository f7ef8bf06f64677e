// What a set gives one by one when it is read: elements, each with the place from which on it is the first, and what is
// no element, where a full page may end without a look at what follows.

import type { Value as StoredValue } from '../../values/value.ts'
import type { QueryFailure } from '../failure/failure.ts'
import type { Value } from '../value.ts'

/** A place in a set, as the set itself understands it: plain data that can be stored. */
export type SetPosition = StoredValue

interface ElementItem {
  readonly kind: 'element'
  /** Computes the element; to be called once at most, and not at all where it is only asked whether there is one. */
  readonly value: () => Value
  /** From where on this element is the first. */
  readonly place: () => SetPosition
}

/** What comes next in a set. */
export type SetItem =
  | ElementItem
  /** Nothing: but a page that ends here goes on behind, whatever is there. */
  | { readonly kind: 'boundary'; readonly place: () => SetPosition }
  /** An element of another set that a filter has left out. */
  | { readonly kind: 'left out'; readonly place: () => SetPosition }
  /** An element of another set about which a filter could not decide; it fails the page to which it belongs. */
  | { readonly kind: 'failed'; readonly failure: QueryFailure; readonly place: () => SetPosition }

/** Whether an item is an element. Throws the failure of one that could not be decided about. */
export function isElement(item: SetItem): item is ElementItem {
  if (item.kind === 'failed') throw item.failure
  return item.kind === 'element'
}

/** An item of another set, at a place of this one. */
export function placed(item: SetItem, place: () => SetPosition): SetItem {
  return item.kind === 'element' ? { kind: 'element', value: () => item.value(), place } : { ...item, place }
}
