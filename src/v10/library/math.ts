// The module Math.

import { doubleOf } from '../numbers.ts'
import { type Module, NarrowLong } from '../value.ts'
import { entriesFor, type Members, members } from './definition.ts'
import { number } from './parameters.ts'

const { field, method } = entriesFor<Module>()

/** The table of Math. */
export const mathModule: Members = members('Math', [
  field({
    name: 'PI',
    result: 'Double',
    summary: 'The ratio of the circumference of a circle to its diameter.',
    example: ['Math.PI', '3.141592653589793'],
    read: () => Math.PI,
  }),
  method({
    name: 'abs',
    parameters: { x: number },
    result: 'Number',
    summary: 'The absolute value, in the width of the number.',
    example: ['Math.abs(-3)', '3'],
    run: (_, { x }) => {
      if (typeof x === 'number') return Math.abs(x)
      if (x instanceof NarrowLong) return x.value < 0n ? new NarrowLong(-x.value) : x
      // The least Int and the least Long have no positive counterpart and stay as they are.
      if (x === -(2n ** 31n) || x === -(2n ** 63n)) return x
      return x < 0n ? -x : x
    },
  }),
  method({
    name: 'sqrt',
    parameters: { x: number },
    result: 'Double',
    summary: 'The square root of a number that is not negative.',
    example: ['Math.sqrt(9)', '3.0'],
    run: (_, { x }, call) => {
      const value = doubleOf(x)
      if (value < 0 || Object.is(value, -0)) throw call.invalidArgument('x', 'x must be nonnegative')
      return Math.sqrt(value)
    },
  }),
])
