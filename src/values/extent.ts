// The size that a value would have if it were written out. A value with shared parts is small in memory: doubling it
// (`[x, x]`) thirty times makes a value that no machine can traverse. The extents of large parts are cached, so the
// extent of a new value is known as soon as it is created.

import { step } from '../base/effort.ts'
import { partsOf, type Tagged } from './equality.ts'
import { isArray, type Value } from './value.ts'

/** Extents from this size on are cached. Smaller extents are fast to compute again. */
const rememberedFrom = 64

const extents = new WeakMap<object, number>()

/**
 * The number of values in a value, itself included, plus the UTF-16 units of its texts and the bytes of its byte
 * strings.
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
