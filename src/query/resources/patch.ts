// How written fields meet stored ones: objects merge, null removes, everything else replaces. Nulls never reach
// storage, not even inside arrays.

import { storedForm, type Transient } from '../../values/stored-form.ts'
import { isArray, isObject, type ObjectValue, type Value } from '../../values/value.ts'

/** `base` with `patch` applied; untouched fields keep their place, new ones come last. */
export function applyPatch(base: ObjectValue, patch: ObjectValue): ObjectValue {
  const merged = new Map(base)
  for (const [name, value] of patch) {
    if (value === null) {
      merged.delete(name)
      continue
    }
    const stored = storableForm(value)
    const old = merged.get(name)
    merged.set(
      name,
      isObject(stored) && old !== undefined && isObject(old) ? applyPatch(old, stored) : withoutNulls(stored),
    )
  }
  return merged
}

/** A value as it is stored: transient values in their stored form, without nulls, at every depth. */
export function withoutNulls(value: Value): Value {
  const stored = storableForm(value)
  if (isArray(stored)) {
    return stored.filter(element => element !== null).map(withoutNulls)
  }
  return isObject(stored) ? applyPatch(new Map(), stored) : stored
}

const transientKinds = new Set(['set', 'action', 'document', 'page', 'event', 'element'])

function storableForm(value: Value): Value {
  if (value === null || typeof value !== 'object' || value instanceof Uint8Array) return value
  if (value instanceof Map || isArray(value)) return value
  const tagged = value as Exclude<typeof value, ReadonlyMap<string, Value>>
  return transientKinds.has(tagged.kind) ? storedForm(tagged as Transient) : tagged
}
