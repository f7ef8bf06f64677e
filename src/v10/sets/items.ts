// What a set gives one by one when it is read: elements, each with the place from which on it is the first.

import type { Value as StoredValue } from '../../values/value.ts'
import type { Value } from '../value.ts'

/** A place in a set, as the set itself understands it: plain data that can be stored. */
export type SetPosition = StoredValue

/** What comes next in a set. */
export type SetItem =
  | {
      readonly kind: 'element'
      /** Computes the element; to be called once at most, and not at all where it is only asked whether there is one. */
      readonly value: () => Value
      /** From where on this element is the first. */
      readonly place: () => SetPosition
    }
  /** Nothing: but a page that ends here goes on behind, whatever is there. */
  | { readonly kind: 'boundary'; readonly place: () => SetPosition }

/** An item of another set, at a place of this one. */
export function placed(item: SetItem, place: () => SetPosition): SetItem {
  return item.kind === 'boundary'
    ? { kind: 'boundary', place }
    : { kind: 'element', value: () => item.value(), place }
}
