// Functions that search and replace with regular expressions.

import { catchError } from '../../base/catch-error.ts'
import { longCall, step } from '../../base/effort.ts'
import { msg } from '../../base/message.ts'
import { RequestError } from '../../base/request-errors.ts'
import { codePointsBetween, unitOffset } from '../../text/code-points.ts'
import {
  type CompiledPattern,
  compilePattern,
  type Match,
  type Search,
} from '../../text/regex/compiled-pattern.ts'
import {
  RegexSyntaxError,
  ReplacementError,
  SearchTooLongError,
  UnsupportedRegexError,
} from '../../text/regex/pattern-errors.ts'
import { parseReplacement, type Replacement } from '../../text/regex/replacement.ts'
import { searchStart } from '../../text/text-search.ts'
import type { Value } from '../../values/value.ts'
import { boolean, integer, string } from '../arguments.ts'
import { type ArgumentType, type Call, define, family, optional, unary } from '../definition.ts'
import { CountedText, countedText, countScan } from '../value-limits.ts'

const regularExpressionsLimits = {
  /** Maximum number of results of `FindStrRegex`. */
  regexResultsMax: 1024,
  /**
   * Maximum number of steps of one search with RE2: the instructions of the pattern, multiplied by the length of the
   * text in UTF-16 units.
   * These steps take about ten seconds in the worst case; own limit.
   */
  regexStepsMax: 268_435_456,
} as const

/** A regular expression in Java's syntax. */
const regex: ArgumentType<CompiledPattern> = {
  mode: 'value',
  name: 'String',
  check(value, call, key) {
    const pattern = string.check(value, call, key)
    try {
      longCall(pattern.length * readingCost)
      return compilePattern(pattern)
    } catch (error) {
      if (error instanceof RegexSyntaxError) {
        throw call.invalid(msg`Search pattern /${pattern}/ is not a valid regular expression.`, key)
      }
      if (error instanceof UnsupportedRegexError) {
        const shown = pattern.length > shownMax ? `${pattern.slice(0, shownMax)}…` : pattern
        throw call.invalid(msg`Search pattern /${shown}/ uses ${error.feature}, which is not supported.`, key)
      }
      throw error
    }
  },
}

/** Cost of reading a character of a pattern, relative to searching a character. Compiling for RE2 costs extra. */
const readingCost = 64

/** Maximum length of a pattern in an error. */
const shownMax = 200

/**
 * Number of instructions (of RE2), or of backtracking steps, that cost as many compute units as reading one character.
 * A pattern with fewer instructions costs as much as reading the text.
 */
const instructionsPerUnit = 32

/** Number of characters that a native call processes in one effort step (`longCall` in src/base/effort.ts). */
const unitsPerStep = 16

/**
 * Number of instructions that RE2, the library for linear searches, runs in the time in which other native calls
 * process one character.
 */
const stepsPerUnit = 2

/** Counts the cost of one pass of RE2 over a text. Throws `bad request` if the pass could take too long. */
function countPass(call: Call, pattern: CompiledPattern, text: string): void {
  const steps = text.length * pattern.size
  if (steps > regularExpressionsLimits.regexStepsMax) {
    throw new RequestError(
      'bad request',
      msg`Search takes too many steps: got ${steps}, limit: ${regularExpressionsLimits.regexStepsMax}`,
    )
  }
  longCall(steps / stepsPerUnit)
  countScan(call, text.length * Math.ceil(pattern.size / instructionsPerUnit))
}

function occurs(call: Call, pattern: CompiledPattern, text: string): boolean {
  if (pattern.isLinearOn(text)) {
    countPass(call, pattern, text)
    return pattern.occursLinearlyIn(text)
  }
  for (const _ of findMatches(call, pattern, text)) return true
  return false
}

/** After a backtracking search with more steps than this number, the deadline of the query is checked. */
const stepsPerClockCheck = 4_194_304

/**
 * Counts the cost. Throws an error if the search takes too many steps: `bad request` for a linear search,
 * `invalid argument` with the position of the pattern for a backtracking search.
 */
function* findMatches(call: Call, pattern: CompiledPattern, text: string): Generator<Match, void, void> {
  const search = pattern.search(text)
  if (search.linear) yield* linearMatches(call, pattern, text, search)
  else yield* backtrackMatches(call, search)
}

/**
 * Counts each match as a pass over the rest of the text, because patterns such as `a.*b|a` read far ahead for each
 * match.
 */
function* linearMatches(
  call: Call,
  pattern: CompiledPattern,
  text: string,
  { matches }: Search,
): Generator<Match, void, void> {
  countPass(call, pattern, text)
  const { size } = pattern
  for (const match of matches) {
    step(Math.ceil(((text.length - match.start) * size) / stepsPerUnit / unitsPerStep))
    yield match
  }
}

