// Values that are to be compared by the total order. References that name nothing have no place in it, wherever in a
// value they stand.

import { QueryError } from '../errors.ts'
import type { Value } from '../values/value.ts'
import { type Call, undefinedReference } from './definition.ts'
import { unresolvedIn } from './sets/cursor.ts'

/** Throws `invalid ref` at the argument `key`, once for each value that holds a reference to nothing. */
export function requireOrdered(values: readonly Value[], call: Call, key: string): void {
  const errors = values.flatMap(value => {
    const unresolved = unresolvedIn(value)
    return unresolved ? undefinedReference(unresolved, call, key).errors : []
  })
  if (errors.length > 0) throw new QueryError(errors)
}
