// Regular expressions as arguments, and searches that count their cost.

import { longCall, step } from '../base/effort.ts'
import { RequestError } from '../base/errors.ts'
import { limits } from '../base/limits.ts'
import { msg } from '../base/message.ts'
import {
  type CompiledPattern,
  compilePattern,
  type Match,
  type Search,
} from '../text/regex/compiled-pattern.ts'
import { RegexSyntaxError, SearchTooLongError, UnsupportedRegexError } from '../text/regex/errors.ts'
import { string } from './arguments.ts'
import type { ArgumentType, Call } from './definition.ts'
import { countScan } from './text-budget.ts'

/** A text that is a pattern in Java's syntax. */
export const regex: ArgumentType<CompiledPattern> = {
  mode: 'value',
  name: 'String',
  check(value, call, key) {
    const pattern = string.check(value, call, key)
    try {
      longCall(pattern.length * compilationsPerUnit)
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

/** Cost of compiling a character of a pattern, relative to searching one. */
const compilationsPerUnit = 64

/** Maximum length of a pattern in an error. */
const shownMax = 200

/** Number of instructions per character that count as one unit of scanning. */
const instructionsPerUnit = 32

/** Characters that a native call processes in the time of one step. */
const unitsPerStep = 16

/** Steps of RE2 in the time that other native calls take for a character. */
const stepsPerUnit = 2

/** Counts one pass of RE2 over a text. Throws `bad request` when a single pass could take too long. */
function countPass(call: Call, pattern: CompiledPattern, text: string): void {
  const steps = text.length * pattern.size
  if (steps > limits.regexStepsMax) {
    throw new RequestError(
      'bad request',
      msg`Search takes too many steps: got ${steps}, limit: ${limits.regexStepsMax}`,
    )
  }
  longCall(steps / stepsPerUnit)
  countScan(call, text.length * Math.ceil(pattern.size / instructionsPerUnit))
}

/** Returns whether a pattern matches anywhere in a text. Counts the cost. */
export function occurs(call: Call, pattern: CompiledPattern, text: string): boolean {
  if (pattern.isLinearOn(text)) {
    countPass(call, pattern, text)
    return pattern.occursLinearlyIn(text)
  }
  for (const _ of findMatches(call, pattern, text)) return true
  return false
}

/** Number of steps after which the deadline is checked. */
const stepsPerClockCheck = 4_194_304

/**
 * The matches of a pattern in a text. Counts the cost. Throws `invalid argument` at the pattern when they take too
 * long.
 */
export function* findMatches(
  call: Call,
  pattern: CompiledPattern,
  text: string,
): Generator<Match, void, void> {
  const search = pattern.search(text)
  if (search.linear) yield* linearMatches(call, pattern, text, search)
  else yield* backtrackMatches(call, search)
}

/**
 * For most patterns, all matches together take one pass. Some patterns look far ahead for each match (`a.*b|a`). So
 * each match counts as a separate pass over the rest of the text.
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
