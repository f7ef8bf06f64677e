// Bit operations on 64-bit integers. Doubles are truncated, and make the result a double.

import { nonEmptyList, number } from '../arguments.ts'
import { integerOf } from '../arithmetic.ts'
import { family, unary } from '../definition.ts'

function bitOperation(
  name: string,
  wording: string,
  result: string,
  operation: (left: bigint, right: bigint) => bigint,
) {
  return unary(name, nonEmptyList(number), {
    result: 'Number',
    summary: `The bits that are set in ${wording} numbers.`,
    example: ['[6, 3]', result],
    evaluate(operands) {
      const bits = operands.map(integerOf).reduce(operation)
      return operands.every(each => typeof each === 'bigint') ? bits : Number(bits)
    },
  })
}

export const bits = family('Bits', [
  bitOperation('bitand', 'all', '2', (left, right) => left & right),
  bitOperation('bitor', 'any of the', '7', (left, right) => left | right),
  bitOperation('bitxor', 'an odd number of the', '5', (left, right) => left ^ right),
  unary('bitnot', number, {
    result: 'Integer',
    summary: 'The bits that are not set in a number.',
    example: ['1', '-2'],
    evaluate: bitnot => ~integerOf(bitnot),
  }),
])
