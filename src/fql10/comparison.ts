// Compares values. The operators use equality (`equals`) and a partial order (`compare`). Sorting uses a total order
// (`compareTotally`), also for array elements and object fields. These functions read no documents. Callers that treat
// a missing document as null must check whether the document exists.

import { step } from '../base/effort.ts'
import { compareBytes } from '../values/order.ts'
import type { LocalDate, Time, Uuid } from '../values/value.ts'
import { compareNumbers, integerOfText } from './numbers.ts'
import { haveSameEncoding } from './sets/saved-values.ts'
import {
  type BoundFunction,
  type Doc,
  Id,
  integerOf,
  isArray,
  isNumber,
  isStruct,
  type Kind,
  kindOf,
  type Module,
  type NumberValue,
  type SetCursor,
  type Struct,
  type UserFunction,
  type Value,
} from './value.ts'

/** The order of the types in the total order. */
const ranks: Readonly<Record<Kind, number>> = {
  number: 0,
  bytes: 1,
  string: 2,
  array: 3,
  object: 4,
  id: 5,
  document: 6,
  time: 7,
  'transaction time': 8,
  date: 9,
  uuid: 10,
  boolean: 11,
  module: 12,
  set: 13,
  cursor: 14,
  lambda: 15,
  function: 16,
  'user function': 16,
  'event source': 17,
  null: 18,
}

/** Returns undefined if the value cannot be compared with an ID, for example a text that is not a decimal integer. */
function idNumber(value: Value): bigint | number | undefined {
  if (value instanceof Id) return value.value
  if (typeof value === 'string') return integerOfText(value)
  return typeof value === 'number' ? value : integerOf(value)
}

/** Accepts values of one type, or an ID with a number or a text. Returns undefined if the values have no order. */
export function compare(left: Value, right: Value): number | undefined {
  if (left instanceof Id || right instanceof Id) {
    const [a, b] = [idNumber(left), idNumber(right)]
    return a === undefined || b === undefined ? undefined : compareNumbers(a, b)
  }
  const kind = kindOf(left)
  if (ranks[kind] !== ranks[kindOf(right)]) return undefined
  if (isCallable(kind)) return equals(left, right) ? 0 : undefined
  return compareAlike(kind, left, right)
}

/** Values of different types are ordered by type. */
export function compareTotally(left: Value, right: Value): number {
  step()
  const kind = kindOf(left)
  const other = kindOf(right)
  return (kind !== other && ranks[kind] - ranks[other]) || compareAlike(kind, left, right)
}

function compareAlike(kind: Kind, left: Value, right: Value): number {
  if (left === right && typeof left !== 'number') return 0
  switch (kind) {
    case 'number':
      return compareNumbers(left as NumberValue, right as NumberValue)
    case 'bytes':
      return compareBytes(left as Uint8Array, right as Uint8Array)
    case 'string':
    case 'boolean':
      return (left as string) < (right as string) ? -1 : 1
    case 'array':
      return compareArrays(left as readonly Value[], right as readonly Value[])
    case 'object':
      return compareStructs(left as Struct, right as Struct)
    case 'id':
      return compareNumbers((left as Id).value, (right as Id).value)
    case 'time':
      return compareTimes(left as Time, right as Time)
    case 'date':
      return (left as LocalDate).epochDay - (right as LocalDate).epochDay
    case 'uuid':
      return compareUuids(left as Uuid, right as Uuid)
    case 'document':
      return compareDocs(left as Doc, right as Doc)
    case 'module':
      return compareByOperator((left as Module).path, (right as Module).path)
  }
  // Functions have no order. The result 0 lets sorting keep the original order of functions. For other values without
  // an order, the result only says whether the values are equal.
  return isCallable(kind) || equals(left, right) ? 0 : -1
}

function isCallable(kind: Kind): boolean {
  return kind === 'lambda' || kind === 'function' || kind === 'user function'
}

