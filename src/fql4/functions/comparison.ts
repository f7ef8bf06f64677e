// Comparison: equality, and the total order of values of all types.

import { compareValues } from '../../values/order.ts'
import type { Value } from '../../values/value.ts'
import { anyValue, nonEmptyList } from '../arguments.ts'
import { type Call, family, unary } from '../definition.ts'
import { speaks } from '../dialect.ts'
import { equalTopLevel } from '../equality.ts'
import { requireOrdered } from '../ordered.ts'

/** Returns whether every pair of neighbouring operands is in a relation. */
function isChain(
  operands: readonly Value[],
  holds: (order: number) => boolean,
  call: Call,
  key: string,
): boolean {
  const { session } = call
  session.metered(() => requireOrdered(operands, call, key))
  for (let index = 1; index < operands.length; index++) {
    const order = session.metered(() => compareValues(operands[index - 1] as Value, operands[index] as Value))
    if (!holds(order)) return false
  }
  return true
}

function relation(
  name: string,
  wording: string,
  example: [operands: string, answer: 'true' | 'false'],
  holds: (order: number) => boolean,
) {
  return unary(name, nonEmptyList(anyValue), {
    result: 'Boolean',
    summary: `True if each operand is ${wording} the next, in the order of all values.`,
    example,
    evaluate: (operands, call) => isChain(operands, holds, call, name),
  })
}

export const comparison = family('Comparison', [
  unary('equals', nonEmptyList(anyValue), {
    result: 'Boolean',
    summary: 'True if all operands equal the first; an integer equals a double of its value.',
    example: ['[1, 1.0]', 'true'],
    evaluate([first, ...others], { session }) {
      const exactActions = speaks(session, '5')
      return others.every(other => session.metered(() => equalTopLevel(first as Value, other, exactActions)))
    },
  }),
  relation('lt', 'less than', ['[1, 1.5, "one"]', 'true'], order => order < 0),
  relation('lte', 'less than or equal to', ['[1, 1, 2]', 'true'], order => order <= 0),
  relation('gt', 'greater than', ['[3, 1, 2]', 'false'], order => order > 0),
  relation('gte', 'greater than or equal to', ['[null, true, "two", 2]', 'true'], order => order >= 0),
])
