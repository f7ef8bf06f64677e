// Text methods that search, replace and split. The pattern is a text, or a regular expression in Java's syntax.

import { longCall, step } from '../../base/effort.ts'
import { limits } from '../../base/limits.ts'
import { msg } from '../../base/message.ts'
import { codePointLength, codePointsBetween, unitOffset } from '../../text/code-points.ts'
import { type CompiledPattern, compilePattern, type Match } from '../../text/regex/compiled-pattern.ts'
import {
  RegexSyntaxError,
  SearchTooLongError,
  UnsupportedRegexError,
} from '../../text/regex/pattern-errors.ts'
import { indexOfText } from '../../text/text-search.ts'
import type { Call } from '../call.ts'
import type { Value } from '../value.ts'
import { countText } from '../value-limits.ts'
import { entriesFor, type LibraryEntry } from './entry.ts'
import { int, string } from './parameters.ts'

// Replacing and splitting of texts. After each match, the rest of the text is searched like a separate text: `^`
// matches at the start of the rest. After an empty match at this start, a replacement finds the same match again, but a
// split skips one UTF-16 unit.

/** The range of a match, as offsets in UTF-16 units. */
interface TextMatch {
  readonly start: number
  readonly end: number
}

type Find = (text: string) => TextMatch | undefined

/** Throws `value_too_large`. */
function replaceMatches(text: string, find: Find, replacement: string, amount: number, call: Call): string {
  const pieces: string[] = []
  let rest = text
  let size = text.length
  for (let count = 0; count < amount; count++) {
    step()
    const found = find(rest)
    if (found === undefined) break
    const { start, end } = found
    if (end === 0) {
      // The search would find the same empty match again every time, so all replacements are added at once.
      const times = Math.min(amount - count, timesUntilTooLong(size, replacement.length))
      countText(size + times * replacement.length, call)
      pieces.push(replacement.repeat(times))
      break
    }
    size += replacement.length - (end - start)
    countText(size, call)
    pieces.push(rest.slice(0, start), replacement)
    rest = rest.slice(end)
  }
  return pieces.join('') + rest
}

/** A text has `size` units, and each replacement adds `growth` units. Returns 0 if `growth` is 0. */
function timesUntilTooLong(size: number, growth: number): number {
  return growth === 0 ? 0 : Math.floor((limits.v10TextUnitsMax - size) / growth) + 1
}

/** If a match is empty, the first UTF-16 unit of the rest becomes a piece. */
function split(text: string, find: Find): readonly string[] {
  const pieces: string[] = []
  let rest = text
  while (rest !== '') {
    step()
    const found = find(rest)
    if (found === undefined) break
    if (found.start < found.end) {
      pieces.push(rest.slice(0, found.start))
      rest = rest.slice(found.end)
      continue
    }
    pieces.push(rest.slice(0, 1))
    rest = rest.slice(1)
    if (rest.length <= 1) break
  }
  pieces.push(rest)
  return pieces
}

// Text methods that search for texts. Positions count code points.

const { method } = entriesFor<string>()

/** Throws `index_out_of_bounds` if the text has no character at this position. */
function offsetWithin(text: string, index: number | undefined, otherwise: number, call: Call): number {
  if (index === undefined) return otherwise
  const length = codePointLength(text)
  if (index >= 0 && index < length) return unitOffset(text, index)
  throw call.outOfBounds(index, length)
}

