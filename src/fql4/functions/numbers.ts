// Functions on numbers: arithmetic, signs, rounding, bits, trigonometry and logarithms.

import { msg } from '../../base/message.ts'
import { integer, nonEmptyList, number } from '../arguments.ts'
import { add, arithmetic, cutToLong, integerOf, type Num, numberText, toLong, wrap } from '../arithmetic.ts'
import { type Call, define, family, optional, unary } from '../definition.ts'

type Operation = (left: Num, right: Num) => Num

/** Defines a function that combines its operands from left to right. A single operand is returned unchanged. */
function fold(
  name: string,
  summary: string,
  example: readonly [operands: string, answer: string],
  combine: (left: Num, right: Num, call: Call) => Num,
) {
  return unary(name, nonEmptyList(number), {
    result: 'Number',
    summary,
    example,
    evaluate: (operands, call) => operands.reduce((left, right) => combine(left, right, call)),
  })
}

/** Adds a check of the divisor to `operation`: 0 and 0.0 cause an error. */
function dividing(operation: Operation): (left: Num, right: Num, call: Call) => Num {
  return (left, right, call) => {
    if (Number(right) === 0) throw call.invalid(msg`Illegal division by zero.`)
    return operation(left, right)
  }
}

const subtract = arithmetic(
  (left, right) => left - right,
  (left, right) => left - right,
)
const multiply = arithmetic(
  (left, right) => left * right,
  (left, right) => left * right,
)
const divide = arithmetic(
  (left, right) => left / right,
  (left, right) => left / right,
)
const modulo = arithmetic(
  (left, right) => left % right,
  (left, right) => left % right,
)

function rounding(
  name: string,
  summary: string,
  example: readonly [string, string],
  operation: (value: Num, places: bigint) => Num,
) {
  return define({
    arguments: { [name]: number, precision: optional(integer) },
    result: 'Number',
    summary,
    example,
    evaluate(args) {
      const value = args[name] as Num
      const places = args.precision as bigint | undefined
      if (places === undefined && typeof value === 'bigint') return value
      return operation(value, places ?? defaultPlaces)
    },
  })
}

export const numbers = family('Numbers', [
  fold('add', 'The sum of numbers; integers wrap around at 64 bits.', ['[1, 2, 0.5]', '3.5'], add),
  fold('subtract', 'The first number less the others.', ['[10, 3, 2]', '5'], subtract),
  fold('multiply', 'The product of numbers; integers wrap around at 64 bits.', ['[2, 3, 7]', '42'], multiply),
  fold(
    'divide',
    'The first number divided by the others; a quotient of integers is cut off.',
    ['[7, 2]', '3'],
    dividing(divide),
  ),
  fold(
    'modulo',
    'The remainder of dividing the first number by the others, with the sign of the first.',
    ['[-7, 3]', '-1'],
    dividing(modulo),
  ),
  unary('abs', number, {
    result: 'Number',
    summary: 'A number without its sign.',
    example: ['-5', '5'],
    evaluate(abs) {
      if (typeof abs === 'number') return Math.abs(abs)
      return abs < 0n ? wrap(-abs) : abs
    },
  }),
  unary('ceil', number, {
    result: 'Number',
    summary: 'The smallest whole number that is not less than the number.',
    example: ['1.1', '2.0'],
    evaluate: ceil => (typeof ceil === 'number' ? Math.ceil(ceil) : ceil),
  }),
  unary('floor', number, {
    result: 'Number',
    summary: 'The greatest whole number that is not greater than the number.',
    example: ['-1.1', '-2.0'],
    evaluate: floor => (typeof floor === 'number' ? Math.floor(floor) : floor),
  }),
  unary('sign', number, {
    result: 'Integer',
    summary: '-1, 0 or 1 by the sign of a number; for a double that is not negative always 1.',
    example: ['-2.5', '-1'],
    evaluate(sign) {
      if (sign < 0) return -1n
      return sign === 0n ? 0n : 1n
    },
  }),
  unary('sqrt', number, {
    result: 'Double',
    summary: 'The square root of a number.',
    example: ['9', '3.0'],
    evaluate(sqrt, call) {
      if (!(sqrt >= 0)) throw call.invalid(msg`${numberText(sqrt)} must be positive`)
      return Math.sqrt(Number(sqrt))
    },
  }),
  rounding(
    'round',
    'A number rounded to decimal places (2 if not given), or to tens and hundreds when negative.',
    ['{"round": 5.666, "precision": 1}', '5.7'],
    round,
  ),
  rounding(
    'trunc',
    'A number truncated to decimal places (2 if not given), or to tens and hundreds when negative.',
    ['{"trunc": 1234, "precision": -2}', '1200'],
    truncate,
  ),
])

// Rounding to decimal places. The protocol defines the formulas, with three quirks. Halves of negative numbers are
// rounded toward zero. Intermediate results are 64-bit integers. From ten decimal places on, the scale is the largest
// 32-bit integer.

const defaultPlaces = 2n

