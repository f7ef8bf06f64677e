// Reads parts of stored definitions. The definitions were validated when they were written, so a value of another type
// counts as missing.

import { isArray, isObject, type ObjectValue, type Value } from '../../values/value.ts'

/** Returns a text, or undefined. */
export function textIn(fields: ObjectValue | undefined, name: string): string | undefined {
  const value = fields?.get(name)
  return typeof value === 'string' ? value : undefined
}

/** Returns an object, or an empty one. */
export function objectIn(fields: ObjectValue | undefined, name: string): ObjectValue {
  const value = fields?.get(name)
  return isObject(value) ? value : new Map()
}

/** Returns the named objects in an object: fields, computed fields, indexes. */
export function namedIn(
  fields: ObjectValue | undefined,
  name: string,
): readonly (readonly [string, ObjectValue])[] {
  return Array.from(objectIn(fields, name)).flatMap(([each, part]) =>
    isObject(part) ? [[each, part] as const] : [],
  )
}

/** Returns a list, or an empty one. */
export function listIn(fields: ObjectValue | undefined, name: string): readonly Value[] {
  const value = fields?.get(name)
  return isArray(value) ? value : []
}

/** Returns the objects in a list: constraints, migrations. */
export function partsIn(fields: ObjectValue | undefined, name: string): readonly ObjectValue[] {
  return listIn(fields, name).filter(isObject)
}
