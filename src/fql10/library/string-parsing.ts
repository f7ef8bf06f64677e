// Parsing of numbers in texts, by the rules of Java's parsers.

import { longCall } from '../../base/effort.ts'
import { msg } from '../../base/message.ts'
import { int64Max, int64Min } from '../../values/int64.ts'
import type { Call } from '../call.ts'
import { javaDouble } from '../double-of-text.ts'
import { asLong, fitsInt, type Value } from '../value.ts'
import { entriesFor, type LibraryEntry } from './entry.ts'
import { int } from './parameters.ts'

const { method } = entriesFor<string>()

/** The length of the longest 64-bit integer: in binary, with a sign. */
const integerUnitsMax = 65

/** Parses a 64-bit integer in a radix, with any number of leading zeros. Undefined for any other text. */
function integerIn(text: string, radix: number): bigint | undefined {
  longCall(text.length)
  const isNegative = text.startsWith('-')
  const digits = text.slice(isNegative || text.startsWith('+') ? 1 : 0)
  if (digits === '') return undefined
  const significant = digits.replace(/^0+/, '')
  if (significant.length > integerUnitsMax) return undefined
  let magnitude = 0n
  for (const character of significant) {
    const digit = digitOf(character, radix)
    if (digit === undefined) return undefined
    magnitude = magnitude * BigInt(radix) + BigInt(digit)
  }
  const integer = isNegative ? -magnitude : magnitude
  return integer < int64Min || integer > int64Max ? undefined : integer
}

/** The value of a letter, or of a digit in any script. */
function digitOf(character: string, radix: number): number | undefined {
  const digit = /^[0-9A-Za-z]$/.test(character) ? Number.parseInt(character, 36) : decimalDigit(character)
  return digit !== undefined && digit < radix ? digit : undefined
}

/** The value of a decimal digit. The ten digits of a script have consecutive code points. */
function decimalDigit(character: string): number | undefined {
  const isDigit = (code: number) => /^\p{Nd}$/u.test(String.fromCharCode(code))
  const code = character.charCodeAt(0)
  if (character.length > 1 || !isDigit(code)) return undefined
  let zero = code
  while (isDigit(zero - 1)) zero--
  return (code - zero) % 10
}

function noNumber(call: Call): Value {
  return call.nothing(msg`invalid number`)
}

function checkRadix(radix: number, call: Call): number {
  // The message names another parameter, as the original does.
  if (radix < 2 || radix > 36)
    throw call.invalidArgument('format', msg`invalid radix, expected a number from 2-36`)
  return radix
}

/** Text methods that parse numbers. */
export const stringParsingEntries: readonly LibraryEntry[] = [
  method('parseInt', {
    optional: { radix: int },
    result: 'Number | Null',
    summary: 'The text as a 32-bit integer in a radix of 2 to 36; null if the text is not such an integer.',
    example: ['"ff".parseInt(16)', '255'],
    run: (text, { radix = 10 }, call) => {
      const integer = integerIn(text, checkRadix(radix, call))
      return integer !== undefined && fitsInt(integer) ? integer : noNumber(call)
    },
  }),
  method('parseLong', {
    optional: { radix: int },
    result: 'Number | Null',
    summary: 'The text as a 64-bit integer in a radix of 2 to 36; null if the text is not such an integer.',
    example: ['"12".parseLong()', '12'],
    run: (text, { radix = 10 }, call) => {
      const integer = integerIn(text, checkRadix(radix, call))
      return integer === undefined ? noNumber(call) : asLong(integer)
    },
  }),
  method('parseDouble', {
    result: 'Number | Null',
    summary: 'The text as a double; null if the text is not a number.',
    example: ['"1e3".parseDouble()', '1000.0'],
    run: (text, _, call) => javaDouble(text) ?? noNumber(call),
  }),
  method('parseNumber', {
    result: 'Number | Null',
    summary: 'The text as an Int, a Long or a Double; null if the text is not a number.',
    example: ['"12".parseNumber()', '12'],
    run: (text, _, call) => integerIn(text, 10) ?? javaDouble(text) ?? noNumber(call),
  }),
]
