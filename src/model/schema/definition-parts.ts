// Reads members of the stored definitions of schema objects. Definitions are validated when they are written, so these
// functions report no errors: they treat a member with an unexpected type as missing.

import { isArray, isObject, type ObjectValue, type Value } from '../../values/value.ts'
import { type Path, parsePath } from './paths.ts'

/** Returns undefined if the member contains no string. */
export function textIn(fields: ObjectValue | undefined, name: string): string | undefined {
  const value = fields?.get(name)
  return typeof value === 'string' ? value : undefined
}

/** Returns an empty object if the member contains no object. */
export function objectIn(fields: ObjectValue | undefined, name: string): ObjectValue {
  const value = fields?.get(name)
  return isObject(value) ? value : new Map()
}

/** Returns the names and objects in an object such as `fields`, `computed_fields` or `indexes`. */
export function namedIn(
  fields: ObjectValue | undefined,
  name: string,
): readonly (readonly [string, ObjectValue])[] {
  return Array.from(objectIn(fields, name)).flatMap(([each, part]) =>
    isObject(part) ? [[each, part] as const] : [],
  )
}

/** Returns an empty array if the member contains no array. */
export function listIn(fields: ObjectValue | undefined, name: string): readonly Value[] {
  const value = fields?.get(name)
  return isArray(value) ? value : []
}

/** Returns the objects in an array such as `constraints` or `migrations`. */
export function partsIn(fields: ObjectValue | undefined, name: string): readonly ObjectValue[] {
  return listIn(fields, name).filter(isObject)
}

/** A field of an index or of a unique constraint, from the definition of a collection. */
export interface DefinedField {
  /** The first step is a field in `data`, a computed field or a metadata field (`id`, `ts`, `ttl`). */
  readonly path: Path
  /** True: the index contains the elements of an array. False: the index contains the complete array. */
  readonly mva: boolean
  readonly order: 'asc' | 'desc'
}

/** An item of `terms`, `values` or `unique`. The path is empty if the item contains no valid path. */
export function fieldOf(item: Value): DefinedField {
  const fields = isObject(item) ? item : new Map([['field', item]])
  return {
    path: parsePath(textIn(fields, 'field') ?? '') ?? [],
    mva: fields.get('mva') === true,
    order: fields.get('order') === 'desc' ? 'desc' : 'asc',
  }
}

/** The fields with valid paths in `terms`, `values` or `unique`. */
export function fieldsIn(part: ObjectValue, name: string): readonly DefinedField[] {
  return listIn(part, name)
    .map(fieldOf)
    .filter(({ path }) => path.length > 0)
}
