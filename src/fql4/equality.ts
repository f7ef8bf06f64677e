// Equality as defined by the function `equals`.

import { equalValues } from '../values/equality.ts'
import type { Value } from '../values/value.ts'
import { Action } from './values/event.ts'

/**
 * Compares two arguments of the function `equals`. Differs from {@link equalValues} in two ways. A long equals a double
 * if it converts to that double. Unless `exactActions` is set, an action also equals its name in the oldest API
 * version.
 */
export function equalTopLevel(left: Value, right: Value, exactActions = false): boolean {
  if (typeof left === 'bigint' && typeof right === 'number') return Object.is(Number(left), right)
  if (typeof left === 'number' && typeof right === 'bigint') return Object.is(left, Number(right))
  if (equalValues(left, right)) return true
  if (exactActions) return false
  if (typeof right === 'string' && left instanceof Action) return oldName(left) === right
  return typeof left === 'string' && right instanceof Action && oldName(right) === left
}

function oldName(action: Action): string {
  return action.name === 'delete' || action.name === 'remove' ? 'delete' : 'create'
}
