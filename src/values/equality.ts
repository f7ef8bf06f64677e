// Compares values for equality. Equality is stricter than the order of values (order.ts). For example, 1 and 1.0 are
// not equal, and a document is not equal to an object. The order of an object's fields does not matter. In version 4,
// only the function `Equals` compares numbers by value. The operators of version 10 have their own equality
// (src/fql10/comparison.ts).

import { bytesEqual } from '../base/bytes.ts'
import { step } from '../base/effort.ts'
import { type ObjectValue, Transient, type UnresolvedTarget, type Value } from './value.ts'

export type Tagged = Extract<Value, { readonly kind: string }>

export function equalValues(left: Value, right: Value): boolean {
  step()
  if (typeof left === 'number' || typeof right === 'number') return Object.is(left, right)
  if (left === right) return true
  if (typeof left === 'string' || typeof right === 'string') return equalTexts(left, right)
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false
  if (Array.isArray(left)) return Array.isArray(right) && equalArrays(left, right)
  if (left instanceof Map) return right instanceof Map && equalObjects(left, right)
  if (left instanceof Uint8Array) return right instanceof Uint8Array && equalBytes(left, right)
  if (Array.isArray(right) || right instanceof Map || right instanceof Uint8Array) return false
  const [a, b] = [left as Tagged, right as Tagged]
  return a.kind === b.kind && equalArrays(partsOf(a), partsOf(b))
}

function equalTexts(left: Value, right: Value): boolean {
  if (typeof left === 'string') step(left.length >> 6)
  return wordOf(left) === wordOf(right)
}

function wordOf(value: Value): Value | undefined {
  return value instanceof Transient ? value.word : value
}

function equalArrays(left: readonly Value[], right: readonly Value[]): boolean {
  return (
    left.length === right.length &&
    left.every((element, index) => equalValues(element, right[index] as Value))
  )
}

function equalObjects(left: ObjectValue, right: ObjectValue): boolean {
  if (left.size !== right.size) return false
  for (const [name, field] of left) {
    const other = right.get(name)
    if (other === undefined || !equalValues(field, other)) return false
  }
  return true
}

function equalBytes(left: Uint8Array, right: Uint8Array): boolean {
  step(left.length >> 3)
  return bytesEqual(left, right)
}

/** Values of one kind are equal if and only if their components are equal. */
export function partsOf(value: Tagged): readonly Value[] {
  if (value instanceof Transient) return value.parts()
  switch (value.kind) {
    case 'time':
      return [value.seconds, value.nanos]
    case 'date':
      return [value.epochDay]
    case 'uuid':
      return [value.text]
    case 'ref':
      return [value.database, value.collection, value.id]
    case 'unresolved':
      return [membersOf(value.target)]
    case 'lambda':
      return [value.apiVersion, value.parameters, value.body]
    case 'transaction time':
      return [value.unit]
  }
}

/** Undefined members are omitted. */
function membersOf(target: UnresolvedTarget): ObjectValue {
  const entries: [string, Value | undefined][] = Object.entries(target)
  return new Map(entries.filter((entry): entry is [string, Value] => entry[1] !== undefined))
}
