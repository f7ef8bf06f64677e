// Bit operations on 64-bit integers. Doubles take part with their fraction cut off, and make the result a double.

import { nonEmptyList, number } from '../arguments.ts'
import { integerOf, type Num } from '../arithmetic.ts'
import { define, family, required } from '../definition.ts'

function bitOperation(
  name: string,
  wording: string,
  result: string,
  operation: (left: bigint, right: bigint) => bigint,
) {
  return define({
    name,
    effect: 'pure',
    arguments: { [name]: required(nonEmptyList(number)) },
    result: 'Number',
    summary: `The bits that are set in ${wording} numbers.`,
    example: [`{"${name}": [6, 3]}`, result],
    evaluate(args) {
      const operands = args[name] as readonly Num[]
      const bits = operands.map(integerOf).reduce(operation)
      return operands.every(each => typeof each === 'bigint') ? bits : Number(bits)
    },
  })
}

export const bits = family('Bits', [
  bitOperation('bitand', 'all', '2', (left, right) => left & right),
  bitOperation('bitor', 'any of the', '7', (left, right) => left | right),
  bitOperation('bitxor', 'an odd number of the', '5', (left, right) => left ^ right),
  define({
    name: 'bitnot',
    effect: 'pure',
    arguments: { bitnot: required(number) },
    result: 'Integer',
    summary: 'The bits that are not set in a number.',
    example: ['{"bitnot": 1}', '-2'],
    evaluate: ({ bitnot }) => ~integerOf(bitnot),
  }),
])
