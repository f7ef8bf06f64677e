// Formats numbers for the conversions d, x, o, f, e and g.

import { decimalOf, exponentText, mantissaText, plainText, roundDigits } from './decimal.ts'
import type { Specifier } from './specifier.ts'

/** An integer in decimal, or for `x` and `o` the 64 bits of its two's complement. */
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

/** A double in plain (`f`), scientific (`e`) or general (`g`) notation. */
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
 * `precision` significant digits, in plain notation for numbers from 0.0001 up to 10^precision, else in scientific
 * notation.
 */
function general(magnitude: number, precision: number, { grouped }: Specifier): string {
  const rounded = roundDigits(decimalOf(magnitude), precision)
  if (magnitude !== 0 && (rounded.point <= -4 || rounded.point > precision)) {
    return `${mantissaText(rounded, precision - 1)}e${exponentText(rounded)}`
  }
  const text = plainText(rounded, precision - rounded.point)
  return grouped ? groupThousands(text) : text
}

/** Digits with their sign or parentheses, padded with zeros to the width. */
function signed(digits: string, negative: boolean, specifier: Specifier): string {
  const { parentheses, plus, space } = specifier
  if (negative && parentheses) return `(${withZeros(digits, 2, specifier)})`
  const sign = negative ? '-' : plus ? '+' : space ? ' ' : ''
  return sign + withZeros(digits, sign.length, specifier)
}

function withZeros(digits: string, around: number, { width, zeros }: Specifier): string {
  return zeros && width !== undefined ? digits.padStart(width - around, '0') : digits
}

/** Separates the integer part into groups of three digits. */
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
