// When two values are the same. Stricter than the order: 1 and 1.0 differ, documents are not objects; and in one
// way laxer: an object's fields have no order. The function `equals` alone compares numbers by value.

import { step } from '../base/effort.ts'
import type { Action, Cursor, ObjectValue, SetShape, UnresolvedTarget, Value } from './value.ts'

type Tagged = Extract<Value, { readonly kind: string }>

/** Whether two values are the same through and through: membership, `distinct`, set operations on arrays. */
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

/**
 * What the function `equals` returns for two of its arguments: like {@link equalValues}, but a long equals a double
 * when it becomes that double, and an action equals the word it had in the oldest API version, too, unless
 * `exactActions`.
 */
export function equalTopLevel(left: Value, right: Value, exactActions = false): boolean {
  if (typeof left === 'bigint' && typeof right === 'number') return Object.is(Number(left), right)
  if (typeof left === 'number' && typeof right === 'bigint') return Object.is(left, Number(right))
  if (equalValues(left, right)) return true
  if (exactActions) return false
  if (typeof right === 'string' && isAction(left)) return oldName(left) === right
  return typeof left === 'string' && isAction(right) && oldName(right) === left
}

function equalTexts(left: Value, right: Value): boolean {
  if (typeof left === 'string') step(left.length >> 6)
  return (isAction(left) ? left.name : left) === (isAction(right) ? right.name : right)
}

function isAction(value: Value): value is Action {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'action'
}

function oldName(action: Action): string {
  return action.name === 'delete' || action.name === 'remove' ? 'delete' : 'create'
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
  return left.length === right.length && left.every((byte, index) => byte === right[index])
}

/** What makes up a tagged value. Values of one kind are equal if and only if these are. */
export function partsOf(value: Tagged): readonly Value[] {
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
    case 'set':
      return [membersOf(value.shape)]
    case 'lambda':
      return [value.apiVersion, value.parameters, value.body]
    case 'transaction time':
      return [value.unit]
    case 'action':
      return [value.name]
    case 'document':
      return [value.ref, value.ts, value.fields]
    case 'page':
      return [value.data, cursorParts(value.before), cursorParts(value.after)]
    case 'event':
      return [value.ts, value.action, value.document ?? null, value.fields, value.values ?? null]
    case 'element':
      return [value.value, value.sources]
  }
}

/** Both shapes consist of values only, apart from what is absent. */
function membersOf(shape: SetShape | UnresolvedTarget): ObjectValue {
  const entries: [string, Value | undefined][] = Object.entries(shape)
  return new Map(entries.filter((entry): entry is [string, Value] => entry[1] !== undefined))
}

function cursorParts(cursor: Cursor | undefined): Value {
  if (cursor === undefined) return false
  return cursor.type === 'values' ? cursor.values : cursor.event
}
