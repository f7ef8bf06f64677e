// Converts text to a number by the rules of Java's NumberFormat for English, as FQL requires.

import { trimBlanks } from './trim.ts'
import { int64Max, int64Min } from './value.ts'

const zero = 0x30
const comma = 0x2c
const minus = 0x2d
const dot = 0x2e
const upperE = 0x45

/** Digits of the greatest 64-bit integer. */
const integerDigitsMax = 19

/**
 * Reads the longest prefix that is a number, ignoring blanks at both ends of the text. A number has an optional minus
 * sign, digits with optional grouping commas, an optional point with more digits, and an optional exponent with a
 * capital `E`. `NaN` and `∞` are also numbers. An integral value that fits into 64 bits is a bigint. All other values
 * and -0 are doubles. Returns undefined when the text does not start with a number.
 */
export function parseJavaNumber(text: string): bigint | number | undefined {
  const trimmed = trimBlanks(text)
  if (trimmed.startsWith('NaN')) return Number.NaN
  const negative = trimmed.charCodeAt(0) === minus
  const start = negative ? 1 : 0
  if (trimmed[start] === '∞') return negative ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
  const decimal = readDecimal(trimmed, start)
  return decimal && numberOf(decimal, negative)
}

/** `0.digits` times ten to the power of `point`; `digits` has no leading or trailing zeros. */
interface Decimal {
  readonly digits: string
  readonly point: number
}

function readDecimal(text: string, start: number): Decimal | undefined {
  let at = skipWhile(text, start, unit => isDigit(unit) || unit === comma)
  const integer = text.slice(start, at).replaceAll(',', '')
  let fraction = ''
  if (text.charCodeAt(at) === dot) {
    const fractionStart = at + 1
    at = skipWhile(text, fractionStart, isDigit)
    fraction = text.slice(fractionStart, at)
  }
  const digits = integer + fraction
  if (digits === '') return undefined
  const exponent = text.charCodeAt(at) === upperE ? readExponent(text, at + 1) : 0
  const first = skipWhile(digits, 0, unit => unit === zero)
  let end = digits.length
  while (end > first && digits.charCodeAt(end - 1) === zero) end--
  return { digits: digits.slice(first, end), point: integer.length - first + exponent }
}

function isDigit(unit: number): boolean {
  return unit >= zero && unit <= zero + 9
}

function skipWhile(text: string, start: number, accept: (unit: number) => boolean): number {
  let at = start
  while (at < text.length && accept(text.charCodeAt(at))) at++
  return at
}

/**
 * Reads the exponent after an `E`. Returns 0 if no 64-bit integer follows: the `E` then does not belong to the number.
 * Only the lower 32 bits of the exponent are used.
 */
function readExponent(text: string, start: number): number {
  const negative = text.charCodeAt(start) === minus
  const signEnd = negative ? start + 1 : start
  const from = skipWhile(text, signEnd, unit => unit === zero)
  const to = skipWhile(text, from, isDigit)
  if (to - from > integerDigitsMax) return 0
  const magnitude = BigInt(text.slice(from, to) || '0')
  if (magnitude > (negative ? -int64Min : int64Max)) return 0
  return Number(BigInt.asIntN(32, negative ? -magnitude : magnitude))
}

function numberOf({ digits, point }: Decimal, negative: boolean): bigint | number {
  if (digits === '') return negative ? -0 : 0n
  const sign = negative ? '-' : ''
  if (point >= digits.length && point <= integerDigitsMax) {
    const integer = BigInt(sign + digits.padEnd(point, '0'))
    if (integer >= int64Min && integer <= int64Max) return integer
  }
  return Number(`${sign}0.${digits}e${point}`)
}
