// Limits the size of values that a query constructs: a value that is too large to be written out is rejected when it is
// created.

import { RequestError } from '../base/errors.ts'
import { limits } from '../base/limits.ts'
import { msg } from '../base/message.ts'
import { extentOf } from '../values/extent.ts'
import type { Value } from '../values/value.ts'

/** Returns a newly constructed value. Throws `bad request` when it is too large to be written out. */
export function requireExtent<T extends Value>(value: T, max: number = limits.valueUnitsMax): T {
  const extent = extentOf(value)
  if (extent <= max) return value
  throw new RequestError(
    'bad request',
    msg`Value is too large: got ${extent} values and characters, limit: ${max}.`,
  )
}
