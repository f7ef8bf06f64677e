// Reads members of stored definitions. The definitions were validated when they were written. Therefore a member with a
// value of another type counts as missing.

import { isArray, isObject, type ObjectValue, type Value } from '../../values/value.ts'

/** Returns the string in a member; undefined if there is none. */
export function textIn(fields: ObjectValue | undefined, name: string): string | undefined {
  const value = fields?.get(name)
  return typeof value === 'string' ? value : undefined
}

/** Returns the object in a member, or an empty object if there is none. */
export function objectIn(fields: ObjectValue | undefined, name: string): ObjectValue {
  const value = fields?.get(name)
  return isObject(value) ? value : new Map()
}

/** Returns the objects in a member that maps names to objects, such as `fields`, `computed_fields` and `indexes`. */
export function namedIn(
  fields: ObjectValue | undefined,
  name: string,
): readonly (readonly [string, ObjectValue])[] {
  return Array.from(objectIn(fields, name)).flatMap(([each, part]) =>
    isObject(part) ? [[each, part] as const] : [],
  )
}

/** Returns the array in a member, or an empty array if there is none. */
export function listIn(fields: ObjectValue | undefined, name: string): readonly Value[] {
  const value = fields?.get(name)
  return isArray(value) ? value : []
}

/** Returns the objects in a member that is an array, such as `constraints` and `migrations`. */
export function partsIn(fields: ObjectValue | undefined, name: string): readonly ObjectValue[] {
  return listIn(fields, name).filter(isObject)
}