function compareArrays(left: readonly Value[], right: readonly Value[]): number {
  const shorter = Math.min(left.length, right.length)
  for (let index = 0; index < shorter; index++) {
    const order = compareTotally(left[index] as Value, right[index] as Value)
    if (order !== 0) return order
  }
  return left.length - right.length
}

function compareStructs(left: Struct, right: Struct): number {
  const byName = (struct: Struct) => [...struct].sort(([a], [b]) => (a < b ? -1 : 1)).flat()
  return compareArrays(byName(left), byName(right))
}

function compareTimes(left: Time, right: Time): number {
  return compareByOperator(left.seconds, right.seconds) || left.nanos - right.nanos
}

/** Accepts values for which the operator `<` of JavaScript is a total order. */
function compareByOperator<T extends bigint | string>(left: T, right: T): number {
  return left === right ? 0 : left < right ? -1 : 1
}

/** Compares UUIDs as Java does: as two signed integers of 64 bits. */
function compareUuids(left: Uuid, right: Uuid): number {
  const half = ({ text }: Uuid, from: number, to: number) =>
    BigInt.asIntN(64, BigInt(`0x${text.replaceAll('-', '').slice(from, to)}`))
  const order = compareByOperator(half(left, 0, 16), half(right, 0, 16))
  return order || compareByOperator(half(left, 16, 32), half(right, 16, 32))
}

function compareDocs(left: Doc, right: Doc): number {
  if (left.ref.collection !== right.ref.collection) return left.ref.collection - right.ref.collection
  if (left.name !== undefined && right.name !== undefined) return compareByOperator(left.name, right.name)
  return compareByOperator(left.ref.id, right.ref.id)
}

/** Implements `==`. Documents are equal if their collection and id are equal. */
export function equals(left: Value, right: Value): boolean {
  step()
  if (left === right) return typeof left !== 'number' || Object.is(left, right)
  if (left instanceof Id || right instanceof Id) return compare(left, right) === 0
  const kind = kindOf(left)
  if (kind !== kindOf(right)) return false
  switch (kind) {
    case 'array':
      return equalArrays(left as readonly Value[], right as readonly Value[], equals)
    case 'object':
      return equalStructs(left as Struct, right as Struct, equals)
    case 'transaction time':
    case 'null':
      return true
    case 'set':
      return haveSameEncoding(left, right)
    case 'lambda':
    case 'event source':
      return false
    case 'cursor':
      return (left as SetCursor).text === (right as SetCursor).text
    case 'function': {
      const [one, other] = [left as BoundFunction, right as BoundFunction]
      return one.definition === other.definition && equals(one.receiver, other.receiver)
    }
    case 'user function':
      return (left as UserFunction).ref.id === (right as UserFunction).ref.id
  }
  return compareAlike(kind, left, right) === 0
}

function equalArrays(
  left: readonly Value[],
  right: readonly Value[],
  same: (left: Value, right: Value) => boolean,
): boolean {
  return left.length === right.length && left.every((element, index) => same(element, right[index] as Value))
}

function equalStructs(left: Struct, right: Struct, same: (left: Value, right: Value) => boolean): boolean {
  if (left.size !== right.size) return false
  for (const [key, value] of left) {
    const other = right.get(key)
    if (other === undefined || !same(value, other)) return false
  }
  return true
}

/**
 * The equality of `includes`, `indexOf` and the `distinct` of sets. Unlike {@link equals}, this function compares doubles
 * by IEEE 754, and no ID equals a number.
 */
export function equalElements(left: Value, right: Value): boolean {
  step()
  if (typeof left === 'number' && typeof right === 'number') return left === right
  if (left instanceof Id && isNumber(right)) return false
  if (right instanceof Id && isNumber(left)) return false
  if (isArray(left) && isArray(right)) return equalArrays(left, right, equalElements)
  if (isStruct(left) && isStruct(right)) return equalStructs(left, right, equalElements)
  return equals(left, right)
}
