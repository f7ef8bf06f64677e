// Functions on numbers: arithmetic, signs, rounding, bits, trigonometry and logarithms.

import { msg } from '../../base/message.ts'
import { cutDigits, degreesPerRadian, radiansPerDegree } from '../../values/java-math.ts'
import { integer, nonEmptyList, number } from '../arguments.ts'
import { add, arithmetic, integerOf, type Num, numberText, wrap } from '../arithmetic.ts'
import { type Call, define, family, optional, unary } from '../definition.ts'

type Operation = (left: Num, right: Num) => Num

/** Combines operands from left to right. A single operand is returned unchanged. */
function fold(
  name: string,
  summary: string,
  example: readonly [operands: string, exampleResult: string],
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

const defaultPlaces = 2n

function rounding(name: string, summary: string, example: readonly [string, string], half: 0.5 | 0) {
  return define({
    arguments: { [name]: number, precision: optional(integer) },
    result: 'Number',
    summary,
    example,
    evaluate: args =>
      cutDigits(args[name] as Num, (args.precision as bigint | undefined) ?? defaultPlaces, half),
  })
}

export const numbers = family('Numbers', [
  fold(
    'add',
    'Adds all numbers. An integer result that exceeds 64 bits wraps around.',
    ['[1, 2, 0.5]', '3.5'],
    add,
  ),
  fold(
    'subtract',
    'Subtracts all other numbers from the first number. An integer result that exceeds 64 bits wraps around.',
    ['[10, 3, 2]', '5'],
    subtract,
  ),
  fold(
    'multiply',
    'Multiplies all numbers. An integer result that exceeds 64 bits wraps around.',
    ['[2, 3, 7]', '42'],
    multiply,
  ),
  fold(
    'divide',
    'Divides the first number by all other numbers in order. A quotient of integers is truncated to an integer; division by 0 is an error.',
    ['[7, 2]', '3'],
    dividing(divide),
  ),
  fold(
    'modulo',
    'Returns the remainder of the first number divided by the second; each further number divides the previous remainder. The result has the sign of the first number; division by 0 is an error.',
    ['[-7, 3]', '-1'],
    dividing(modulo),
  ),
  unary('abs', number, {
    result: 'Number',
    summary: 'Returns the absolute value of a number.',
    example: ['-5', '5'],
    evaluate(abs) {
      if (typeof abs === 'number') return Math.abs(abs)
      return abs < 0n ? wrap(-abs) : abs
    },
  }),
  unary('ceil', number, {
    result: 'Number',
    summary: 'Rounds a number up to a whole number. The result of a double is a double.',
    example: ['1.1', '2.0'],
    evaluate: ceil => (typeof ceil === 'number' ? Math.ceil(ceil) : ceil),
  }),
  unary('floor', number, {
    result: 'Number',
    summary: 'Rounds a number down to a whole number. The result of a double is a double.',
    example: ['-1.1', '-2.0'],
    evaluate: floor => (typeof floor === 'number' ? Math.floor(floor) : floor),
  }),
  unary('sign', number, {
    result: 'Integer',
    summary:
      'Returns -1 for a negative number, 0 for the integer 0, and 1 for all other numbers, including the double 0.0.',
    example: ['-2.5', '-1'],
    evaluate(sign) {
      if (sign < 0) return -1n
      return sign === 0n ? 0n : 1n
    },
  }),
  unary('sqrt', number, {
    result: 'Double',
    summary: 'Returns the square root of a number. A negative number is an error.',
    example: ['9', '3.0'],
    evaluate(sqrt, call) {
      if (!(sqrt >= 0)) throw call.invalid(msg`${numberText(sqrt)} must be positive`)
      return Math.sqrt(Number(sqrt))
    },
  }),
  rounding(
    'round',
    'Rounds a number to `precision` decimal places (default 2), or to tens, hundreds and so on if `precision` is negative. As in the hosted service, negative numbers are rounded too far toward zero: with the precision 0, -7.2 becomes -6.',
    ['{"round": 5.666, "precision": 1}', '5.7'],
    0.5,
  ),
  rounding(
    'trunc',
    'Truncates a number to `precision` decimal places (default 2), or to tens, hundreds and so on if `precision` is negative.',
    ['{"trunc": 1234, "precision": -2}', '1200'],
    0,
  ),
])

function bitOperation(
  name: string,
  wording: string,
  result: string,
  operation: (left: bigint, right: bigint) => bigint,
) {
  return unary(name, nonEmptyList(number), {
    result: 'Number',
    summary: `Returns the bitwise ${wording} of all numbers. Doubles are truncated to integers; if any number is a double, the result is a double.`,
    example: ['[6, 3]', result],
    evaluate(operands) {
      const bits = operands.map(integerOf).reduce(operation)
      return operands.every(each => typeof each === 'bigint') ? bits : Number(bits)
    },
  })
}

export const bits = family('Bits', [
  bitOperation('bitand', 'AND', '2', (left, right) => left & right),
  bitOperation('bitor', 'OR', '7', (left, right) => left | right),
  bitOperation('bitxor', 'XOR', '5', (left, right) => left ^ right),
  unary('bitnot', number, {
    result: 'Integer',
    summary: 'Inverts all 64 bits of an integer. A double is truncated to an integer first.',
    example: ['1', '-2'],
    evaluate: bitnot => ~integerOf(bitnot),
  }),
])

interface Domain {
  readonly contains: (value: number) => boolean
  readonly rule: string
}

const everything: Domain = { contains: () => true, rule: '' }
const cosines: Domain = {
  contains: value => value >= -1 && value <= 1,
  rule: 'must be between -1 and 1 inclusive',
}
const positive: Domain = { contains: value => value > 0, rule: 'must be greater than 0' }

function ofDouble(
  name: string,
  summary: string,
  example: readonly [argument: string, exampleResult: string],
  compute: (value: number) => number,
  domain = everything,
) {
  return unary(name, number, {
    result: 'Double',
    summary,
    example,
    evaluate(given, call) {
      const value = Number(given)
      if (!domain.contains(value)) throw call.invalid(msg`${numberText(given)} ${domain.rule}`)
      return compute(value)
    },
  })
}

export const trigonometry = family('Trigonometry', [
  ofDouble(
    'acos',
    'Returns the inverse cosine of a number, in radians. The number must be between -1 and 1.',
    ['1', '0.0'],
    Math.acos,
    cosines,
  ),
  ofDouble(
    'asin',
    'Returns the inverse sine of a number, in radians. The number must be between -1 and 1.',
    ['0', '0.0'],
    Math.asin,
    cosines,
  ),
  ofDouble('atan', 'Returns the inverse tangent of a number, in radians.', ['0', '0.0'], Math.atan),
  ofDouble('cos', 'Returns the cosine of an angle in radians.', ['0', '1.0'], Math.cos),
  ofDouble('cosh', 'Returns the hyperbolic cosine of a number.', ['0', '1.0'], Math.cosh),
  ofDouble(
    'degrees',
    'Converts an angle from radians to degrees.',
    ['3.141592653589793', '180.0'],
    angle => angle * degreesPerRadian,
  ),
  ofDouble('exp', 'Returns e raised to the power of a number.', ['0', '1.0'], Math.exp),
  define({
    arguments: { hypot: number, b: optional(number) },
    result: 'Double',
    summary:
      'Returns the length of the hypotenuse of a right triangle with the legs `hypot` and `b`. If `b` is missing, both legs have the length `hypot`.',
    example: ['{"hypot": 3, "b": 4}', '5.0'],
    evaluate: ({ b, hypot }) => Math.hypot(Number(hypot), Number(b ?? hypot)),
  }),
  ofDouble(
    'ln',
    'Returns the natural logarithm of a number, which must be greater than 0.',
    ['1', '0.0'],
    Math.log,
    positive,
  ),
  ofDouble(
    'log',
    'Returns the base 10 logarithm of a number, which must be greater than 0.',
    ['1000', '3.0'],
    Math.log10,
    positive,
  ),
  define({
    arguments: { pow: number, exp: optional(number) },
    result: 'Double',
    summary: 'Raises `pow` to the power `exp`. If `exp` is missing, returns the square of `pow`.',
    example: ['{"pow": 2, "exp": 10}', '1024.0'],
    evaluate: ({ exp, pow }) => Number(pow) ** Number(exp ?? 2n),
  }),
  ofDouble(
    'radians',
    'Converts an angle from degrees to radians.',
    ['180', '3.141592653589793'],
    angle => angle * radiansPerDegree,
  ),
  ofDouble('sin', 'Returns the sine of an angle in radians.', ['0', '0.0'], Math.sin),
  ofDouble('sinh', 'Returns the hyperbolic sine of a number.', ['0', '0.0'], Math.sinh),
  ofDouble('tan', 'Returns the tangent of an angle in radians.', ['0', '0.0'], Math.tan),
  ofDouble('tanh', 'Returns the hyperbolic tangent of a number.', ['0', '0.0'], Math.tanh),
])
