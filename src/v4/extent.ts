// The limit on what a query may put together: a value that could not be written out is refused when it is made.

import { RequestError } from '../errors.ts'
import { limits } from '../limits.ts'
import { extentOf } from '../values/extent.ts'
import type { Value } from '../values/value.ts'

/** Passes on a value that was just made of others. Throws `bad request` when it is too large to be written out. */
export function requireExtent<T extends Value>(value: T, max: number = limits.valueUnitsMax): T {
  const extent = extentOf(value)
  if (extent <= max) return value
  throw new RequestError(
    'bad request',
    `Value is too large: got ${extent} values and characters, limit: ${max}.`,
  )
}
