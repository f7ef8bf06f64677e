// Wire JSON: the JSON of requests and responses in version 4. Integers are bigint, doubles are number, and objects are
// Maps in source order, so no number is rounded, and no field changes its position.

import { parseJson } from '../../../src/values/json.ts'
import type { Json } from '../../../src/values/value.ts'
import { type Writable, writeJson } from '../../../src/values/write-json.ts'

export type { Json }
export { parseJson, writeJson }

/** An expression to send. Forms of the language may be plain objects. Integers must be bigint. */
export type Query = Writable

/** Returns undefined for an invalid text. */
export function tryJson(text: string): Json | undefined {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}

export function isMap(value: Json | undefined): value is ReadonlyMap<string, Json> {
  return value instanceof Map
}

/** Returns undefined if the path does not exist. */
export function at(value: Json | undefined, ...path: readonly (string | number)[]): Json | undefined {
  let found = value
  for (const step of path) {
    if (isMap(found)) found = found.get(String(step))
    else if (Array.isArray(found)) found = found[Number(step)]
    else return undefined
  }
  return found
}

/** Returns undefined if there is no text. */
export function textAt(value: Json | undefined, ...path: readonly (string | number)[]): string | undefined {
  const found = at(value, ...path)
  return typeof found === 'string' ? found : undefined
}

/** Returns an empty list if there is no list at the path. */
export function listAt(value: Json | undefined, ...path: readonly (string | number)[]): readonly Json[] {
  const found = at(value, ...path)
  return Array.isArray(found) ? found : []
}
