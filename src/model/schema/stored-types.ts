// Converts types of fields to values and back, to store a type independently of later changes to the names in its
// signature. The stored form has few levels, for example because a union is a list. So even the deepest signature is
// within the depth limit of stored values.

import { assert, unreachable } from '../../base/assert.ts'
import { isArray, isObject, type Value } from '../../values/value.ts'
import { anyType, type FieldType, type MemberType, nullType, type ScalarName } from './field-types.ts'

/** Returns an object with these fields. */
export function objectOf(fields: Readonly<Record<string, Value>>): Map<string, Value> {
  return new Map(Object.entries(fields))
}

/** Converts a type to a value, without the defaults of inner fields, which do not affect the type check. */
export function storedType(type: FieldType): Value {
  switch (type.kind) {
    case 'any':
      return 'Any'
    case 'null':
      return 'Null'
    case 'scalar':
      return type.name
    case 'literal':
      return objectOf({ literal: type.value })
    case 'union':
      return type.members.map(storedType)
    case 'array':
      return objectOf({ array: storedType(type.element) })
    case 'tuple':
      return objectOf({ tuple: type.elements.map(storedType) })
    case 'reference':
      return objectOf({ reference: BigInt(type.collection), name: type.name })
    case 'object': {
      const fields = Array.from(type.fields, ([name, member]) => [name, storedType(member.type)] as const)
      const stored = objectOf({ object: new Map(fields) })
      return type.wildcard === undefined ? stored : stored.set('wildcard', storedType(type.wildcard))
    }
    default:
      return unreachable(type)
  }
}

/** The inverse of {@link storedType}. */
export function readType(stored: Value): FieldType {
  if (stored === 'Any') return anyType
  if (stored === 'Null') return nullType
  if (typeof stored === 'string') return { kind: 'scalar', name: stored as ScalarName }
  if (isArray(stored)) return { kind: 'union', members: stored.map(readType) }
  assert(isObject(stored), 'a stored type is a name, a list or an object')
  const literal = stored.get('literal')
  if (literal !== undefined) return { kind: 'literal', value: literal as boolean | bigint | number | string }
  const [array, tuple] = [stored.get('array'), stored.get('tuple')]
  if (array !== undefined) return { kind: 'array', element: readType(array) }
  if (isArray(tuple)) return { kind: 'tuple', elements: tuple.map(readType) }
  const [reference, name] = [stored.get('reference'), stored.get('name')]
  if (typeof reference === 'bigint')
    return { kind: 'reference', collection: Number(reference), name: String(name) }
  const [named, wildcard] = [stored.get('object'), stored.get('wildcard')]
  assert(isObject(named), 'a stored type is of a kind that is known')
  const fields = Array.from(named, ([field, type]): [string, MemberType] => [field, { type: readType(type) }])
  return {
    kind: 'object',
    fields: new Map(fields),
    wildcard: wildcard === undefined ? undefined : readType(wildcard),
  }
}
