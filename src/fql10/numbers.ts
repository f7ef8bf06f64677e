// Arithmetic, comparison and parsing of numbers. Numbers have three widths: Int (32 bits), Long (64 bits) and Double.

import { longCall } from '../base/effort.ts'
import { toLong } from '../values/java-math.ts'
import { compareDoubles } from '../values/order.ts'
import { trimBlanks } from '../values/trim.ts'
import { int64Max, int64Min } from '../values/value.ts'
import { integerOf, NarrowLong, type NumberValue } from './value.ts'

export function doubleOf(value: NumberValue): number {
  return value instanceof NarrowLong ? Number(value.value) : Number(value)
}

/** If at least one number is a double, both numbers are compared as doubles. */
export function compareNumbers(left: NumberValue, right: NumberValue): number {
  const [a, b] = [integerOf(left), integerOf(right)]
  if (a !== undefined && b !== undefined) return a < b ? -1 : a > b ? 1 : 0
  return compareDoubles(doubleOf(left), doubleOf(right))
}

function bitsOf(value: NumberValue): bigint {
  return typeof value === 'number' ? toLong(value) : (integerOf(value) as bigint)
}

type NumberOperator = readonly [
  ofIntegers: (left: bigint, right: bigint) => bigint,
  ofDoubles: (left: number, right: number) => number,
]

/** Operators on integers: if the result does not fit into 64 bits, the operands are converted to doubles. */
const exactOperators: Readonly<Record<string, NumberOperator>> = {
  '+': [(a, b) => a + b, (a, b) => a + b],
  '-': [(a, b) => a - b, (a, b) => a - b],
  '*': [(a, b) => a * b, (a, b) => a * b],
  '%': [(a, b) => a % b, (a, b) => a % b],
}

function exactly(
  [ofIntegers, ofDoubles]: NumberOperator,
  left: NumberValue,
  right: NumberValue,
): bigint | number {
  const [a, b] = [integerOf(left), integerOf(right)]
  if (a !== undefined && b !== undefined) {
    const result = ofIntegers(a, b)
    if (result >= int64Min && result <= int64Max) return result
  }
  return ofDoubles(doubleOf(left), doubleOf(right))
}

/** True if both numbers are integers and `right` is zero. */
export function dividesByZero(left: NumberValue, right: NumberValue): boolean {
  return typeof left !== 'number' && typeof right !== 'number' && integerOf(right) === 0n
}

/** Integer quotients are truncated. The least Long divided by -1 is the least Long, as in Java. */
export function divide(left: NumberValue, right: NumberValue): bigint | number {
  const [a, b] = [integerOf(left), integerOf(right)]
  if (a !== undefined && b !== undefined) return BigInt.asIntN(64, a / b)
  return doubleOf(left) / doubleOf(right)
}

/** The maximum number of bits of a power of integers. A power with more bits is infinite as a double. */
const powerBitsMax = 1100

/**
 * For doubles, JavaScript gives the same results as Java: 1 to the power of NaN or infinity is NaN, and NaN to the
 * power of 0 is 1.
 */
function power(left: NumberValue, right: NumberValue): bigint | number {
  const [base, exponent] = [integerOf(left), integerOf(right)]
  if (base === undefined || exponent === undefined) return doubleOf(left) ** doubleOf(right)
  if (exponent === 0n || base === 1n) return 1n
  if (base === -1n) return exponent % 2n === 0n ? 1n : -1n
  if (exponent < 0n) return Number(base) ** Number(exponent)
  if (base === 0n) return 0n
  // The power has at least `bits * exponent` bits. `bits` is at least 1, because `base` is not 0, 1 or -1.
  const bits = BigInt((base < 0n ? -base : base).toString(2).length - 1)
  if (bits * exponent > powerBitsMax) {
    return base < 0n && exponent % 2n === 1n ? -Infinity : Infinity
  }
  const result = base ** exponent
  return result >= int64Min && result <= int64Max ? result : Number(result)
}

/** Callers must check for division by zero first. */
export function arithmetic(operator: string, left: NumberValue, right: NumberValue): bigint | number {
  const ofBoth = exactOperators[operator]
  if (ofBoth !== undefined) return exactly(ofBoth, left, right)
  switch (operator) {
    case '/':
      return divide(left, right)
    case '**':
      return power(left, right)
    case '&':
      return bitsOf(left) & bitsOf(right)
    case '|':
      return bitsOf(left) | bitsOf(right)
    default:
      return bitsOf(left) ^ bitsOf(right)
  }
}

/** Negates a number without changing its width. Therefore, the least integer of each width is its own negation. */
export function negative(value: NumberValue): NumberValue {
  if (typeof value === 'number') return -value
  if (value instanceof NarrowLong) {
    // This Long has the value of the least Int. Its negation does not fit an Int.
    return value.value === -(2n ** 31n) ? 2n ** 31n : new NarrowLong(-value.value)
  }
  if (value === -(2n ** 31n) || value === int64Min) return value
  // This Long is one more than the greatest Int. Its negation fits an Int but stays a Long.
  return value === 2n ** 31n ? new NarrowLong(-value) : -value
}

/** The bitwise complement of a number's 64 bits. */
export function complement(value: NumberValue): bigint {
  return ~bitsOf(value)
}

/**
 * Accepts a decimal integer of 64 bits with an optional sign, in at most 20 characters. Returns undefined for any other
 * text.
 */
export function integerOfText(text: string): bigint | undefined {
  if (text.length > 20 || !/^[+-]?[0-9]+$/.test(text)) return undefined
  const integer = BigInt(text.startsWith('+') ? text.slice(1) : text)
  return integer < int64Min || integer > int64Max ? undefined : integer
}

const decimal = /^[+-]?(?:NaN|Infinity|(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[fFdD]?)$/
const hexadecimal = /^([+-]?)0[xX]([0-9a-fA-F]*)(?:\.([0-9a-fA-F]*))?[pP]([+-]?[0-9]+)[fFdD]?$/
/** Maximum number of hexadecimal digits. A number with this many digits (800 bits) is finite as a double. */
const hexDigitsMax = 200

/**
 * Parses a text as Java does: accepts surrounding whitespace, the suffixes `f` and `d`, hexadecimal numbers, `NaN` and
 * `Infinity`. A text can match each regular expression in only one way, so long texts are parsed in linear time.
 * Returns undefined if the text is invalid.
 */
export function javaDouble(text: string): number | undefined {
  longCall(text.length)
  const trimmed = trimBlanks(text)
  if (decimal.test(trimmed)) {
    return Number(/[NI]/.test(trimmed) ? trimmed : trimmed.replace(/[fFdD]$/, ''))
  }
  const [, sign, whole = '', fraction = '', exponent = '0'] = hexadecimal.exec(trimmed) ?? []
  const digits = whole + fraction
  if (sign === undefined || digits === '' || digits.length > hexDigitsMax) return undefined
  const magnitude = Number(BigInt(`0x${digits}`)) * 2 ** (Number(exponent) - 4 * fraction.length)
  return sign === '-' ? -magnitude : magnitude
}
