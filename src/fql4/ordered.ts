// Checks values before they are compared by the total order. Unresolved references are not ordered, at any depth of a
// value.

import type { Value } from '../values/value.ts'
import { type Call, undefinedReference } from './definition.ts'
import { ErrorList } from './error-list.ts'
import { unresolvedIn } from './sets/cursor.ts'

/** Throws `invalid ref` at the argument `key`, once for each value with an unresolved reference. */
export function requireOrdered(values: readonly Value[], call: Call, key: string): void {
  const errors = new ErrorList()
  for (const value of values) {
    const unresolved = unresolvedIn(value)
    if (unresolved) errors.add(undefinedReference(unresolved, call, key).errors)
    if (errors.isFull) break
  }
  errors.throwIfAny()
}
