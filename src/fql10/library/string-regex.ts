// Text methods that search, replace and split with regular expressions in Java's syntax.

import { longCall, step } from '../../base/effort.ts'
import { msg } from '../../base/message.ts'
import { codePointsBetween } from '../../text/code-points.ts'
import { type CompiledPattern, compilePattern, type Match } from '../../text/regex/compiled-pattern.ts'
import {
  RegexSyntaxError,
  SearchTooLongError,
  UnsupportedRegexError,
} from '../../text/regex/pattern-errors.ts'
import type { Call } from '../call.ts'
import { entriesFor, type LibraryEntry } from './entry.ts'
import { int, string } from './parameters.ts'
import { checkAmount, type Find, replaceMatches, split } from './string-replacement.ts'
import { offsetWithin, positionOf } from './string-search.ts'

const { method } = entriesFor<string>()

/** Compiling one character of an expression takes as long as searching this number of characters of a text. */
const searchedUnitsPerCompiledUnit = 64
/** Executing this number of instructions of a compiled pattern takes as long as searching one character. */
const instructionsPerUnit = 2

/** Throws `invalid_regex`. */
function compile(regex: string, call: Call): CompiledPattern {
  longCall(regex.length * searchedUnitsPerCompiledUnit)
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
      // `longCall` also counts one step for 16 units.
      step(units(match.start) >> 4)
      yield match
    }
  } catch (error) {
    if (error instanceof SearchTooLongError)
      throw invalidRegex('The search takes too many steps in this text', call)
    throw error
  }
}

function finding(regex: string, call: Call): Find {
  const pattern = compile(regex, call)
  return text => matchesOf(pattern, text, call).next().value ?? undefined
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

export const stringRegexEntries: readonly LibraryEntry[] = [...searching, ...replacing]
