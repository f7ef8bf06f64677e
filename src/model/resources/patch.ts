// Merges written fields with stored fields. Objects are merged, null removes a field, and every other value replaces
// the stored value. Null fields are never stored. Null elements of arrays are stored in version 10, and removed in
// version 4.
//
// A short query can create a value that is nested too deeply, or that contains the same array many times: it is small
// in memory, but huge when stored. Such values are rejected before the merge copies any value.

import { step } from '../../base/effort.ts'
import { limits } from '../../base/limits.ts'
import { msg } from '../../base/message.ts'
import { RequestError } from '../../base/request-errors.ts'
import { isArray, isObject, type ObjectValue, Transient, type Value } from '../../values/value.ts'

/**
 * Existing fields retain their order, and new fields are appended. Throws `bad request` if the patch is too large or
 * nested too deeply. `keepsNulls` preserves null elements of arrays.
 */
export function applyPatch(base: ObjectValue, patch: ObjectValue, keepsNulls = false): Map<string, Value> {
  measure(patch)
  return patched(base, patch, keepsNulls)
}

/**
 * Throws if a patch is too large or nested too deeply. The measured size is one byte for each value, each byte of
 * binary data, and each UTF-16 unit of a string: a lower bound of the stored size.
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

/** `base` is copied. */
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

/** Converts transient values, and removes null fields and, without `keepsNulls`, null elements of arrays. */
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
