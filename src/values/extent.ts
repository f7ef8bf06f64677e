// The extent of a value is the size that the value would have if it were written out. An array or object that is in
// memory once can occur many times in a value: thirty repetitions of `x = [x, x]` make a value with a billion elements.
// So the extents of large arrays and objects are cached.

import { step } from '../base/effort.ts'
import { partsOf, type Tagged } from './equality.ts'
import { isArray, type Value } from './value.ts'

/** Smaller extents are fast to compute again. */
const rememberedFrom = 64

const extents = new WeakMap<object, number>()

/**
 * The number of values, including `value` itself, plus the UTF-16 units of texts and field names, plus the bytes of
 * byte strings.
 */
export function extentOf(value: Value): number {
  if (typeof value === 'string') return 1 + value.length
  if (typeof value !== 'object' || value === null) return 1
  if (value instanceof Uint8Array) return 1 + value.length
  const known = extents.get(value)
  if (known !== undefined) return known
  let extent = 1
  if (value instanceof Map) {
    for (const [name, field] of value) extent += name.length + extentOf(field)
  } else {
    const parts = isArray(value) ? value : partsOf(value as Tagged)
    for (const part of parts) extent += extentOf(part)
  }
  step()
  if (extent >= rememberedFrom) extents.set(value, extent)
  return extent
}
