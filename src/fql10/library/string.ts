// Methods of texts. Lengths and positions count code points.

import { longCall } from '../../base/effort.ts'
import { msg } from '../../base/message.ts'
import { codePointLength, unitOffset } from '../../text/code-points.ts'
import { casefold } from '../../values/casefold.ts'
import { mapKnown } from '../../values/known-characters.ts'
import { type NormalForm, normalize } from '../../values/normalize.ts'
import { int64Max, int64Min } from '../../values/value.ts'
import type { Call } from '../call.ts'
import { javaDouble } from '../numbers.ts'
import { asLong, fitsInt, type Value } from '../value.ts'
import { countText } from '../value-limits.ts'
import { entriesFor, type LibraryEntry, type Members, members } from './entry.ts'
import { int, string } from './parameters.ts'
import { stringRegexEntries } from './string-regex.ts'
import { stringReplacingEntries } from './string-replacement.ts'
import { stringSearchEntries } from './string-search.ts'
import { toText } from './to-text.ts'

const { field, method } = entriesFor<string>()

/** Maximum number of digits of a 64-bit integer, in binary. */
const integerDigitsMax = 64

/** Accepts a 64-bit integer with an optional sign and any leading zeros. Returns undefined for any other text. */
function integerIn(text: string, radix: number): bigint | undefined {
  longCall(text.length)
  const isNegative = text.startsWith('-')
  const digits = text.slice(isNegative || text.startsWith('+') ? 1 : 0)
  if (digits === '') return undefined
  const significant = digits.replace(/^0+/, '')
  if (significant.length > integerDigitsMax) return undefined
  let magnitude = 0n
  for (const character of significant) {
    const digit = digitOf(character, radix)
    if (digit === undefined) return undefined
    magnitude = magnitude * BigInt(radix) + BigInt(digit)
  }
  const integer = isNegative ? -magnitude : magnitude
  return integer < int64Min || integer > int64Max ? undefined : integer
}

/**
 * Accepts a letter from A to Z, or a decimal digit of any script up to U+FFFF, as Java does. Returns undefined if the
 * character is not a digit in the given radix.
 */
function digitOf(character: string, radix: number): number | undefined {
  const digit = /^[0-9A-Za-z]$/.test(character) ? Number.parseInt(character, 36) : decimalDigit(character)
  return digit !== undefined && digit < radix ? digit : undefined
}

/** The ten digits of a script have consecutive code points. */
function decimalDigit(character: string): number | undefined {
  const isDigit = (code: number) => /^\p{Nd}$/u.test(String.fromCharCode(code))
  const code = character.charCodeAt(0)
  if (character.length > 1 || !isDigit(code)) return undefined
  let zero = code
  while (isDigit(zero - 1)) zero--
  return (code - zero) % 10
}

function noNumber(call: Call): Value {
  return call.noElement(msg`invalid number`)
}

function checkRadix(radix: number, call: Call): number {
  // The message names the parameter `format` instead of `radix`, as in the hosted service.
  if (radix < 2 || radix > 36)
    throw call.invalidArgument('format', msg`invalid radix, expected a number from 2-36`)
  return radix
}

const stringParsingEntries: readonly LibraryEntry[] = [
  method('parseInt', {
    optional: { radix: int },
    type: '(() => Number | Null) & ((radix: Number) => Number | Null)',
    summary:
      'Parses the string as a 32-bit integer in the base `radix` (2 to 36, default 10). Returns null if the string is not such an integer.',
    example: ['"ff".parseInt(16)', '255'],
    run: (text, { radix = 10 }, call) => {
      const integer = integerIn(text, checkRadix(radix, call))
      return integer !== undefined && fitsInt(integer) ? integer : noNumber(call)
    },
  }),
  method('parseLong', {
    optional: { radix: int },
    type: '(() => Number | Null) & ((radix: Number) => Number | Null)',
    summary:
      'Parses the string as a 64-bit integer in the base `radix` (2 to 36, default 10). Returns null if the string is not such an integer.',
    example: ['"12".parseLong()', '12'],
    run: (text, { radix = 10 }, call) => {
      const integer = integerIn(text, checkRadix(radix, call))
      return integer === undefined ? noNumber(call) : asLong(integer)
    },
  }),
  method('parseDouble', {
    type: '() => Number | Null',
    summary: 'Parses the string as a Double. Returns null if the string is not a number.',
    example: ['"1e3".parseDouble()', '1000.0'],
    run: (text, _, call) => javaDouble(text) ?? noNumber(call),
  }),
  method('parseNumber', {
    type: '() => Number | Null',
    summary: 'Parses the string as an Int, a Long or a Double. Returns null if the string is not a number.',
    example: ['"12".parseNumber()', '12'],
    run: (text, _, call) => integerIn(text, 10) ?? javaDouble(text) ?? noNumber(call),
  }),
]

