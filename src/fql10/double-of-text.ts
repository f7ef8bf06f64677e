// Texts as doubles, as Java reads them: blanks around, a suffix, hexadecimal ones, and the names of what is no number. The
// expressions have one way to match, so that long texts take no longer than they are.

import { longCall } from '../base/effort.ts'
import { trimBlanks } from '../values/trim.ts'

const decimal = /^[+-]?(?:NaN|Infinity|(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[fFdD]?)$/
const hexadecimal = /^([+-]?)0[xX]([0-9a-fA-F]*)(?:\.([0-9a-fA-F]*))?[pP]([+-]?[0-9]+)[fFdD]?$/
/** Digits of hexadecimal doubles that count; those behind change nothing. */
const hexDigitsMax = 200

/** The double that a text is, undefined for any other text. */
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
