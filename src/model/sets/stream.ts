// Defines streams of set elements, which can be read from any place in both directions, and the order of elements.
//
// The key of an element is the tuple of its values, or without values its document. Elements are sorted by key, then by
// document. Combinations of sets compare only keys. Therefore an element without values equals an element whose only
// value is a reference to the same document.
//
// An example of a set with one descending value: (3, doc 1), (3, doc 2), (1, doc 7). The reversed set is (1, doc 7),
// (3, doc 2), (3, doc 1).

import type { EntryBound } from '../../storage/store/store-contract.ts'
import { compareDocuments, compareValues } from '../../values/order.ts'
import { Ref, type Value } from '../../values/value.ts'

export interface Element {
  /** Empty if the element is a document. */
  readonly values: readonly Value[]
  readonly document: Ref
  /** The sets that contain the element, possibly with duplicates. */
  readonly sources: readonly Value[]
}

/**
 * A place between elements: before (`low`) or after (`high`) certain elements. For a place with a document and
 * values, this is the element with the document and exactly these values. For a place without a document, these are
 * all elements whose keys begin with `values`.
 */
export interface ElementPlace extends EntryBound {
  /** The place is before or after only the elements whose keys are exactly `values`. */
  readonly isWhole?: boolean
}

/** The order of the elements of a set. */
export interface SetOrder {
  /** Maximum number of values of an element. */
  readonly arity: number
  /** The different numbers of values of the elements, in the order of the members of a combined set. */
  readonly arities: readonly number[]
  /** True for each descending part of the key. The key of an element without values has one part. */
  readonly descending: readonly boolean[]
  /** True if the set is reversed. In a reversed set, documents are descending, and longer keys precede shorter keys. */
  readonly reversed: boolean
}

/** The order of sets whose elements are documents. */
export const documentOrder: SetOrder = { arity: 0, arities: [0], descending: [false], reversed: false }

/** Returns the order of index entries. `descending` contains true for each descending value. */
export function indexOrder(descending: readonly boolean[]): SetOrder {
  const { length } = descending
  return length === 0 ? documentOrder : { arity: length, arities: [length], descending, reversed: false }
}

export function reversedOrder({ descending, reversed, ...arity }: SetOrder): SetOrder {
  return { ...arity, descending: descending.map(part => !part), reversed: !reversed }
}

/** All parts of the shorter key have the same direction in the longer key. */
function areCompatible(left: SetOrder, right: SetOrder): boolean {
  const shared = Math.min(left.descending.length, right.descending.length)
  for (let index = 0; index < shared; index++) {
    if (left.descending[index] !== right.descending[index]) return false
  }
  return left.reversed === right.reversed
}

/** Returns whether sets with these orders can be combined. */
export function areAllCompatible(orders: readonly SetOrder[]): boolean {
  // Directions are compared up to the shorter key, so it is sufficient to compare each order with the longest order.
  const longest = commonOrder(orders)
  return orders.every(order => areCompatible(order, longest))
}

/** The order with the longest keys, and the arities of all sets. */
export function commonOrder(orders: readonly SetOrder[]): SetOrder {
  const [first = documentOrder, ...others] = orders
  const longest = others.reduce((best, order) => (order.arity > best.arity ? order : best), first)
  const arities = [...new Set(orders.flatMap(order => order.arities))]
  return arities.length <= longest.arities.length ? longest : { ...longest, arities }
}

export function keyOf(element: Element): readonly Value[] {
  return element.values.length === 0 ? [element.document] : element.values
}

export function elementValue({ values, document }: Pick<Element, 'values' | 'document'>): Value {
  if (values.length === 0) return document
  return values.length === 1 ? (values[0] as Value) : values
}

/** Compares the keys of elements. Set operations treat elements with equal keys as equal. */
export function compareKeys(left: Element, right: Element, order: SetOrder): number {
  if (left.values.length === 0 && right.values.length === 0) {
    return withDirection(compareDocuments(left.document, right.document), order.descending[0] === true)
  }
  const a = keyOf(left)
  const b = keyOf(right)
  return compareShared(a, b, order) || withDirection(a.length - b.length, order.reversed)
}

/** Compares two tuples up to the length of the shorter tuple. */
function compareShared(left: readonly Value[], right: readonly Value[], order: SetOrder): number {
  const shared = Math.min(left.length, right.length)
  for (let index = 0; index < shared; index++) {
    const difference = compareValues(left[index] as Value, right[index] as Value)
    if (difference !== 0) return withDirection(difference, order.descending[index] === true)
  }
  return 0
}

function withDirection(difference: number, descending: boolean): number {
  return descending ? -difference : difference
}

