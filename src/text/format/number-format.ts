// Formats numbers for the conversions d, x, o, f, e and g of format strings.

import { hasOwnJavaDigits, javaDigits } from '../../values/double-text.ts'
import type { Specifier } from './specifier.ts'

/** `d` is decimal; `x` and `o` show the 64-bit two's complement. */
export function formatInteger(value: bigint, specifier: Specifier): string {
  if (specifier.conversion === 'd') {
    const negative = value < 0n
    const digits = String(negative ? -value : value)
    return signed(specifier.grouped ? groupThousands(digits) : digits, negative, specifier)
  }
  const digits = BigInt.asUintN(64, value).toString(specifier.conversion === 'x' ? 16 : 8)
  const prefix = specifier.alternate ? (specifier.conversion === 'x' ? '0x' : '0') : ''
  return prefix + withZeros(digits, prefix.length, specifier)
}

const defaultPrecision = 6

/** Formats a number in plain (`f`), scientific (`e`) or general (`g`) notation. */
export function formatDouble(value: number, specifier: Specifier): string {
  if (Number.isNaN(value)) return 'NaN'
  const negative = value < 0 || Object.is(value, -0)
  const magnitude = Math.abs(value)
  if (magnitude === Number.POSITIVE_INFINITY)
    return signed('Infinity', negative, { ...specifier, zeros: false })
  return signed(magnitudeText(magnitude, specifier), negative, specifier)
}

function magnitudeText(magnitude: number, specifier: Specifier): string {
  const precision = specifier.precision ?? defaultPrecision
  switch (specifier.conversion) {
    case 'e':
      return scientific(magnitude, precision, specifier)
    case 'g':
      return general(magnitude, Math.max(1, precision), specifier)
    default:
      return plain(magnitude, precision, specifier)
  }
}

function plain(magnitude: number, fraction: number, { alternate, grouped }: Specifier): string {
  const decimal = decimalOf(magnitude)
  const text = plainText(roundDigits(decimal, decimal.point + fraction), fraction)
  const pointed = alternate && fraction === 0 ? `${text}.` : text
  return grouped ? groupThousands(pointed) : pointed
}

function scientific(magnitude: number, fraction: number, { alternate }: Specifier): string {
  const rounded = roundDigits(decimalOf(magnitude), fraction + 1)
  const point = alternate && fraction === 0 ? '.' : ''
  return `${mantissaText(rounded, fraction)}${point}e${exponentText(rounded)}`
}

/**
 * Writes a number with `precision` significant digits: in plain notation for zero and for numbers from 0.0001 to
 * 10^precision, and in scientific notation for other numbers.
 */
function general(magnitude: number, precision: number, { grouped }: Specifier): string {
  const rounded = roundDigits(decimalOf(magnitude), precision)
  if (magnitude !== 0 && (rounded.point <= -4 || rounded.point > precision)) {
    return `${mantissaText(rounded, precision - 1)}e${exponentText(rounded)}`
  }
  const text = plainText(rounded, precision - rounded.point)
  return grouped ? groupThousands(text) : text
}

/** Adds the sign or parentheses. With the flag `0`, pads the digits with zeros to the width. */
function signed(digits: string, negative: boolean, specifier: Specifier): string {
  const { parentheses, plus, space } = specifier
  if (negative && parentheses) return `(${withZeros(digits, 2, specifier)})`
  const sign = negative ? '-' : plus ? '+' : space ? ' ' : ''
  return sign + withZeros(digits, sign.length, specifier)
}

/** `around`: the number of characters before and after the digits. */
function withZeros(digits: string, around: number, { width, zeros }: Specifier): string {
  return zeros && width !== undefined ? digits.padStart(width - around, '0') : digits
}

function groupThousands(text: string): string {
  const point = text.indexOf('.')
  const whole = point < 0 ? text : text.slice(0, point)
  let grouped = ''
  for (let end = whole.length; end > 0; end -= 3) {
    const group = whole.slice(Math.max(0, end - 3), end)
    grouped = grouped === '' ? group : `${group},${grouped}`
  }
  return grouped + text.slice(whole.length)
}

/** `0.digits` times ten to the power of `point`. For zero, `digits` is 0 and `point` is 1. */
interface Decimal {
  readonly digits: string
  readonly point: number
}

/**
 * The digits that Java prints for a finite, non-negative double. For most doubles, JavaScript prints the same digits.
 */
function decimalOf(double: number): Decimal {
  if (hasOwnJavaDigits(double)) {
    const { digits, exponent } = javaDigits(double)
    return { digits, point: exponent + 1 }
  }
  const text = double.toExponential()
  const exponent = text.indexOf('e')
  return { digits: text.slice(0, exponent).replace('.', ''), point: Number(text.slice(exponent + 1)) + 1 }
}

/**
 * Rounds like Java's Formatter: it rounds the printed digits of a double, not its exact value, and halves away from
 * zero. Rounds to at most `count` digits. If `count` is 0, the result is zero or the next higher power of ten: 0.4
 * becomes 0, and 0.7 becomes 1. If `count` is negative, the result is zero.
 */
function roundDigits({ digits, point }: Decimal, count: number): Decimal {
  if (count >= digits.length) return { digits, point }
  const up = count >= 0 && digits.charCodeAt(count) >= 0x35
  let kept = digits.slice(0, Math.max(0, count))
  if (!up) return kept === '' ? { digits: '0', point: 1 } : { digits: kept, point }
  kept = kept.replace(/9+$/, '')
  if (kept === '') return { digits: '1', point: point + 1 }
  const last = kept.length - 1
  return { digits: kept.slice(0, last) + String.fromCharCode(kept.charCodeAt(last) + 1), point }
}

/** `fraction`: the number of digits after the decimal point. */
function plainText({ digits, point }: Decimal, fraction: number): string {
  const whole = point > 0 ? digits.slice(0, point).padEnd(point, '0') : '0'
  if (fraction === 0) return whole
  const fractionDigits = point > 0 ? digits.slice(point) : '0'.repeat(-point) + digits
  return `${whole}.${fractionDigits.slice(0, fraction).padEnd(fraction, '0')}`
}

/** The digits of the scientific notation; `fraction` of them follow the decimal point. */
function mantissaText({ digits }: Decimal, fraction: number): string {
  const first = digits.slice(0, 1)
  return fraction === 0 ? first : `${first}.${digits.slice(1).padEnd(fraction, '0')}`
}

/** A sign and at least two digits. */
function exponentText({ digits, point }: Decimal): string {
  const exponent = digits === '0' ? 0 : point - 1
  return `${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`
}
