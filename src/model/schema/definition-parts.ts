// Reads members of stored definitions. Definitions are validated when they are written, so these functions report no
// errors. They treat a member with an unexpected type as missing.

import { isArray, isObject, type ObjectValue, type Value } from '../../values/value.ts'

/** Returns the string in a member. Returns undefined if the member contains no string. */
export function textIn(fields: ObjectValue | undefined, name: string): string | undefined {
  const value = fields?.get(name)
  return typeof value === 'string' ? value : undefined
}

/** Returns the object in a member. Returns an empty object if the member contains no object. */
export function objectIn(fields: ObjectValue | undefined, name: string): ObjectValue {
  const value = fields?.get(name)
  return isObject(value) ? value : new Map()
}

/** Returns the named objects in a member such as `fields`, `computed_fields` or `indexes`. */
export function namedIn(
  fields: ObjectValue | undefined,
  name: string,
): readonly (readonly [string, ObjectValue])[] {
  return Array.from(objectIn(fields, name)).flatMap(([each, part]) =>
    isObject(part) ? [[each, part] as const] : [],
  )
}

/** Returns the array in a member. Returns an empty array if the member contains no array. */
export function listIn(fields: ObjectValue | undefined, name: string): readonly Value[] {
  const value = fields?.get(name)
  return isArray(value) ? value : []
}

/** Returns the objects in an array member such as `constraints` or `migrations`. */
export function partsIn(fields: ObjectValue | undefined, name: string): readonly ObjectValue[] {
  return listIn(fields, name).filter(isObject)
}