/** Negative for an element before the place, positive for an element after it. */
export function compareToPlace(element: Element, place: ElementPlace, order: SetOrder): number {
  if (place.values.length > 0) {
    const key = keyOf(element)
    const difference = compareShared(key, place.values, order)
    if (difference !== 0) return difference
    if (key.length < place.values.length) return withDirection(-1, order.reversed)
    if (key.length > place.values.length && isWhole(place)) return withDirection(1, order.reversed)
  }
  if (place.document) {
    const difference = compareDocuments(element.document, place.document)
    if (difference !== 0) return withDirection(difference, order.reversed)
  }
  return place.side === 'low' ? 1 : -1
}

export function comparePlaces(left: ElementPlace, right: ElementPlace, order: SetOrder): number {
  const difference = compareShared(left.values, right.values, order)
  if (difference !== 0) return difference
  // A place with fewer values is before or after all keys that begin with these values. If the values are a whole key,
  // it precedes the longer keys.
  const length = left.values.length - right.values.length
  if (length < 0) return isWhole(left) ? withDirection(-1, order.reversed) : sideSign(left)
  if (length > 0) return isWhole(right) ? withDirection(1, order.reversed) : -sideSign(right)
  if (left.document && right.document) {
    const documents = compareDocuments(left.document, right.document)
    if (documents !== 0) return withDirection(documents, order.reversed)
  } else if (left.document) return -sideSign(right)
  else if (right.document) return sideSign(left)
  return sideSign(left) - sideSign(right) || longerKeysSign(left, order) - longerKeysSign(right, order)
}

/** The values are a whole key, so that longer keys are on the same side as greater keys. */
function isWhole(place: ElementPlace): boolean {
  return place.isWhole === true || (place.document !== undefined && place.values.length > 0)
}

/** Compares a place with the longer keys that begin with its values: -1 before, 1 after these keys. */
function longerKeysSign(place: ElementPlace, order: SetOrder): number {
  return isWhole(place) ? withDirection(-1, order.reversed) : sideSign(place)
}

/** -1 before all elements with the values and document of the place, 1 after them. */
function sideSign(place: ElementPlace): number {
  return place.side === 'low' ? -1 : 1
}

export function reversedPlace(place: ElementPlace): ElementPlace {
  return { ...place, side: place.side === 'low' ? 'high' : 'low' }
}

/** Returns the place before (`low`) or after (`high`) all elements with the key of `element`. */
export function besideKey(element: Element, side: ElementPlace['side']): ElementPlace {
  return { values: keyOf(element), side, isWhole: true }
}

/** Contains the elements whose keys are exactly `values`. */
export function rangeOfKey(values: readonly Value[]): {
  readonly from: ElementPlace
  readonly to: ElementPlace
} {
  return { from: { values, side: 'low', isWhole: true }, to: { values, side: 'high', isWhole: true } }
}

const someRef = new Ref(0n, 0, 0n)

/** Returns whether the order of types puts a value that is not a reference before all references. */
export function precedesRefs(value: Value): boolean {
  return compareValues(value, someRef) < 0
}

/**
 * Converts a place in a combination of sets to a place in one of them, with the order `order`. If the elements of
 * this set have values, only the first `order.arity` values are kept. Otherwise, the first value becomes the document.
 */
export function placeWithin(place: ElementPlace, order: SetOrder): ElementPlace {
  if (place.values.length <= order.arity) return place
  if (order.reversed) return reversedPlace(ascendingPlaceWithin(reversedPlace(place), order.arity))
  return ascendingPlaceWithin(place, order.arity)
}

function ascendingPlaceWithin(place: ElementPlace, arity: number): ElementPlace {
  if (arity > 0) return { values: place.values.slice(0, arity), side: 'high' }
  const [first] = place.values as readonly [Value]
  if (!(first instanceof Ref)) return { values: [], side: precedesRefs(first) ? 'low' : 'high' }
  if (place.values.length > 1) return { values: [], document: first, side: 'high' }
  const ahead = place.document ? compareDocuments(first, place.document) : 0
  const side = ahead < 0 ? 'high' : ahead > 0 ? 'low' : place.side
  return { values: [], document: first, side }
}

/**
 * Converts a place in a combination of sets to a place in a stored set, whose elements have `order.arity` values.
 */
export function storedPlace(place: ElementPlace, order: SetOrder): EntryBound {
  const within = placeWithin(place, order)
  const { document, isOpen, side, values } = within
  if (values.length < order.arity && isWhole(within)) return { values, side: 'low' }
  return { values, side, ...(document && { document }), ...(isOpen && { isOpen }) }
}

export interface ElementScan {
  /** The start of the range, in the order of the set. */
  readonly from?: ElementPlace | undefined
  /** The end of the range, in the order of the set. */
  readonly to?: ElementPlace | undefined
  /** Scans from `to` to `from`. */
  readonly reverse?: boolean
}

export interface ElementStream {
  readonly order: SetOrder
  scan(scan: ElementScan): Iterable<Element>
}

/** Closes the iterator. Returns undefined if the iterable is empty. */
export function firstOf<T>(items: Iterable<T>): T | undefined {
  for (const item of items) return item
  return undefined
}
