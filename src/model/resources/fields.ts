// Checks of fields that several kinds of documents contain.

import { isReservedName, isValidName } from '../../values/names.ts'
import {
  isArray,
  isObject,
  type ObjectValue,
  Ref,
  Time,
  TransactionTime,
  type Value,
} from '../../values/value.ts'
import { type FieldCheck, failure, invalidType } from './resource.ts'

function ofType(expected: string, accepts: (value: Value) => boolean): FieldCheck {
  return (value, path) => (accepts(value) ? [] : [invalidType(path, value, expected)])
}

export const text = ofType('String', value => typeof value === 'string')
export const flag = ofType('Boolean', value => typeof value === 'boolean')
export const whole = ofType('Long', value => typeof value === 'bigint')
export const map = ofType('Map', isObject)
export const timestamp = ofType(
  'Timestamp',
  value => value instanceof Time || value instanceof TransactionTime,
)
/** A field of databases and keys. */
export const priority = ofType('Priority', value => typeof value === 'bigint' && value >= 1n && value <= 500n)

/** Returns a check for references to documents of a native collection. */
export function refOf(expected: string, collection: number): FieldCheck {
  return ofType(expected, value => value instanceof Ref && value.collection === collection)
}

export const documentRef = ofType('Ref', value => value instanceof Ref)

/** The name of a schema object. */
export const name: FieldCheck = (value, path) => {
  if (typeof value !== 'string') return [invalidType(path, value, 'Name')]
  if (isReservedName(value)) {
    return [failure(path, { kind: 'reserved name', name: value })]
  }
  return isValidName(value) ? [] : [failure(path, { kind: 'name characters', name: value })]
}

/** Returns only the fields with the given names. */
export function pick(item: ObjectValue, names: readonly string[]): ObjectValue {
  return new Map([...item].filter(([name]) => names.includes(name)))
}

/** Applies `clean` to each object in the field `key`, which contains an object or an array of objects. */
export function cleanField(
  fields: Map<string, Value>,
  key: string,
  clean: (item: ObjectValue) => ObjectValue,
): void {
  const given = fields.get(key)
  if (given === undefined) return
  const each = (item: Value): Value => (isObject(item) ? clean(item) : item)
  fields.set(key, isArray(given) ? given.map(each) : each(given))
}
