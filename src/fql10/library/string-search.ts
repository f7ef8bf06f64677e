// Text methods that search for texts. Positions count code points.

import { longCall } from '../../base/effort.ts'
import { msg } from '../../base/message.ts'
import { codePointLength, codePointsBetween, unitOffset } from '../../text/code-points.ts'
import { indexOfText } from '../../text/text-search.ts'
import type { Call } from '../call.ts'
import type { Value } from '../value.ts'
import { entriesFor, type LibraryEntry } from './entry.ts'
import { int, string } from './parameters.ts'

const { method } = entriesFor<string>()

/**
 * Converts a position to an offset in UTF-16 units; `otherwise` without a position. Throws `index_out_of_bounds`, even
 * for the position at the end.
 */
export function offsetWithin(text: string, index: number | undefined, otherwise: number, call: Call): number {
  if (index === undefined) return otherwise
  const length = codePointLength(text)
  if (index >= 0 && index < length) return unitOffset(text, index)
  throw call.outOfBounds(index, length)
}

/** Converts an offset in UTF-16 units to a position; null for -1. */
export function positionOf(text: string, offset: number, call: Call): Value {
  return offset < 0 ? call.nothing(msg`no element found`) : BigInt(codePointsBetween(text, 0, offset))
}

/** The last offset of a text, at or before another offset; -1 without one. */
function lastOffset(text: string, pattern: string, end: number): number {
  longCall(text.length)
  return text.lastIndexOf(pattern, end)
}

/** Text methods that search. */
export const stringSearchEntries: readonly LibraryEntry[] = [
  method('startsWith', {
    parameters: { prefix: string },
    result: 'Boolean',
    summary: 'True if the text begins with another.',
    example: ['"abc".startsWith("ab")', 'true'],
    run: (text, { prefix }) => text.startsWith(prefix),
  }),
  method('endsWith', {
    parameters: { suffix: string },
    result: 'Boolean',
    summary: 'True if the text ends with another.',
    example: ['"abc".endsWith("bc")', 'true'],
    run: (text, { suffix }) => text.endsWith(suffix),
  }),
  method('includes', {
    parameters: { pattern: string },
    result: 'Boolean',
    summary: 'True if the text contains another.',
    example: ['"abc".includes("b")', 'true'],
    run: (text, { pattern }) => indexOfText(text, pattern) >= 0,
  }),
  method('indexOf', {
    parameters: { pattern: string },
    optional: { start: int },
    result: 'Number | Null',
    summary: 'The first position, from a start on, at which another text begins; null without one.',
    example: ['"abca".indexOf("a", 1)', '3'],
    run: (text, { pattern, start }, call) =>
      positionOf(text, indexOfText(text, pattern, offsetWithin(text, start, 0, call)), call),
  }),
  method('lastIndexOf', {
    parameters: { pattern: string },
    optional: { end: int },
    result: 'Number | Null',
    summary: 'The last position, up to an end, at which another text begins; null without one.',
    example: ['"abca".lastIndexOf("a")', '3'],
    run: (text, { pattern, end }, call) =>
      positionOf(text, lastOffset(text, pattern, offsetWithin(text, end, text.length, call)), call),
  }),
]