/** Returns null for -1. */
function positionOf(text: string, offset: number, call: Call): Value {
  return offset < 0 ? call.nothing(msg`no element found`) : BigInt(codePointsBetween(text, 0, offset))
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

/** The cost of compiling one character of an expression, relative to the cost of searching one character of a text. */
const compilationsPerUnit = 64
/** Executing this number of instructions of a compiled pattern takes as long as searching one character. */
const instructionsPerUnit = 2

/** Throws `invalid_regex`. */
function compile(regex: string, call: Call): CompiledPattern {
  longCall(regex.length * compilationsPerUnit)
  try {
    return compilePattern(regex)
  } catch (error) {
    if (error instanceof RegexSyntaxError) throw invalidRegex(error.message, call)
    if (error instanceof UnsupportedRegexError) throw invalidRegex(`${error.feature} is not supported`, call)
    throw error
  }
}

function invalidRegex(reason: string, call: Call): unknown {
  return call.failure('invalid_regex', msg`Invalid regular expression. ${reason}`)
}

/** A match is valid until the next match is requested. */
function* matchesOf(pattern: CompiledPattern, text: string, call: Call): Generator<Match, void, void> {
  const units = (from: number) => Math.ceil(((text.length - from) * pattern.size) / instructionsPerUnit)
  longCall(units(0))
  try {
    for (const match of pattern.search(text).matches) {
      step(units(match.start) >> 4)
      yield match
    }
  } catch (error) {
    if (error instanceof SearchTooLongError)
      throw invalidRegex('The search takes too many steps in this text', call)
    throw error
  }
}

function firstMatch(pattern: CompiledPattern, text: string, call: Call): Match | undefined {
  const { value } = matchesOf(pattern, text, call).next()
  return value ?? undefined
}

function finding(regex: string, call: Call): Find {
  const pattern = compile(regex, call)
  return text => firstMatch(pattern, text, call)
}

const searching = [
  method('includesRegex', {
    parameters: { regex: string },
    type: '(regex: String) => Boolean',
    summary: 'True if the regular expression `regex` matches any part of the string.',
    example: ['"abc".includesRegex("[bx]")', 'true'],
    run: (text, { regex }, call) => finding(regex, call)(text) !== undefined,
  }),
  method('indexOfRegex', {
    parameters: { regex: string },
    optional: { start: int },
    type: '((regex: String) => Number | Null) & ((regex: String, start: Number) => Number | Null)',
    summary:
      'Returns the position of the first match of the regular expression `regex`, or null if there is none. The search begins at `start` (default 0); a `start` outside of the string is an error.',
    example: ['"abc".indexOfRegex("[bc]")', '1'],
    run: (text, { regex, start }, call) => {
      const from = offsetWithin(text, start, 0, call)
      // Only the text from `start` on is searched, so `^` matches at `start`.
      const match = finding(regex, call)(text.slice(from))
      return positionOf(text, match === undefined ? -1 : from + match.start, call)
    },
  }),
  method('matches', {
    parameters: { regex: string },
    type: '(regex: String) => Array<String>',
    summary: 'Returns the matched string of every match of the regular expression `regex`.',
    example: ['"a1b2".matches("[0-9]")', '[\n  "1",\n  "2"\n]'],
    run: (text, { regex }, call) =>
      Array.from(matchesOf(compile(regex, call), text, call), ({ start, end }) => text.slice(start, end)),
  }),
  method('matchIndexes', {
    parameters: { regex: string },
    type: '(regex: String) => Array<[Number, String]>',
    summary: 'Returns a `[position, string]` pair for every match of the regular expression `regex`.',
    example: ['"a1".matchIndexes("[0-9]")', '[\n  [\n    1,\n    "1"\n  ]\n]'],
    run: (text, { regex }, call) => {
      let offset = 0
      let position = 0
      return Array.from(matchesOf(compile(regex, call), text, call), ({ start, end }) => {
        position += codePointsBetween(text, offset, start)
        offset = start
        return [BigInt(position), text.slice(start, end)]
      })
    },
  }),
]

const replacing = [
  method('replaceRegex', {
    parameters: { regex: string, replacement: string },
    optional: { amount: int },
    type: '((regex: String, replacement: String) => String) & ((regex: String, replacement: String, amount: Number) => String)',
    summary:
      'Replaces the first `amount` matches (default 1) of the regular expression `regex` with `replacement`. `replacement` is inserted literally, without groups such as `$1`.',
    example: ['"a1b2".replaceRegex("[0-9]", "-")', '"a-b2"'],
    run: (text, { regex, replacement, amount = 1 }, call) => {
      const find = finding(regex, call)
      return replaceMatches(text, find, replacement, checkAmount(amount, call), call)
    },
  }),
  method('replaceAllRegex', {
    parameters: { pattern: string, replacement: string },
    type: '(pattern: String, replacement: String) => String',
    summary:
      'Replaces every match of the regular expression `pattern` with `replacement`. `replacement` is inserted literally, without groups such as `$1`.',
    example: ['"a1b2".replaceAllRegex("[0-9]", "-")', '"a-b-"'],
    run: (text, { pattern, replacement }, call) =>
      replaceMatches(text, finding(pattern, call), replacement, Number.POSITIVE_INFINITY, call),
  }),
  method('splitRegex', {
    parameters: { regex: string },
    type: '(regex: String) => Array<String>',
    summary: 'Splits the string at every match of the regular expression `regex`, and returns the parts.',
    example: ['"a1b".splitRegex("[0-9]")', '[\n  "a",\n  "b"\n]'],
    run: (text, { regex }, call) => split(text, finding(regex, call)),
  }),
]

// Text methods that replace texts and split at texts.

function findingText(pattern: string): Find {
  return text => {
    const start = indexOfText(text, pattern)
    return start < 0 ? undefined : { start, end: start + pattern.length }
  }
}

/** Throws `invalid_argument` if `amount` is less than 1. */
function checkAmount(amount: number, call: Call): number {
  // The message names another parameter, as the hosted service does.
  if (amount < 1) throw call.invalidArgument('count', msg`must be greater than or equal to 1`)
  return amount
}

export const stringReplacingEntries: readonly LibraryEntry[] = [
  method('replace', {
    parameters: { pattern: string, replacement: string },
    optional: { amount: int },
    type: '((pattern: String, replacement: String) => String) & ((pattern: String, replacement: String, amount: Number) => String)',
    summary: 'Replaces the first `amount` occurrences (default 1) of `pattern` with `replacement`.',
    example: ['"a-b-c".replace("-", "+")', '"a+b-c"'],
    run: (text, { pattern, replacement, amount = 1 }, call) =>
      replaceMatches(text, findingText(pattern), replacement, checkAmount(amount, call), call),
  }),
  method('replaceAll', {
    parameters: { pattern: string, replacement: string },
    type: '(pattern: String, replacement: String) => String',
    summary: 'Replaces every occurrence of `pattern` with `replacement`.',
    example: ['"a-b-c".replaceAll("-", "+")', '"a+b+c"'],
    run: (text, { pattern, replacement }, call) =>
      replaceMatches(text, findingText(pattern), replacement, Number.POSITIVE_INFINITY, call),
  }),
  method('split', {
    parameters: { separator: string },
    type: '(separator: String) => Array<String>',
    summary: 'Splits the string at every occurrence of `separator`, and returns the parts.',
    example: ['"a,b".split(",")', '[\n  "a",\n  "b"\n]'],
    run: (text, { separator }) => split(text, findingText(separator)),
  }),
]

export const stringRegexEntries: readonly LibraryEntry[] = [...searching, ...replacing]