/** Positions outside of the text are moved to its ends. */
function slice(text: string, start: number, end: number): string {
  const from = unitOffset(text, Math.max(0, start))
  return end <= start ? '' : text.slice(from, unitOffset(text, end))
}

/** Throws `index_out_of_bounds` if the position is less than 0 or greater than the length of the text. */
function offsetOf(text: string, index: number, call: Call): number {
  const length = codePointLength(text)
  if (index < 0 || index > length) throw call.outOfBounds(index, length)
  return unitOffset(text, index)
}

/** Throws `index_out_of_bounds`. */
export function characterAt(text: string, index: number, call: Call): string {
  const offset = index < 0 ? text.length : unitOffset(text, index)
  if (offset < text.length) return String.fromCodePoint(text.codePointAt(offset) as number)
  throw call.outOfBounds(index, codePointLength(text))
}

const normalForms: readonly string[] = ['NFC', 'NFD', 'NFKC', 'NFKD'] satisfies readonly NormalForm[]

/** `format` is the name of the normalization form. */
function normalizeText(text: string, format: string, call: Call): string {
  longCall(text.length)
  if (format === 'NFKCCaseFold') return casefold(text)
  if (normalForms.includes(format)) return mapKnown(text, part => normalize(part, format as NormalForm))
  const names = 'NFKCCaseFold, NFC, NFD, NFKC, or NFKD'
  throw call.invalidArgument('format', msg`expected a casefold format (one of ${names})`)
}

function mapText(text: string, map: (text: string) => string): string {
  longCall(text.length)
  return mapKnown(text, map)
}

const parts = [
  field('length', {
    type: 'Number',
    summary: 'The length of the string in Unicode code points.',
    example: ['"abc".length', '3'],
    read: text => BigInt(codePointLength(text)),
  }),
  method('at', {
    parameters: { index: int },
    type: '(index: Number) => String',
    summary:
      'Returns the character at the position `index`, counted from 0. A position outside of the string is an error.',
    example: ['"abc".at(1)', '"b"'],
    run: (text, { index }, call) => characterAt(text, index, call),
  }),
  method('concat', {
    parameters: { other: string },
    type: '(other: String) => String',
    summary: 'Returns this string followed by `other`.',
    example: ['"a".concat("b")', '"ab"'],
    run: (text, { other }, call) => {
      countText(text.length + other.length, call)
      return text + other
    },
  }),
  method('insert', {
    parameters: { index: int, other: string },
    type: '(index: Number, other: String) => String',
    summary:
      'Returns the string with `other` inserted before the position `index`. A position outside of the string is an error.',
    example: ['"ad".insert(1, "bc")', '"abcd"'],
    run: (text, { index, other }, call) => {
      const offset = offsetOf(text, index, call)
      countText(text.length + other.length, call)
      return text.slice(0, offset) + other + text.slice(offset)
    },
  }),
  method('splitAt', {
    parameters: { index: int },
    type: '(index: Number) => [String, String]',
    summary:
      'Splits the string in two: the characters before the position `index`, and the rest. A position outside of the string is an error.',
    example: ['"abc".splitAt(1)', '[\n  "a",\n  "bc"\n]'],
    run: (text, { index }, call) => {
      const offset = offsetOf(text, index, call)
      return [text.slice(0, offset), text.slice(offset)]
    },
  }),
  method('slice', {
    parameters: { start: int },
    optional: { end: int },
    type: '((start: Number) => String) & ((start: Number, end: Number) => String)',
    summary:
      'Returns the characters from the position `start` up to, but not including, `end`. If `end` is missing, the result extends to the end of the string; negative positions count as 0.',
    example: ['"abcd".slice(1, 3)', '"bc"'],
    run: (text, { start, end = text.length }) => slice(text, start, end),
  }),
]

const forms = [
  method('toLowerCase', {
    type: '() => String',
    summary: 'Converts the string to lower case.',
    example: ['"ABC".toLowerCase()', '"abc"'],
    run: text => mapText(text, part => part.toLowerCase()),
  }),
  method('toUpperCase', {
    type: '() => String',
    summary: 'Converts the string to upper case.',
    example: ['"abc".toUpperCase()', '"ABC"'],
    run: text => mapText(text, part => part.toUpperCase()),
  }),
  method('casefold', {
    optional: { format: string },
    type: '(() => String) & ((format: String) => String)',
    summary:
      'Converts the string to a form for comparisons that ignore case. `format` can select another Unicode form: `NFC`, `NFD`, `NFKC` or `NFKD`.',
    example: ['"ABC".casefold()', '"abc"'],
    run: (text, { format = 'NFKCCaseFold' }, call) => normalizeText(text, format, call),
  }),
  toText('"abc".toString()', '"abc"', 'Returns the string itself.'),
]

export const stringMembers: Members = members('String', [
  ...parts,
  ...forms,
  ...stringParsingEntries,
  ...stringSearchEntries,
  ...stringReplacingEntries,
  ...stringRegexEntries,
])
