// How written fields meet stored ones: objects merge, null removes, everything else replaces. Fields that are null are never
// stored; null elements of arrays are stored by version 10, and removed by version 4.
//
// A short query can make a value that is small in memory, because its parts are shared, and huge when written out,
// or one that is nested deeper than can be stored. Both end here, before anything is copied.

import { step } from '../../base/effort.ts'
import { RequestError } from '../../base/errors.ts'
import { limits } from '../../base/limits.ts'
import { msg } from '../../base/message.ts'
import { isArray, isObject, type ObjectValue, Transient, type Value } from '../../values/value.ts'

/**
 * `base` with `patch` applied; untouched fields keep their place, new ones come last. Throws `bad request` for a
 * patch that is too large or nested too deep to be stored. `keepsNulls`: those in arrays stay.
 */
export function applyPatch(base: ObjectValue, patch: ObjectValue, keepsNulls = false): Map<string, Value> {
  measure(patch)
  return patched(base, patch, keepsNulls)
}

/**
 * Each value, and each unit of a text, takes a byte of a stored document at least, so their number bounds its size from
 * below.
 */
function measure(patch: ObjectValue): void {
  let bytes = 0
  const visit = (value: Value, depth: number): void => {
    step()
    bytes += typeof value === 'string' || value instanceof Uint8Array ? value.length + 1 : 1
    if (bytes > limits.documentBytesMax) {
      const text = msg`Version bytes (${bytes}) exceeds threshold (${limits.documentBytesMax})`
      throw new RequestError('bad request', text)
    }
    if (depth > limits.valueDepthMax) {
      throw new RequestError('bad request', msg`Value is nested deeper than ${limits.valueDepthMax} levels.`)
    }
    const stored = storableForm(value)
    if (isArray(stored)) for (const element of stored) visit(element, depth + 1)
    else if (isObject(stored)) for (const field of stored.values()) visit(field, depth + 1)
  }
  visit(patch, 0)
}

const noFields: ObjectValue = new Map()

/** A map of its own. */
function patched(base: ObjectValue, patch: ObjectValue, keepsNulls: boolean): Map<string, Value> {
  const merged = new Map(base)
  for (const [name, value] of patch) {
    if (value === null) {
      merged.delete(name)
      continue
    }
    step()
    const stored = storableForm(value)
    const old = merged.get(name)
    merged.set(
      name,
      isObject(stored) && isObject(old) ? patched(old, stored, keepsNulls) : withoutNulls(stored, keepsNulls),
    )
  }
  return merged
}

/** A value as it is stored: transient values in their stored form, without nulls, at every depth. */
function withoutNulls(value: Value, keepsNulls: boolean): Value {
  const stored = storableForm(value)
  if (isArray(stored)) {
    const elements = keepsNulls ? stored : stored.filter(element => element !== null)
    return elements.map(element => withoutNulls(element, keepsNulls))
  }
  return isObject(stored) ? patched(noFields, stored, keepsNulls) : stored
}

function storableForm(value: Value): Value {
  return value instanceof Transient ? value.storedForm() : value
}
