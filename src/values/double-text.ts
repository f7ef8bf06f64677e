// Formats doubles as Java does, because clients of the language have always received this form. The digits are the
// shortest that parse to the same double, except for the few doubles for which Java prints other digits.

import { hasOwnJavaDigits, javaDigits } from './java-digits.ts'

/**
 * A double as text. It always has a decimal point: plain between 0.001 and 10 million, otherwise `d.dE±n`. `NaN` and
 * `±Infinity` appear by name.
 */
export function javaDoubleText(double: number): string {
  const magnitude = Math.abs(double)
  if (magnitude >= 1e-3 && magnitude < 1e7) {
    const text = String(double)
    return Number.isInteger(double) ? `${text}.0` : text
  }
  if (magnitude === 0) return Object.is(double, -0) ? '-0.0' : '0.0'
  if (!Number.isFinite(double)) return String(double)
  if (hasOwnJavaDigits(magnitude)) {
    const { digits, exponent } = javaDigits(magnitude)
    return `${double < 0 ? '-' : ''}${digits[0]}.${digits.slice(1) || '0'}E${exponent}`
  }
  const shortest = double.toExponential()
  const text = shortest.includes('.') ? shortest : double.toExponential(1)
  return text.replace('e+', 'E').replace('e', 'E')
}
