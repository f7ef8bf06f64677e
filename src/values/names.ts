// The syntax of schema object names, and document ids as text.

import { int64Max, int64Min } from './int64.ts'

/** Letters of all scripts, marks, digits, connectors, and a few signs: the protocol's `[;@+$\-_.!~%\w]+`. */
const namePattern = /^[;@+$\-_.!~%\p{Alphabetic}\p{Mark}\p{Nd}\p{Pc}\p{Join_Control}]+$/u

/** Returns whether a text has the syntax of a schema object name. Some valid names are reserved ({@link isReservedName}). */
export function isValidName(text: string): boolean {
  return namePattern.test(text)
}

/** Returns whether a valid name is reserved, so that no object may have it. */
export function isReservedName(text: string): boolean {
  return text === '_'
}

/** Characters of the longest 64-bit integer with its sign, not counting leading zeros. */
const significantCharsMax = 20

/** The document id that a text contains, or the reason why it is not an id. */
export function parseId(text: string): bigint | 'not numeric' | 'too large' {
  const from = text.charCodeAt(0) === 0x2d ? 1 : 0
  let significant = from
  for (let at = from; at < text.length; at++) {
    const digit = text.charCodeAt(at) - 0x30
    if (digit < 0 || digit > 9) return 'not numeric'
    if (digit === 0 && significant === at) significant++
  }
  if (text.length === from) return 'not numeric'
  if (text.length - significant > significantCharsMax) return 'too large'
  const id = BigInt(text.slice(significant) || '0')
  const signed = from === 1 ? -id : id
  return signed < int64Min || signed > int64Max ? 'too large' : signed
}
