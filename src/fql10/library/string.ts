// Methods of texts. Lengths and positions count code points.

import { longCall } from '../../base/effort.ts'
import { msg } from '../../base/message.ts'
import { codePointLength, unitOffset } from '../../text/code-points.ts'
import { casefold } from '../../values/casefold.ts'
import { mapKnown } from '../../values/known-characters.ts'
import { type NormalForm, normalize } from '../../values/normalize.ts'
import type { Call } from '../call.ts'
import { countText } from '../text-size.ts'
import { entriesFor, type Members, members } from './entry.ts'
import { int, string } from './parameters.ts'
import { stringParsingEntries } from './string-parsing.ts'
import { stringRegexEntries } from './string-regex.ts'
import { stringReplacingEntries } from './string-replacing.ts'
import { stringSearchEntries } from './string-search.ts'
import { toText } from './to-text.ts'

const { field, method } = entriesFor<string>()

/** The part of a text between two positions. Positions outside of the text are moved to its ends. */
function slice(text: string, start: number, end: number): string {
  const from = unitOffset(text, Math.max(0, start))
  return end <= start ? '' : text.slice(from, unitOffset(text, end))
}

/** Converts a position from 0 to the length to an offset in UTF-16 units. Throws `index_out_of_bounds`. */
function offsetOf(text: string, index: number, call: Call): number {
  const length = codePointLength(text)
  if (index < 0 || index > length) throw call.outOfBounds(index, length)
  return unitOffset(text, index)
}

/** The code point at a position, as text. Throws `index_out_of_bounds`. */
export function characterAt(text: string, index: number, call: Call): string {
  const offset = index < 0 ? text.length : unitOffset(text, index)
  if (offset < text.length) return String.fromCodePoint(text.codePointAt(offset) as number)
  throw call.outOfBounds(index, codePointLength(text))
}

const normalForms: readonly string[] = ['NFC', 'NFD', 'NFKC', 'NFKD'] satisfies readonly NormalForm[]

/** A text in the normalization form with a name. */
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
    result: 'Number',
    summary: 'The number of code points.',
    example: ['"abc".length', '3'],
    read: text => BigInt(codePointLength(text)),
  }),
  method('at', {
    parameters: { index: int },
    result: 'String',
    summary: 'The character at a position, counted from 0.',
    example: ['"abc".at(1)', '"b"'],
    run: (text, { index }, call) => characterAt(text, index, call),
  }),
  method('concat', {
    parameters: { other: string },
    result: 'String',
    summary: 'This text followed by another.',
    example: ['"a".concat("b")', '"ab"'],
    run: (text, { other }, call) => {
      countText(text.length + other.length, call)
      return text + other
    },
  }),
  method('insert', {
    parameters: { index: int, other: string },
    result: 'String',
    summary: 'The text with another text inserted before a position.',
    example: ['"ad".insert(1, "bc")', '"abcd"'],
    run: (text, { index, other }, call) => {
      const offset = offsetOf(text, index, call)
      countText(text.length + other.length, call)
      return text.slice(0, offset) + other + text.slice(offset)
    },
  }),
  method('splitAt', {
    parameters: { index: int },
    result: '[String, String]',
    summary: 'The text before a position, and the rest.',
    example: ['"abc".splitAt(1)', '[\n  "a",\n  "bc"\n]'],
    run: (text, { index }, call) => {
      const offset = offsetOf(text, index, call)
      return [text.slice(0, offset), text.slice(offset)]
    },
  }),
  method('slice', {
    parameters: { start: int },
    optional: { end: int },
    result: 'String',
    summary: 'The part from one position up to another; without the second up to the end.',
    example: ['"abcd".slice(1, 3)', '"bc"'],
    run: (text, { start, end = text.length }) => slice(text, start, end),
  }),
]

const forms = [
  method('toLowerCase', {
    result: 'String',
    summary: 'The text in lower case.',
    example: ['"ABC".toLowerCase()', '"abc"'],
    run: text => mapText(text, part => part.toLowerCase()),
  }),
  method('toUpperCase', {
    result: 'String',
    summary: 'The text in upper case.',
    example: ['"abc".toUpperCase()', '"ABC"'],
    run: text => mapText(text, part => part.toUpperCase()),
  }),
  method('casefold', {
    optional: { format: string },
    result: 'String',
    summary: 'The text in a case-folded form, or in another normal form of Unicode.',
    example: ['"ABC".casefold()', '"abc"'],
    run: (text, { format = 'NFKCCaseFold' }, call) => normalizeText(text, format, call),
  }),
  toText('"abc".toString()', '"abc"', 'The text itself.'),
]

/** The table of texts. */
export const stringMembers: Members = members('String', [
  ...parts,
  ...forms,
  ...stringParsingEntries,
  ...stringSearchEntries,
  ...stringReplacingEntries,
  ...stringRegexEntries,
])