function* backtrackMatches(call: Call, { matches, steps }: Search): Generator<Match, void, void> {
  try {
    yield* matches
  } catch (error) {
    if (!(error instanceof SearchTooLongError)) throw error
    throw call.invalid(msg`Search pattern takes too many steps in this text.`, 'pattern')
  } finally {
    countScan(call, Math.ceil(steps() / instructionsPerUnit))
    if (steps() > stepsPerClockCheck) call.session.checkDeadline()
  }
}

/** Returns at most `most` matches. `end` is the position of a match's last character; `start` if the match is empty. */
function findAll(
  text: string,
  pattern: CompiledPattern,
  start: bigint | undefined,
  most: number,
  call: Call,
): Value[] {
  const found: Value[] = []
  if (most <= 0) return found
  let offset = searchStart(start, text)
  const part = text.slice(unitOffset(text, offset))
  let unit = 0
  for (const match of findMatches(call, pattern, part)) {
    offset += codePointsBetween(part, unit, match.start)
    const length = codePointsBetween(part, match.start, match.end)
    found.push(
      new Map<string, Value>([
        ['start', BigInt(offset)],
        ['end', BigInt(offset + Math.max(0, length - 1))],
        ['data', countedText(call, part.slice(match.start, match.end))],
      ]),
    )
    if (found.length === most) break
    offset += length
    unit = match.end
  }
  return found
}

function resultsMax(given: bigint | undefined): number {
  if (given === undefined || given > BigInt(regularExpressionsLimits.regexResultsMax))
    return regularExpressionsLimits.regexResultsMax
  return Number(given < 0n ? 0n : given)
}

function replaceMatches(
  text: string,
  pattern: CompiledPattern,
  replace: string,
  firstOnly: boolean,
  call: Call,
): string {
  const result = new CountedText(call)
  let replacement: Replacement | undefined
  let from = 0
  for (const match of findMatches(call, pattern, text)) {
    // As in Java, an invalid replacement causes an error only if there is a match.
    replacement ??= readReplacement(replace, pattern, call)
    result.add(text.slice(from, match.start))
    for (const part of replacement) result.add(expand(part, match))
    from = match.end
    if (firstOnly) break
  }
  result.add(text.slice(from))
  return result.finish()
}

function expand(part: string | number, match: Match): string {
  return typeof part === 'string' ? part : match.group(part)
}

function readReplacement(text: string, pattern: CompiledPattern, call: Call): Replacement {
  const parsed = () => parseReplacement(text, pattern)
  return catchError(ReplacementError, parsed, ({ message }) => {
    throw call.invalid(msg`Replacement text ${message}.`, 'replace')
  })
}

/** Quotes the text, and escapes `\E`. */
function quotePattern(text: string): string {
  return `\\Q${text.replaceAll('\\E', '\\E\\\\E\\Q')}\\E`
}

export const regularExpressions = family('Regular expressions', [
  define({
    arguments: { containsstrregex: string, pattern: regex },
    result: 'Boolean',
    summary: 'True if the regular expression `pattern` matches any part of the string `containsstrregex`.',
    example: ['{"containsstrregex": "fireball", "pattern": "b.l+"}', 'true'],
    evaluate: (args, call) => occurs(call, args.pattern, args.containsstrregex),
  }),
  define({
    arguments: {
      findstrregex: string,
      pattern: regex,
      start: optional(integer),
      num_results: optional(integer),
    },
    result: 'Array of Object',
    summary: `Returns an object for each match of the regular expression \`pattern\`: the positions of its first and last character, and the matched string. The search begins at \`start\`; the result has at most \`num_results\` and never more than ${regularExpressionsLimits.regexResultsMax} matches.`,
    example: [
      '{"findstrregex": "fire and ice", "pattern": "i.e"}',
      '[{"start": 1, "end": 3, "data": "ire"}, {"start": 9, "end": 11, "data": "ice"}]',
    ],
    evaluate: (args, call) =>
      findAll(args.findstrregex, args.pattern, args.start, resultsMax(args.num_results), call),
  }),
  unary('regexescape', string, {
    result: 'String',
    summary: 'Returns a regular expression that matches the string literally.',
    example: ['"1+1"', '"\\\\Q1+1\\\\E"'],
    evaluate: (text, call) => countedText(call, quotePattern(text)),
  }),
  define({
    arguments: {
      replacestrregex: string,
      pattern: regex,
      replace: string,
      first: optional(boolean),
    },
    result: 'String',
    summary:
      'Replaces all matches of the regular expression `pattern` with `replace`, or only the first match if `first` is true. In `replace`, `$1` inserts the first group of the match.',
    example: [
      '{"replacestrregex": "fire ice", "pattern": "(\\\\w+) (\\\\w+)", "replace": "$2 $1"}',
      '"ice fire"',
    ],
    evaluate: (args, call) =>
      replaceMatches(args.replacestrregex, args.pattern, args.replace, args.first ?? false, call),
  }),
])
