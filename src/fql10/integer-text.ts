// Parses decimal integers, for ids and for values that are compared with ids.

import { int64Max, int64Min } from '../values/int64.ts'

/** The 64-bit integer in a decimal text with an optional sign. Undefined for any other text. */
export function integerOfText(text: string): bigint | undefined {
  if (text.length > 20 || !/^[+-]?[0-9]+$/.test(text)) return undefined
  const integer = BigInt(text.startsWith('+') ? text.slice(1) : text)
  return integer < int64Min || integer > int64Max ? undefined : integer
}
