// Decimal digits of doubles, rounded to a precision as in Java's Formatter. Rounding starts from the digits that Java
// prints, and rounds halves away from zero.

import { hasOwnJavaDigits, javaDigits } from '../../values/java-digits.ts'

/** `0.digits` times ten to the power of `point`. Zero has the digit 0 and the point 1. */
interface Decimal {
  readonly digits: string
  readonly point: number
}

/**
 * The digits that Java prints for a finite, non-negative double: in most cases the shortest digits that parse to this
 * double.
 */
export function decimalOf(double: number): Decimal {
  if (hasOwnJavaDigits(double)) {
    const { digits, exponent } = javaDigits(double)
    return { digits, point: exponent + 1 }
  }
  const text = double.toExponential()
  const exponent = text.indexOf('e')
  return { digits: text.slice(0, exponent).replace('.', ''), point: Number(text.slice(exponent + 1)) + 1 }
}

/** Rounds a decimal to at most `count` digits. A count of zero or less rounds to zero or to one higher digit. */
export function roundDigits({ digits, point }: Decimal, count: number): Decimal {
  if (count >= digits.length) return { digits, point }
  const up = count >= 0 && digits.charCodeAt(count) >= 0x35
  let kept = digits.slice(0, Math.max(0, count))
  if (!up) return kept === '' ? { digits: '0', point: 1 } : { digits: kept, point }
  kept = kept.replace(/9+$/, '')
  if (kept === '') return { digits: '1', point: point + 1 }
  const last = kept.length - 1
  return { digits: kept.slice(0, last) + String.fromCharCode(kept.charCodeAt(last) + 1), point }
}

/** Plain notation with `fraction` digits after the point, padded with zeros. */
export function plainText({ digits, point }: Decimal, fraction: number): string {
  const whole = point > 0 ? digits.slice(0, point).padEnd(point, '0') : '0'
  if (fraction === 0) return whole
  const behind = point > 0 ? digits.slice(point) : '0'.repeat(-point) + digits
  return `${whole}.${behind.slice(0, fraction).padEnd(fraction, '0')}`
}

/** The digits of scientific notation, one before the point. */
export function mantissaText({ digits }: Decimal, fraction: number): string {
  const first = digits.slice(0, 1)
  return fraction === 0 ? first : `${first}.${digits.slice(1).padEnd(fraction, '0')}`
}

/** The exponent of scientific notation: a sign and at least two digits. */
export function exponentText({ digits, point }: Decimal): string {
  const exponent = digits === '0' ? 0 : point - 1
  return `${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`
}
