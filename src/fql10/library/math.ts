// The module Math.

import { step } from '../../base/effort.ts'
import { msg, own } from '../../base/message.ts'
import { cutDigits, degreesPerRadian, radiansPerDegree } from '../../values/java-math.ts'
import type { Call } from '../call.ts'
import { arithmetic, compareNumbers, divide, dividesByZero, doubleOf, negative } from '../numbers.ts'
import { elementsOf } from '../sets/lazy-set.ts'
import { asLong, integerOf, isNumber, type Module, type NumberValue, type Value } from '../value.ts'
import { entriesFor, type FunctionDefinition, type Members, members } from './entry.ts'
import { array, int, number, set } from './parameters.ts'

const { field, method, overloaded, signature } = entriesFor<Module>()

function constant(name: string, value: number, summary: string, text: string) {
  return field(name, { type: 'Number', summary, example: [`Math.${name}`, text], read: () => value })
}

function ofDouble(
  name: string,
  compute: (x: number) => number,
  summary: string,
  example: readonly [string, string],
): FunctionDefinition {
  return method(name, {
    parameters: { x: number },
    type: '(x: Number) => Number',
    summary,
    example,
    run: (_, { x }) => compute(doubleOf(x)),
  })
}

const constants = [
  constant('PI', Math.PI, 'The ratio of the circumference of a circle to its diameter.', '3.141592653589793'),
  constant('E', Math.E, 'The base of natural logarithms.', '2.718281828459045'),
  constant(
    'Infinity',
    Number.POSITIVE_INFINITY,
    'Infinity, which is greater than all numbers.',
    'Math.Infinity',
  ),
  constant('NaN', Number.NaN, 'Not a number, the result of invalid arithmetic.', 'Math.NaN'),
]

/** Rounds or truncates a number as {@link cutDigits} does. The result for an integer is a Long. */
function toPlaces(value: NumberValue, places: number, half: 0.5 | 0): NumberValue {
  const cut = cutDigits(integerOf(value) ?? doubleOf(value), places, half)
  return typeof cut === 'bigint' ? asLong(cut) : cut
}

const basicFunctions = [
  method('abs', {
    parameters: { x: number },
    type: '(x: Number) => Number',
    summary: 'Returns the absolute value of `x`, in the same type (Int, Long or Double).',
    example: ['Math.abs(-3)', '3'],
    // The least Int and the least Long have no positive counterpart and stay unchanged.
    run: (_, { x }) => (typeof x === 'number' ? Math.abs(x) : (integerOf(x) ?? 0n) < 0n ? negative(x) : x),
  }),
  method('sign', {
    parameters: { x: number },
    type: '(x: Number) => Number',
    summary: 'Returns -1 if `x` is negative, 0 if `x` is zero, and 1 if `x` is positive.',
    example: ['Math.sign(-3)', '-1'],
    run: (_, { x }) => BigInt(Math.sign(compareNumbers(x, 0n))),
  }),
  method('ceil', {
    parameters: { x: number },
    type: '(x: Number) => Number',
    summary: 'Rounds `x` up to a whole number. The result of a Double is a Double.',
    example: ['Math.ceil(1.2)', '2.0'],
    run: (_, { x }) => (typeof x === 'number' ? Math.ceil(x) : x),
  }),
  method('floor', {
    parameters: { x: number },
    type: '(x: Number) => Number',
    summary: 'Rounds `x` down to a whole number. The result of a Double is a Double.',
    example: ['Math.floor(1.8)', '1.0'],
    run: (_, { x }) => (typeof x === 'number' ? Math.floor(x) : x),
  }),
  method('round', {
    parameters: { x: number, precision: int },
    type: '(x: Number, precision: Number) => Number',
    summary:
      'Rounds `x` to `precision` decimal places, or to tens, hundreds and so on if `precision` is negative. As in the hosted service, negative numbers are rounded too far toward zero: with the precision 0, -7.2 becomes -6.',
    example: ['Math.round(1.25, 1)', '1.3'],
    run: (_, { x, precision }) => toPlaces(x, precision, 0.5),
  }),
  method('trunc', {
    parameters: { x: number, precision: int },
    type: '(x: Number, precision: Number) => Number',
    summary:
      'Truncates `x` to `precision` decimal places, or to tens, hundreds and so on if `precision` is negative.',
    example: ['Math.trunc(1.29, 1)', '1.2'],
    run: (_, { x, precision }) => toPlaces(x, precision, 0),
  }),
  method('max', {
    parameters: { x: number, y: number },
    type: '(x: Number, y: Number) => Number',
    summary: 'Returns the greater of two numbers.',
    example: ['Math.max(1, 2)', '2'],
    run: (_, { x, y }) => (compareNumbers(x, y) >= 0 ? x : y),
  }),
  method('min', {
    parameters: { x: number, y: number },
    type: '(x: Number, y: Number) => Number',
    summary: 'Returns the lesser of two numbers.',
    example: ['Math.min(1, 2)', '1'],
    run: (_, { x, y }) => (compareNumbers(x, y) <= 0 ? x : y),
  }),
]

