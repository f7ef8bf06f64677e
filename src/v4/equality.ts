// Equality as the function `equals` has it.

import { equalValues } from '../values/equality.ts'
import type { Value } from '../values/value.ts'
import { Action } from './values/event.ts'

/**
 * What the function `equals` returns for two of its arguments: like {@link equalValues}, but a long equals a double
 * when it becomes that double, and an action equals the word it had in the oldest API version, too, unless
 * `exactActions`.
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
