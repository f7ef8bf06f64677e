// Values that are to be compared by the total order. References that name nothing have no place in it, wherever in a
// value they stand.

import type { Value } from '../values/value.ts'
import { type Call, undefinedReference } from './definition.ts'
import { ErrorList } from './error-list.ts'
import { unresolvedIn } from './sets/cursor.ts'

/** Throws `invalid ref` at the argument `key`, once for each value that holds a reference to nothing. */
export function requireOrdered(values: readonly Value[], call: Call, key: string): void {
  const errors = new ErrorList()
  for (const value of values) {
    const unresolved = unresolvedIn(value)
    if (unresolved) errors.add(undefinedReference(unresolved, call, key).errors)
    if (errors.isFull) break
  }
  errors.throwIfAny()
}
