// Text methods with regular expressions in Java's syntax.

import { longCall, step } from '../../base/effort.ts'
import { msg } from '../../base/message.ts'
import { codePointsBetween } from '../../text/code-points.ts'
import { type CompiledPattern, compilePattern, type Match } from '../../text/regex/compiled-pattern.ts'
import { RegexSyntaxError, SearchTooLongError, UnsupportedRegexError } from '../../text/regex/errors.ts'
import type { Call } from '../call.ts'
import { entriesFor, type LibraryEntry } from './entry.ts'
import { int, string } from './parameters.ts'
import { checkAmount } from './string-replacing.ts'
import { offsetWithin, positionOf } from './string-search.ts'
import { type Find, replaceMatches, split } from './text-pieces.ts'

const { method } = entriesFor<string>()

/** The cost of compiling a character of an expression, relative to searching a character. */
const compilationsPerUnit = 64
/** The number of RE2 instructions that take as long as searching one character. */
const instructionsPerUnit = 2

/** Compiles an expression. Throws `invalid_regex`. */
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

/** The matches of an expression in a text. A match is valid until the next one is requested. */
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
    result: 'Boolean',
    summary: 'True if a regular expression matches anywhere.',
    example: ['"abc".includesRegex("[bx]")', 'true'],
    run: (text, { regex }, call) => finding(regex, call)(text) !== undefined,
  }),
  method('indexOfRegex', {
    parameters: { regex: string },
    optional: { start: int },
    result: 'Number | Null',
    summary: 'The first position, from a start on, at which a regular expression matches; null without one.',
    example: ['"abc".indexOfRegex("[bc]")', '1'],
    run: (text, { regex, start }, call) => {
      const from = offsetWithin(text, start, 0, call)
      // The expression does not see the text before the start.
      const match = finding(regex, call)(text.slice(from))
      return positionOf(text, match === undefined ? -1 : from + match.start, call)
    },
  }),
  method('matches', {
    parameters: { regex: string },
    result: 'Array<String>',
    summary: 'All matches of a regular expression.',
    example: ['"a1b2".matches("[0-9]")', '[\n  "1",\n  "2"\n]'],
    run: (text, { regex }, call) =>
      Array.from(matchesOf(compile(regex, call), text, call), ({ start, end }) => text.slice(start, end)),
  }),
  method('matchIndexes', {
    parameters: { regex: string },
    result: 'Array<[Number, String]>',
    summary: 'The positions and texts of all matches of a regular expression.',
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
    result: 'String',
    summary: 'The text with the first match of a regular expression replaced, or the first `amount` matches.',
    example: ['"a1b2".replaceRegex("[0-9]", "-")', '"a-b2"'],
    run: (text, { regex, replacement, amount = 1 }, call) => {
      const find = finding(regex, call)
      return replaceMatches(text, find, replacement, checkAmount(amount, call), call)
    },
  }),
  method('replaceAllRegex', {
    parameters: { pattern: string, replacement: string },
    result: 'String',
    summary: 'The text with every match of a regular expression replaced.',
    example: ['"a1b2".replaceAllRegex("[0-9]", "-")', '"a-b-"'],
    run: (text, { pattern, replacement }, call) =>
      replaceMatches(text, finding(pattern, call), replacement, Number.POSITIVE_INFINITY, call),
  }),
  method('splitRegex', {
    parameters: { regex: string },
    result: 'Array<String>',
    summary: 'The pieces of the text between matches of a regular expression.',
    example: ['"a1b".splitRegex("[0-9]")', '[\n  "a",\n  "b"\n]'],
    run: (text, { regex }, call) => split(text, finding(regex, call)),
  }),
]

/** Text methods with regular expressions. */
export const stringRegexEntries: readonly LibraryEntry[] = [...searching, ...replacing]
