// Parts of stored definitions. They were looked at when they were written; whatever is of another form counts as missing.

import { isArray, isObject, type ObjectValue, type Value } from '../../values/value.ts'

/** A text. */
export function textIn(fields: ObjectValue | undefined, name: string): string | undefined {
  const value = fields?.get(name)
  return typeof value === 'string' ? value : undefined
}

/** An object; an empty one where there is none. */
export function objectIn(fields: ObjectValue | undefined, name: string): ObjectValue {
  const value = fields?.get(name)
  return isObject(value) ? value : new Map()
}

/** The objects that stand in an object under their names: fields, computed fields, indexes. */
export function namedIn(
  fields: ObjectValue | undefined,
  name: string,
): readonly (readonly [string, ObjectValue])[] {
  return Array.from(objectIn(fields, name)).flatMap(([each, part]) =>
    isObject(part) ? [[each, part] as const] : [],
  )
}

/** A list; an empty one where there is none. */
export function listIn(fields: ObjectValue | undefined, name: string): readonly Value[] {
  const value = fields?.get(name)
  return isArray(value) ? value : []
}

/** The objects in a list: constraints, migrations. */
export function partsIn(fields: ObjectValue | undefined, name: string): readonly ObjectValue[] {
  return listIn(fields, name).filter(isObject)
}