/** Throws if a value is not a number. */
function sumOf(values: Iterable<Value>, call: Call): { readonly sum: NumberValue; readonly count: bigint } {
  let sum: NumberValue = 0n
  let count = 0n
  for (const value of values) {
    step()
    if (!isNumber(value)) throw call.invalidArgument('numbers', msg`all array elements must be numbers`)
    sum = arithmetic('+', sum, value)
    count++
  }
  return { sum, count }
}

/** The mean of integers is an integer. Throws `divide_by_zero` for an empty set. */
function meanOfSet(values: Iterable<Value>, call: Call): NumberValue {
  const { sum, count } = sumOf(values, call)
  if (dividesByZero(sum, count))
    throw call.failure('divide_by_zero', msg`Attempted integer division by zero.`)
  return divide(sum, count)
}

const sums = [
  overloaded('sum', {
    type: '((numbers: Array<Number>) => Number) & ((numbers: Set<Number>) => Number)',
    summary:
      'Returns the sum of the numbers in an array or a set. An element that is not a number is an error.',
    example: ['Math.sum([1, 2.5])', '3.5'],
    signatures: [
      signature({ parameters: { numbers: array }, run: (_, { numbers }, call) => sumOf(numbers, call).sum }),
      signature({
        parameters: { numbers: set },
        run: (_, { numbers }, call) => sumOf(elementsOf(numbers, call), call).sum,
      }),
    ],
  }),
  overloaded('mean', {
    type: '((numbers: Array<Number>) => Number) & ((numbers: Set<Number>) => Number)',
    summary:
      'Returns the mean of the numbers in an array or a set. For a set of integers, the mean is truncated to an integer; an empty set is an error, and an empty array returns NaN.',
    example: ['Math.mean([1, 2])', '1.5'],
    signatures: [
      signature({
        parameters: { numbers: array },
        run: (_, { numbers }, call) => {
          const { sum, count } = sumOf(numbers, call)
          return doubleOf(sum) / Number(count)
        },
      }),
      signature({
        parameters: { numbers: set },
        run: (_, { numbers }, call) => meanOfSet(elementsOf(numbers, call), call),
      }),
    ],
  }),
]

/** Throws `invalid_argument` for arguments outside of the domain. */
function boundedFunction(
  name: string,
  compute: (x: number) => number,
  [isWithin, reason]: readonly [(x: number) => boolean, string],
  [summary, query, result]: readonly [summary: string, query: string, result: string],
): FunctionDefinition {
  return method(name, {
    parameters: { x: number },
    type: '(x: Number) => Number',
    summary,
    example: [query, result],
    run: (_, { x }, call) => {
      const value = doubleOf(x)
      if (!isWithin(value)) throw call.invalidArgument('x', own(reason))
      return compute(value)
    },
  })
}

