// Encodes sets and their values as stored values, for cursors and to compare sets. Storable values are encoded as
// themselves if possible; all other values become arrays that begin with a letter.

import { step } from '../../base/effort.ts'
import { epoch } from '../../base/micros.ts'
import { encodeValue } from '../../storage/keys/value-codec.ts'
import { compareBytes } from '../../values/order.ts'
import { LocalDate, type Value as StoredValue, Time, TransactionTime, Uuid } from '../../values/value.ts'
import { sliceOf } from '../syntax/slices.ts'
import { placeholderName } from '../syntax/template.ts'
import {
  BoundFunction,
  Doc,
  EventSource,
  type FunctionValue,
  Id,
  isArray,
  isStruct,
  Lambda,
  Module,
  NarrowLong,
  NullValue,
  SetCursor,
  SetValue,
  type Value,
} from '../value.ts'

/** The encoding of an absent part. */
export const absent: StoredValue = null

/** Encodes a value. */
export function saved(value: Value): StoredValue {
  step()
  if (value === null || value instanceof NullValue) return null
  if (isArray(value)) return ['A', ...value.map(saved)]
  if (isStruct(value)) return new Map(Array.from(value, ([name, field]) => [name, saved(field)]))
  if (typeof value !== 'object' || value instanceof Uint8Array) return value
  if (value instanceof Time || value instanceof LocalDate || value instanceof Uuid) return value
  if (value instanceof TransactionTime) return ['T']
  if (value instanceof NarrowLong) return ['L', value.value]
  if (value instanceof Id) return ['I', value.value]
  if (value instanceof SetCursor) return ['C', value.text]
  if (value instanceof EventSource) return ['E', saved(value.set), value.watched ?? absent]
  return savedOther(value as Doc | Module | SetValue | FunctionValue)
}

function savedOther(value: Doc | Module | SetValue | FunctionValue): StoredValue {
  if (value instanceof Doc) {
    return ['D', value.ref, value.name ?? absent, savedTime(value.readAt)]
  }
  if (value instanceof Module) return ['M', value.name, value.parent ?? absent, value.isUserCollection]
  if (value instanceof SetValue) return ['S', ...value.saved(saved)]
  if (value instanceof Lambda) return savedLambda(value)
  if (value instanceof BoundFunction) return ['B', saved(value.receiver), value.name]
  return ['U', value.name]
}

/** Encodes an optional time. */
export function savedTime(time: number | undefined): StoredValue {
  return time === undefined ? absent : BigInt(time)
}

/** Encodes a lambda with the variables that it uses. */
function savedLambda({ node, scope, source }: Lambda): StoredValue {
  const slice = sliceOf(node, source)
  const wanted = new Set(slice.names)
  for (const index of slice.indices) wanted.add(placeholderName(index))
  const variables = new Map<string, StoredValue>()
  for (let each = scope; each !== undefined; each = each.outer) {
    if (wanted.delete(each.name)) variables.set(each.name, saved(each.value))
  }
  const numbers = (list: readonly number[]) => list.map(number => BigInt(number))
  return ['F', slice.text, numbers(slice.placeholders), numbers(slice.indices), variables]
}

/** True if two values have the same encoding. For sets, this means the same construction from the same parts. */
export function areSameSaved(left: Value, right: Value): boolean {
  return compareBytes(encodeValue(saved(left), epoch), encodeValue(saved(right), epoch)) === 0
}
