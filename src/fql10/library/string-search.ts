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

/** Returns `otherwise` without an index. Throws `index_out_of_bounds` if the text has no character at this position. */
export function offsetWithin(text: string, index: number | undefined, otherwise: number, call: Call): number {
  if (index === undefined) return otherwise
  const length = codePointLength(text)
  if (index >= 0 && index < length) return unitOffset(text, index)
  throw call.outOfBounds(index, length)
}

/** Returns null for -1. */
export function positionOf(text: string, offset: number, call: Call): Value {
  return offset < 0 ? call.noElement(msg`no element found`) : BigInt(codePointsBetween(text, 0, offset))
}

/** The last offset of `pattern` in a text, at or before the offset `end`; -1 if there is no match. */
function lastOffset(text: string, pattern: string, end: number): number {
  longCall(text.length)
  return text.lastIndexOf(pattern, end)
}

export const stringSearchEntries: readonly LibraryEntry[] = [
  method('startsWith', {
    parameters: { prefix: string },
    type: '(prefix: String) => Boolean',
    summary: 'True if the string begins with `prefix`.',
    example: ['"abc".startsWith("ab")', 'true'],
    run: (text, { prefix }) => text.startsWith(prefix),
  }),
  method('endsWith', {
    parameters: { suffix: string },
    type: '(suffix: String) => Boolean',
    summary: 'True if the string ends with `suffix`.',
    example: ['"abc".endsWith("bc")', 'true'],
    run: (text, { suffix }) => text.endsWith(suffix),
  }),
  method('includes', {
    parameters: { pattern: string },
    type: '(pattern: String) => Boolean',
    summary: 'True if the string contains `pattern`.',
    example: ['"abc".includes("b")', 'true'],
    run: (text, { pattern }) => indexOfText(text, pattern) >= 0,
  }),
  method('indexOf', {
    parameters: { pattern: string },
    optional: { start: int },
    type: '((pattern: String) => Number | Null) & ((pattern: String, start: Number) => Number | Null)',
    summary:
      'Returns the position of the first occurrence of `pattern`, or null if there is none. The search begins at `start` (default 0); a `start` outside of the string is an error.',
    example: ['"abca".indexOf("a", 1)', '3'],
    run: (text, { pattern, start }, call) =>
      positionOf(text, indexOfText(text, pattern, offsetWithin(text, start, 0, call)), call),
  }),
  method('lastIndexOf', {
    parameters: { pattern: string },
    optional: { end: int },
    type: '((pattern: String) => Number | Null) & ((pattern: String, end: Number) => Number | Null)',
    summary:
      'Returns the position of the last occurrence of `pattern` that begins at or before `end`, or null if there is none. If `end` is missing, searches the full string; an `end` outside of the string is an error.',
    example: ['"abca".lastIndexOf("a")', '3'],
    run: (text, { pattern, end }, call) =>
      positionOf(text, lastOffset(text, pattern, offsetWithin(text, end, text.length, call)), call),
  }),
]
