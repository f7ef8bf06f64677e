// Parses doubles as Java does: surrounding whitespace, a suffix, hexadecimal numbers, `NaN` and `Infinity`. A text
// can match each regular expression in only one way, so that long texts are parsed in linear time.

import { longCall } from '../base/effort.ts'
import { trimBlanks } from '../values/trim.ts'

const decimal = /^[+-]?(?:NaN|Infinity|(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[fFdD]?)$/
const hexadecimal = /^([+-]?)0[xX]([0-9a-fA-F]*)(?:\.([0-9a-fA-F]*))?[pP]([+-]?[0-9]+)[fFdD]?$/
/** Maximum number of hexadecimal digits. */
const hexDigitsMax = 200

/** Parses a text as a double. Undefined if the text is invalid. */
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
