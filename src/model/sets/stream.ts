// A set that can be read: its elements in order, from any place in either direction.
//
// The key of an element is the tuple of its values. If the element has no values, its key is its document. Elements are
// ordered by key, then by document. Merges of sets compare only keys, so a document equals a value that is a reference
// to the document.
//
// Example for one descending value: 3/doc 1, 3/doc 2, 1/doc 7. The reversed set is: 1/doc 7, 3/doc 2, 3/doc 1.

import type { EntryBound } from '../../storage/store/store-contract.ts'
import { compareDocuments, compareValues } from '../../values/order.ts'
import { Ref, type Value } from '../../values/value.ts'

/** An element of a set. */
export interface Element {
  /** The values of the index entry. If empty, the document itself is the element. */
  readonly values: readonly Value[]
  readonly document: Ref
  /** The sets that contain the element. A set may appear twice. */
  readonly sources: readonly Value[]
}

/** A place in a set's order, always between elements. */
export type SetBound = EntryBound

/** The order of the elements of a set. */
export interface SetOrder {
  /** The maximum number of values of an element. */
  readonly arity: number
  /** For each part of the key, whether the part is descending. The key of a document without values has one part. */
  readonly descending: readonly boolean[]
  /** True if the whole set is reversed. Then documents are descending, and longer keys come before shorter ones. */
  readonly reversed: boolean
}

/** The order of sets whose elements are documents. */
export const documentOrder: SetOrder = { arity: 0, descending: [false], reversed: false }

/** Returns the order of an index's entries. `descending`: for each value, whether it is descending. */
export function indexOrder(descending: readonly boolean[]): SetOrder {
  return descending.length === 0 ? documentOrder : { arity: descending.length, descending, reversed: false }
}

/** Returns the reverse of an order. */
export function reversedOrder({ arity, descending, reversed }: SetOrder): SetOrder {
  return { arity, descending: descending.map(part => !part), reversed: !reversed }
}

/** Returns whether sets with these orders can be merged. The parts that both keys have must have the same direction. */
export function areCompatible(left: SetOrder, right: SetOrder): boolean {
  const shared = Math.min(left.descending.length, right.descending.length)
  for (let index = 0; index < shared; index++) {
    if (left.descending[index] !== right.descending[index]) return false
  }
  return left.reversed === right.reversed
}

/** Returns the order of a merge of sets, which is the order of the set with the longest keys. */
export function commonOrder(orders: readonly SetOrder[]): SetOrder {
  return orders.reduce(
    (longest, order) => (order.arity > longest.arity ? order : longest),
    orders[0] ?? documentOrder,
  )
}

/** Returns the key of an element as a tuple. */
export function keyOf(element: Element): readonly Value[] {
  return element.values.length === 0 ? [element.document] : element.values
}

/** Returns an element as queries see it. */
export function elementValue({ values, document }: Pick<Element, 'values' | 'document'>): Value {
  if (values.length === 0) return document
  return values.length === 1 ? (values[0] as Value) : values
}

/** Compares elements by key only. Set operations treat elements with equal keys as the same element. */
export function compareKeys(left: Element, right: Element, order: SetOrder): number {
  if (left.values.length === 0 && right.values.length === 0) {
    return turned(compareDocuments(left.document, right.document), order.descending[0] === true)
  }
  return compareTuples(keyOf(left), keyOf(right), order)
}

function compareTuples(left: readonly Value[], right: readonly Value[], order: SetOrder): number {
  return compareShared(left, right, order) || turned(left.length - right.length, order.reversed)
}

/** Compares two tuples up to the length of the shorter one. */
function compareShared(left: readonly Value[], right: readonly Value[], order: SetOrder): number {
  const shared = Math.min(left.length, right.length)
  for (let index = 0; index < shared; index++) {
    const difference = compareValues(left[index] as Value, right[index] as Value)
    if (difference !== 0) return turned(difference, order.descending[index] === true)
  }
  return 0
}

function turned(difference: number, descending: boolean): number {
  return descending ? -difference : difference
}

/** Compares an element with a place. Negative if the element is before the place, positive if it is after the place. */
export function compareToPlace(element: Element, place: SetBound, order: SetOrder): number {
  if (place.values.length > 0) {
    const key = keyOf(element)
    const difference = compareShared(key, place.values, order)
    if (difference !== 0) return difference
    if (key.length < place.values.length) return order.reversed ? 1 : -1
  }
  if (place.document) {
    const difference = compareDocuments(element.document, place.document)
    if (difference !== 0) return turned(difference, order.reversed)
  }
  return place.side === 'low' ? 1 : -1
}

/** Compares two places in the same order. */
export function comparePlaces(left: SetBound, right: SetBound, order: SetOrder): number {
  const difference = compareShared(left.values, right.values, order)
  if (difference !== 0) return difference
  const length = left.values.length - right.values.length
  if (length !== 0) return length < 0 ? besideAll(left) : -besideAll(right)
  if (left.document && right.document) {
    const documents = compareDocuments(left.document, right.document)
    if (documents !== 0) return turned(documents, order.reversed)
  } else if (left.document) return -besideAll(right)
  else if (right.document) return besideAll(left)
  return besideAll(left) - besideAll(right)
}

/** Returns -1 if a place is before all elements that match it, and 1 if the place is after these elements. */
function besideAll(place: SetBound): number {
  return place.side === 'low' ? -1 : 1
}

/** Returns the same place in the reversed order. */
export function reversedPlace(place: SetBound): SetBound {
  return { ...place, side: place.side === 'low' ? 'high' : 'low' }
}

/** Returns the place before (`low`) or after (`high`) all elements with the key of `element`. */
export function besideKey(element: Element, side: SetBound['side']): SetBound {
  return { values: keyOf(element), side }
}

const someRef = new Ref(0n, 0, 0n)

/**
 * Converts a place of a merged order to the order of one member. If the elements of the member are documents, the first
 * part of the key becomes the document. Parts beyond the arity of the member are ignored.
 */
export function placeWithin(place: SetBound, order: SetOrder): SetBound {
  if (place.values.length <= order.arity) return place
  if (order.reversed) return reversedPlace(ascendingPlaceWithin(reversedPlace(place), order.arity))
  return ascendingPlaceWithin(place, order.arity)
}

function ascendingPlaceWithin(place: SetBound, arity: number): SetBound {
  if (arity > 0) return { values: place.values.slice(0, arity), side: 'high' }
  const [first] = place.values as readonly [Value]
  if (!(first instanceof Ref)) return { values: [], side: compareValues(first, someRef) < 0 ? 'low' : 'high' }
  if (place.values.length > 1) return { values: [], document: first, side: 'high' }
  const ahead = place.document ? compareDocuments(first, place.document) : 0
  const side = ahead < 0 ? 'high' : ahead > 0 ? 'low' : place.side
  return { values: [], document: first, side }
}

/** The range and the direction of a read of elements. */
export interface ElementScan {
  /** Only elements after this place are read. The place refers to the order of the set. */
  readonly from?: SetBound | undefined
  /** Only elements before this place are read. */
  readonly to?: SetBound | undefined
  /** If true, the last element comes first. `from` and `to` still refer to the order of the set. */
  readonly reverse?: boolean
}

export interface ElementStream {
  readonly order: SetOrder
  scan(scan: ElementScan): Iterable<Element>
}

/** Returns the first item, and closes the iterator. Returns undefined if there is no item. */
export function firstOf<T>(items: Iterable<T>): T | undefined {
  for (const item of items) return item
  return undefined
}