// As on the hosted service, -0.0 is negative.
const notNegative = [(x: number) => !(x < 0 || Object.is(x, -0)), 'x must be nonnegative'] as const
const positive = [(x: number) => !(x <= 0), 'x must be positive'] as const
const atMostOne = [(x: number) => !(Math.abs(x) > 1), 'argument must lie in [-1, 1]'] as const

const boundedFunctions = [
  boundedFunction('sqrt', Math.sqrt, notNegative, [
    'Returns the square root of `x`. A negative `x` is an error.',
    'Math.sqrt(9)',
    '3.0',
  ]),
  boundedFunction('log', Math.log, positive, [
    'Returns the natural logarithm of `x`, which must be greater than 0.',
    'Math.log(1)',
    '0.0',
  ]),
  boundedFunction('log10', Math.log10, positive, [
    'Returns the base 10 logarithm of `x`, which must be greater than 0.',
    'Math.log10(1000)',
    '3.0',
  ]),
  boundedFunction('acos', Math.acos, atMostOne, [
    'Returns the inverse cosine of `x`, in radians. `x` must be between -1 and 1.',
    'Math.acos(1)',
    '0.0',
  ]),
  boundedFunction('asin', Math.asin, atMostOne, [
    'Returns the inverse sine of `x`, in radians. `x` must be between -1 and 1.',
    'Math.asin(0)',
    '0.0',
  ]),
]

const doubleFunctions = [
  ofDouble('sin', Math.sin, 'Returns the sine of `x`, an angle in radians.', ['Math.sin(0)', '0.0']),
  ofDouble('cos', Math.cos, 'Returns the cosine of `x`, an angle in radians.', ['Math.cos(0)', '1.0']),
  ofDouble('tan', Math.tan, 'Returns the tangent of `x`, an angle in radians.', ['Math.tan(0)', '0.0']),
  ofDouble('atan', Math.atan, 'Returns the inverse tangent of `x`, in radians.', ['Math.atan(0)', '0.0']),
  ofDouble('sinh', Math.sinh, 'Returns the hyperbolic sine of `x`.', ['Math.sinh(0)', '0.0']),
  ofDouble('cosh', Math.cosh, 'Returns the hyperbolic cosine of `x`.', ['Math.cosh(0)', '1.0']),
  ofDouble('tanh', Math.tanh, 'Returns the hyperbolic tangent of `x`.', ['Math.tanh(0)', '0.0']),
  ofDouble('exp', Math.exp, 'Returns e raised to the power `x`.', ['Math.exp(0)', '1.0']),
  ofDouble('degrees', x => x * degreesPerRadian, 'Converts the angle `x` from radians to degrees.', [
    'Math.degrees(Math.PI)',
    '180.0',
  ]),
  ofDouble('radians', x => x * radiansPerDegree, 'Converts the angle `x` from degrees to radians.', [
    'Math.radians(180)',
    '3.141592653589793',
  ]),
  method('hypot', {
    parameters: { x: number, y: number },
    type: '(x: Number, y: Number) => Number',
    summary: 'Returns the length of the hypotenuse of a right triangle with the legs `x` and `y`.',
    example: ['Math.hypot(3, 4)', '5.0'],
    run: (_, { x, y }) => Math.hypot(doubleOf(x), doubleOf(y)),
  }),
  method('pow', {
    parameters: { x: number, power: number },
    type: '(x: Number, power: Number) => Number',
    summary: 'Raises `x` to the power `power`. The result is a Double.',
    example: ['Math.pow(2, 10)', '1024.0'],
    run: (_, { x, power }) => doubleOf(x) ** doubleOf(power),
  }),
]

export const mathModule: Members = members('Math', [
  ...constants,
  ...basicFunctions,
  ...sums,
  ...boundedFunctions,
  ...doubleFunctions,
])