/** Rounds to `places` decimal places. Negative `places` round to tens, hundreds and so on. */
function round(value: Num, places: bigint): Num {
  if (places > 0n) return typeof value === 'bigint' ? value : roundFraction(value, fractionScale(places))
  const scale = tensScale(places)
  const rounded = cutToLong(Number(value) * scale + 0.5) / scale
  return typeof value === 'bigint' ? toLong(rounded) : cutToLong(rounded)
}

/** Truncates to `places` decimal places. Negative `places` truncate to tens, hundreds and so on. */
function truncate(value: Num, places: bigint): Num {
  if (places > 0n) return typeof value === 'bigint' ? value : truncateFraction(value, fractionScale(places))
  const scale = tensScale(places)
  const cut = cutToLong(Number(value) * scale) / scale
  return typeof value === 'bigint' ? toLong(cut) : cut
}

function roundFraction(value: number, scale: number): number {
  const whole = cutToLong(value)
  return whole + cutToLong((value - whole + 0.5 / scale) * scale) / scale
}

function truncateFraction(value: number, scale: number): number {
  const whole = cutToLong(value)
  return whole + cutToLong((value - whole) * scale) / scale
}

/** The largest `int` of Java. */
const intMax = 2 ** 31 - 1

function fractionScale(places: bigint): number {
  return places > 9n ? intMax : 10 ** Number(places)
}

/**
 * Returns 10 to the power of `places`, for `places` ≤ 0. The power is parsed from text because `10 ** -5` is inexact.
 */
function tensScale(places: bigint): number {
  return Number(`1e${places}`)
}

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

/**
 * Bit operations on 64-bit integers. Double operands are truncated to integers. If any operand is a double, the result
 * is a double.
 */
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

/** The domain of a function, and the error text for values outside of the domain. */
interface Domain {
  readonly holds: (value: number) => boolean
  readonly rule: string
}

const everything: Domain = { holds: () => true, rule: '' }
const cosines: Domain = {
  holds: value => value >= -1 && value <= 1,
  rule: 'must be between -1 and 1 inclusive',
}
const positive: Domain = { holds: value => value > 0, rule: 'must be greater than 0' }

function ofDouble(
  name: string,
  summary: string,
  example: readonly [argument: string, answer: string],
  compute: (value: number) => number,
  domain = everything,
) {
  return unary(name, number, {
    result: 'Double',
    summary,
    example,
    evaluate(given, call) {
      const value = Number(given)
      if (!domain.holds(value)) throw call.invalid(msg`${numberText(given)} ${domain.rule}`)
      return compute(value)
    },
  })
}

/** The constants of java.lang.Math. Clients expect results that are calculated with these constants. */
const degreesPerRadian = 57.29577951308232
const radiansPerDegree = 0.017453292519943295

/** Trigonometry, exponentials and logarithms. The results are doubles. Angles are in radians. */
export const trigonometry = family('Trigonometry', [
  ofDouble('acos', 'The angle that has this cosine.', ['1', '0.0'], Math.acos, cosines),
  ofDouble('asin', 'The angle that has this sine.', ['0', '0.0'], Math.asin, cosines),
  ofDouble('atan', 'The angle that has this tangent.', ['0', '0.0'], Math.atan),
  ofDouble('cos', 'The cosine of an angle.', ['0', '1.0'], Math.cos),
  ofDouble('cosh', 'The hyperbolic cosine.', ['0', '1.0'], Math.cosh),
  ofDouble(
    'degrees',
    'An angle in degrees.',
    ['3.141592653589793', '180.0'],
    angle => angle * degreesPerRadian,
  ),
  ofDouble('exp', 'The number e raised to a power.', ['0', '1.0'], Math.exp),
  define({
    arguments: { hypot: number, b: optional(number) },
    result: 'Double',
    summary:
      'The long side of a right triangle from its two short sides; the second is as long as the first if not given.',
    example: ['{"hypot": 3, "b": 4}', '5.0'],
    evaluate: ({ b, hypot }) => Math.hypot(Number(hypot), Number(b ?? hypot)),
  }),
  ofDouble('ln', 'The natural logarithm.', ['1', '0.0'], Math.log, positive),
  ofDouble('log', 'The logarithm to the base of ten.', ['1000', '3.0'], Math.log10, positive),
  define({
    arguments: { pow: number, exp: optional(number) },
    result: 'Double',
    summary: 'A number raised to a power; squared if none is given.',
    example: ['{"pow": 2, "exp": 10}', '1024.0'],
    evaluate: ({ exp, pow }) => Number(pow) ** Number(exp ?? 2n),
  }),
  ofDouble(
    'radians',
    'An angle in radians.',
    ['180', '3.141592653589793'],
    angle => angle * radiansPerDegree,
  ),
  ofDouble('sin', 'The sine of an angle.', ['0', '0.0'], Math.sin),
  ofDouble('sinh', 'The hyperbolic sine.', ['0', '0.0'], Math.sinh),
  ofDouble('tan', 'The tangent of an angle.', ['0', '0.0'], Math.tan),
  ofDouble('tanh', 'The hyperbolic tangent.', ['0', '0.0'], Math.tanh),
])
