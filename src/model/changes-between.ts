// Computes the difference between two versions of a document, as its history and event streams show it.

import { equalValues } from '../values/equality.ts'
import { isObject, type ObjectValue, type Value } from '../values/value.ts'

/** Returns the fields that differ, with inner objects compared in the same way. Removed fields are null. */
export function changesBetween(before: ObjectValue, after: ObjectValue): ObjectValue {
  const changes = new Map<string, Value>()
  for (const [name, value] of after) {
    const old = before.get(name)
    if (old === undefined) changes.set(name, value)
    else if (equalValues(old, value)) continue
    else changes.set(name, isObject(old) && isObject(value) ? changesBetween(old, value) : value)
  }
  for (const name of before.keys()) if (!after.has(name)) changes.set(name, null)
  return changes
}
