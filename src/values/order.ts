// The total order of values for comparisons, `max` and `min`, index order, cursors and ranges. The bytes of index keys
// (src/storage/keys/order-codec.ts) have exactly the same order.
//
// Terrarium differs from FQL in one rule. FQL converts a long to a double before it compares the long with a double,
// which gives no order: 2^53 and 2^53 + 1 are different longs, yet both equal the double 2^53. Terrarium compares
// numbers by their exact value. The two rules differ only for longs without an exact double, which are all beyond 2^53.
// For these longs, the order of Terrarium agrees with arithmetic.
//
// These values are equal in the order: a long and a double of the same value (1 and 1.0), objects that differ only in
// the order of their fields, references that differ only in their database, and a transient value (such as a page) and
// its stored form.

import { assert } from '../base/assert.ts'
import { step } from '../base/effort.ts'
import { compareStrings } from './collation.ts'
import { partsOf } from './equality.ts'
import type { Lambda, LocalDate, ObjectValue, Ref, Time, TransactionTime, Uuid, Value } from './value.ts'
import { Transient, UnresolvedRef } from './value.ts'

/** Ranks in ascending order. Never change the numbers, because they are the tag bytes of index keys. */
export const orderRank = {
  number: 0x10,
  bytes: 0x14,
  string: 0x18,
  array: 0x1c,
  object: 0x20,
  ref: 0x24,
  time: 0x28,
  date: 0x2c,
  lambda: 0x30,
  transactionTime: 0x34,
  uuid: 0x38,
  false: 0x3c,
  true: 0x3d,
  null: 0x40,
} as const

/** Values that the order compares directly. */
type OrderedValue = Exclude<Value, Transient | UnresolvedRef>

/**
 * The form in which a value is compared: a transient value in its stored form. Callers must reject unresolved
 * references first.
 */
export function orderForm(value: Value): OrderedValue {
  let form = value
  while (form instanceof Transient) form = form.storedForm()
  assert(!(form instanceof UnresolvedRef), 'an unresolved reference has no place in the order')
  return form
}

export function rankOf(value: OrderedValue): number {
  switch (typeof value) {
    case 'bigint':
    case 'number':
      return orderRank.number
    case 'string':
      return orderRank.string
    case 'boolean':
      return value ? orderRank.true : orderRank.false
  }
  if (value === null) return orderRank.null
  if (value instanceof Map) return orderRank.object
  if (Array.isArray(value)) return orderRank.array
  if (value instanceof Uint8Array) return orderRank.bytes
  const tagged = value as Extract<OrderedValue, { readonly kind: string }>
  switch (tagged.kind) {
    case 'ref':
      return orderRank.ref
    case 'time':
      return orderRank.time
    case 'date':
      return orderRank.date
    case 'lambda':
      return orderRank.lambda
    case 'transaction time':
      return orderRank.transactionTime
    case 'uuid':
      return orderRank.uuid
  }
}

/**
 * Negative, zero or positive: a total order of values of any types. The values must not contain unresolved references.
 */
export function compareValues(left: Value, right: Value): number {
  if (typeof left === 'string' && typeof right === 'string') return compareStrings(left, right)
  step()
  if (isNumber(left) && isNumber(right)) return compareNumbers(left, right)
  // A traversal could only find unresolved references, and the caller guarantees that there are none.
  if (left === right) return 0
  const a = orderForm(left)
  const b = orderForm(right)
  const rank = rankOf(a)
  const difference = rank - rankOf(b)
  return difference !== 0 ? difference : compareWithin(rank, a, b)
}

/** A prefix of a longer tuple sorts before the longer tuple. */
export function compareArrays(left: readonly Value[], right: readonly Value[]): number {
  const length = Math.min(left.length, right.length)
  for (let index = 0; index < length; index++) {
    const order = compareValues(left[index] as Value, right[index] as Value)
    if (order !== 0) return order
  }
  return left.length - right.length
}

/** Compares numbers by their exact value; −0.0 sorts before 0, NaN after all other numbers. */
export function compareNumbers(left: number | bigint, right: number | bigint): number {
  if (typeof left === 'number' && typeof right === 'number') return compareDoubles(left, right)
  if (Number.isNaN(left)) return 1
  if (Number.isNaN(right)) return -1
  if (left < right) return -1
  if (left > right) return 1
  return Number(Object.is(right, -0)) - Number(Object.is(left, -0))
}

/** As in Java, −0.0 is less than 0, and NaN is the greatest value. */
export function compareDoubles(left: number, right: number): number {
  if (left < right) return -1
  if (left > right) return 1
  if (left === right) {
    return left !== 0 ? 0 : Number(Object.is(right, -0)) - Number(Object.is(left, -0))
  }
  return Number(Number.isNaN(left)) - Number(Number.isNaN(right))
}

/** Compares unsigned bytes; a prefix of a longer string sorts before the longer string. */
export function compareBytes(left: Uint8Array, right: Uint8Array): number {
  const length = Math.min(left.length, right.length)
  step(length >> 3)
  for (let index = 0; index < length; index++) {
    const difference = (left[index] as number) - (right[index] as number)
    if (difference !== 0) return difference
  }
  return left.length - right.length
}

/**
 * The order of sets and indexes: by id (as an unsigned 64-bit integer), then by collection. All documents are of one
 * database.
 */
export function compareDocuments(
  left: Pick<Ref, 'id' | 'collection'>,
  right: Pick<Ref, 'id' | 'collection'>,
): number {
  const a = BigInt.asUintN(64, left.id)
  const b = BigInt.asUintN(64, right.id)
  return a < b ? -1 : a > b ? 1 : left.collection - right.collection
}

/** Sorts fields by name (UTF-16 units), the order in which objects are compared and hashed. */
export function sortedFields(object: ObjectValue): [string, Value][] {
  return [...object].sort(([a], [b]) => {
    step()
    return a < b ? -1 : a > b ? 1 : 0
  })
}

function isNumber(value: Value): value is number | bigint {
  return typeof value === 'bigint' || typeof value === 'number'
}

function compareWithin(rank: number, left: OrderedValue, right: OrderedValue): number {
  switch (rank) {
    case orderRank.number:
      return compareNumbers(left as bigint, right as bigint)
    case orderRank.bytes:
      return compareBytes(left as Uint8Array, right as Uint8Array)
    case orderRank.string:
      return compareStrings(left as string, right as string)
    case orderRank.array:
      return compareArrays(left as readonly Value[], right as readonly Value[])
    case orderRank.object:
      return compareArrays(
        sortedFields(left as ObjectValue).flat(),
        sortedFields(right as ObjectValue).flat(),
      )
    case orderRank.ref:
      return compareDocuments(left as Ref, right as Ref)
    case orderRank.time:
      return compareTimes(left as Time, right as Time)
    case orderRank.date:
      return (left as LocalDate).epochDay - (right as LocalDate).epochDay
    case orderRank.lambda:
    case orderRank.transactionTime:
      // FQL does not specify an order of these values, so this order is arbitrary but fixed.
      return compareArrays(
        partsOf(left as Lambda | TransactionTime),
        partsOf(right as Lambda | TransactionTime),
      )
    case orderRank.uuid:
      return compareText((left as Uuid).text, (right as Uuid).text)
    default:
      return 0
  }
}

function compareTimes(left: Time, right: Time): number {
  if (left.seconds !== right.seconds) return left.seconds < right.seconds ? -1 : 1
  return left.nanos - right.nanos
}

function compareText(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0
}
