// How large a value would be if it were written out. A value is small in memory when its parts are shared, and doubling
// one (`[x, x]`, then that twice …) makes one in thirty steps that no machine can walk through. The extent of large
// parts is remembered, so that of the whole is known as soon as it is put together.

import { step } from '../base/effort.ts'
import { partsOf, type Tagged } from './equality.ts'
import { isArray, type Value } from './value.ts'

/** Extents from which on they are remembered; less is quickly counted again. */
const rememberedFrom = 64

const extents = new WeakMap<object, number>()

/** Values in a value, itself included, and the UTF-16 units and bytes of its texts, together. */
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
