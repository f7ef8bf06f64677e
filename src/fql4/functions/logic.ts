// Logic: combines booleans. Other values are never converted to booleans.

import { msg } from '../../base/message.ts'
import { boolean, lazyList, nonEmptyList } from '../arguments.ts'
import { type Call, family, type Lazy, unary } from '../definition.ts'
import { typeName } from '../values/tagged.ts'

/** Evaluates operands up to the first one equal to `decisive`, which is then the result. */
function shortCircuit(operands: readonly Lazy[], decisive: boolean, call: Call, key: string): boolean {
  for (let index = 0; index < operands.length; index++) {
    const value = (operands[index] as Lazy).evaluate()
    if (typeof value !== 'boolean') {
      throw call.invalid(msg`Boolean expected, ${typeName(value)} provided.`, key, index)
    }
    if (value === decisive) return decisive
  }
  return !decisive
}

/** The two versions of `and` and `or`: before version 3 all operands were evaluated. */
function connective(name: 'and' | 'or', decisive: boolean, summary: string) {
  const answer = String(decisive)
  return [
    unary(name, lazyList, {
      compute: 0,
      since: '3',
      result: 'Boolean',
      summary: `${summary} Operands after the deciding operand are not evaluated.`,
      example: [`[${answer}, {"abort": "not reached"}]`, answer],
      evaluate: (operands, call) => shortCircuit(operands, decisive, call, name),
    }),
    unary(name, nonEmptyList(boolean), {
      until: '3',
      result: 'Boolean',
      summary: `${summary} All operands are evaluated.`,
      example: ['[true, false]', answer],
      evaluate: operands => operands.includes(decisive) === decisive,
    }),
  ]
}

export const logic = family('Logic', [
  ...connective('and', false, 'True if all operands are true.'),
  ...connective('or', true, 'True if any operand is true.'),
  unary('not', boolean, {
    result: 'Boolean',
    summary: 'The opposite of a truth value.',
    example: ['true', 'false'],
    evaluate: value => !value,
  }),
])
