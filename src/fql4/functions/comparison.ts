// Functions that compare values of any types: for equality, or by the total order of values.

import { equalValues } from '../../values/equality.ts'
import { compareValues } from '../../values/order.ts'
import type { Value } from '../../values/value.ts'
import { anyValue, nonEmptyList } from '../arguments.ts'
import { type Call, family, supportsVersion, unary, undefinedReference } from '../definition.ts'
import { ErrorList } from '../query-errors.ts'
import { unresolvedIn } from '../sets/cursor.ts'
import { Action } from '../values/transient.ts'

/**
 * Rejects values that contain an unresolved reference at any depth, because such values have no order. Each of
 * these values causes one error `invalid ref` at the argument `key`.
 */
export function requireOrdered(values: readonly Value[], call: Call, key: string): void {
  const errors = new ErrorList()
  for (const value of values) {
    const unresolved = unresolvedIn(value)
    if (unresolved) errors.add(undefinedReference(unresolved, call, key).errors)
    if (errors.isFull) break
  }
  errors.throwIfAny()
}

/** Returns whether `accepts` is true for the order of every pair of adjacent operands. */
function isChain(
  operands: readonly Value[],
  accepts: (order: number) => boolean,
  call: Call,
  key: string,
): boolean {
  const { session } = call
  session.metered(() => requireOrdered(operands, call, key))
  for (let index = 1; index < operands.length; index++) {
    const order = session.metered(() => compareValues(operands[index - 1] as Value, operands[index] as Value))
    if (!accepts(order)) return false
  }
  return true
}

function relation(
  name: string,
  wording: string,
  example: [operands: string, exampleResult: 'true' | 'false'],
  accepts: (order: number) => boolean,
) {
  return unary(name, nonEmptyList(anyValue), {
    result: 'Boolean',
    summary: `True if each operand is ${wording} the next. Values of different types are ordered by type.`,
    example,
    evaluate: (operands, call) => isChain(operands, accepts, call, name),
  })
}

/**
 * In contrast to {@link equalValues}, an integer is converted to a double if the other argument is a double. If
 * `exactActions` is false, the action of an event also equals the string that is its name in the oldest API version.
 */
function equalTopLevel(left: Value, right: Value, exactActions: boolean): boolean {
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

export const comparison = family('Comparison', [
  unary('equals', nonEmptyList(anyValue), {
    result: 'Boolean',
    summary:
      'True if all operands are equal. The integer 1 equals the double 1.0, but not within arrays or objects.',
    example: ['[1, 1.0]', 'true'],
    evaluate([first, ...others], { session }) {
      const exactActions = supportsVersion(session, '5')
      return others.every(other => session.metered(() => equalTopLevel(first as Value, other, exactActions)))
    },
  }),
  relation('lt', 'less than', ['[1, 1.5, "one"]', 'true'], order => order < 0),
  relation('lte', 'less than or equal to', ['[1, 1, 2]', 'true'], order => order <= 0),
  relation('gt', 'greater than', ['[3, 1, 2]', 'false'], order => order > 0),
  relation('gte', 'greater than or equal to', ['[null, true, "two", 2]', 'true'], order => order >= 0),
])
