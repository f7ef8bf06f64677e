// A readable set: its elements in order, from any place in either direction.
//
// An element's key is the tuple of its values, or its document if it has no values. Elements are ordered by key, then
// by document. Merges of sets compare only keys, so a document equals a value that is a reference to the document.
//
// Worked example, values [n], descending: 3/doc 1, 3/doc 2, 1/doc 7. Reversed as a whole: 1/doc 7, 3/doc 2, 3/doc 1.

import type { EntryBound } from '../../storage/store/store-contract.ts'
import { compareDocuments, compareValues } from '../../values/order.ts'
import { Ref, type Value } from '../../values/value.ts'

/** An element of a set. */
export interface Element {
  /** The covered values. Empty: the document itself is the element. */
  readonly values: readonly Value[]
  readonly document: Ref
  /** The sets that the element comes from. A set may appear twice. */
  readonly sources: readonly Value[]
}

/** A place in a set's order, always between elements. */
export type SetBound = EntryBound

/** How the elements of a set are ordered. */
export interface SetOrder {
  /** The maximal number of values of an element. */
  readonly arity: number
  /** True for each descending part of the key. A document without values is a key of one part. */
  readonly descending: readonly boolean[]
  /** The set as a whole is reversed: documents descend, longer keys come first. */
  readonly reversed: boolean
}

/** The order of sets whose elements are documents. */
export const documentOrder: SetOrder = { arity: 0, descending: [false], reversed: false }

/** The order of an index's entries. */
export function indexOrder(descending: readonly boolean[]): SetOrder {
  return descending.length === 0 ? documentOrder : { arity: descending.length, descending, reversed: false }
}

/** The order of the same elements in the other direction. */
export function reversedOrder({ arity, descending, reversed }: SetOrder): SetOrder {
  return { arity, descending: descending.map(part => !part), reversed: !reversed }
}

/** Returns whether elements of both orders can be merged: the parts that they share have the same direction. */
export function areCompatible(left: SetOrder, right: SetOrder): boolean {
  const shared = Math.min(left.descending.length, right.descending.length)
  for (let index = 0; index < shared; index++) {
    if (left.descending[index] !== right.descending[index]) return false
  }
  return left.reversed === right.reversed
}

/** The order of a merge: the order of the member with the longest keys. */
export function commonOrder(orders: readonly SetOrder[]): SetOrder {
  return orders.reduce(
    (longest, order) => (order.arity > longest.arity ? order : longest),
    orders[0] ?? documentOrder,
  )
}

/** The key of an element as a tuple. */
export function keyOf(element: Element): readonly Value[] {
  return element.values.length === 0 ? [element.document] : element.values
}

/** Returns an element as queries see it. */
export function elementValue({ values, document }: Pick<Element, 'values' | 'document'>): Value {
  if (values.length === 0) return document
  return values.length === 1 ? (values[0] as Value) : values
}

/** Compares elements by key alone. Set operations treat equal elements as the same element. */
export function compareKeys(left: Element, right: Element, order: SetOrder): number {
  if (left.values.length === 0 && right.values.length === 0) {
    return turned(compareDocuments(left.document, right.document), order.descending[0] === true)
  }
  return compareTuples(keyOf(left), keyOf(right), order)
}

function compareTuples(left: readonly Value[], right: readonly Value[], order: SetOrder): number {
  return compareShared(left, right, order) || turned(left.length - right.length, order.reversed)
}

/** Compares tuples up to the length of the shorter tuple. */
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

/** Compares two places of one order. */
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

/** Returns -1 for a place before all matching elements, and 1 for a place after them. */
function besideAll(place: SetBound): number {
  return place.side === 'low' ? -1 : 1
}

/** The same place in the reversed order. */
export function reversedPlace(place: SetBound): SetBound {
  return { ...place, side: place.side === 'low' ? 'high' : 'low' }
}

/** The place before (`low`) or after (`high`) all elements with the key of `element`. */
export function besideKey(element: Element, side: SetBound['side']): SetBound {
  return { values: keyOf(element), side }
}

const someRef = new Ref(0n, 0, 0n)

/**
 * Converts a place of a merged order to the order of one member. A member whose elements are documents uses the first
 * part of the key as its document. A member ignores parts beyond its own arity.
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

/** Selects elements of a set, and the direction. */
export interface ElementScan {
  /** Only elements after this place, in the set's own order. */
  readonly from?: SetBound | undefined
  /** Only elements before this place. */
  readonly to?: SetBound | undefined
  /** Yields the last element first. `from` and `to` still refer to the set's own order. */
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
