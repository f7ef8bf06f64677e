// Regular expressions: search and replacement.

import { limits } from '../../base/limits.ts'
import { msg } from '../../base/message.ts'
import { codePointsBetween, unitOffset } from '../../text/code-points.ts'
import { searchStart } from '../../text/find.ts'
import type { CompiledPattern, Match } from '../../text/regex/compiled-pattern.ts'
import { ReplacementError } from '../../text/regex/errors.ts'
import { parseReplacement, type Replacement } from '../../text/regex/replacement.ts'
import type { Value } from '../../values/value.ts'
import { boolean, integer, string } from '../arguments.ts'
import { type Call, define, family, optional, unary } from '../definition.ts'
import { findMatches, occurs, regex } from '../pattern-search.ts'
import { CountedText, counted } from '../text-budget.ts'

/** The matches in a text from `start` on. `end` is the last character of a match, or the start of an empty match. */
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
        ['data', counted(call, part.slice(match.start, match.end))],
      ]),
    )
    if (found.length === most) break
    offset += length
    unit = match.end
  }
  return found
}

function resultsMax(given: bigint | undefined): number {
  if (given === undefined || given > BigInt(limits.regexResultsMax)) return limits.regexResultsMax
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
    // As in Java, an invalid replacement is an error only when it is used.
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
  try {
    return parseReplacement(text, pattern)
  } catch (error) {
    if (!(error instanceof ReplacementError)) throw error
    throw call.invalid(msg`Replacement text ${error.message}.`, 'replace')
  }
}

/** A pattern that matches a text literally: quoted, with `\E` in the text escaped. */
function quotePattern(text: string): string {
  return `\\Q${text.replaceAll('\\E', '\\E\\\\E\\Q')}\\E`
}

export const regularExpressions = family('Regular expressions', [
  define({
    arguments: { containsstrregex: string, pattern: regex },
    result: 'Boolean',
    summary: 'True if a pattern matches anywhere in a text.',
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
    summary: `The positions and texts of a pattern's matches, at most ${limits.regexResultsMax}.`,
    example: [
      '{"findstrregex": "fire and ice", "pattern": "i.e"}',
      '[{"start": 1, "end": 3, "data": "ire"}, {"start": 9, "end": 11, "data": "ice"}]',
    ],
    evaluate: (args, call) =>
      findAll(args.findstrregex, args.pattern, args.start, resultsMax(args.num_results), call),
  }),
  unary('regexescape', string, {
    result: 'String',
    summary: 'A pattern that matches exactly a text.',
    example: ['"1+1"', '"\\\\Q1+1\\\\E"'],
    evaluate: (text, call) => counted(call, quotePattern(text)),
  }),
  define({
    arguments: {
      replacestrregex: string,
      pattern: regex,
      replace: string,
      first: optional(boolean),
    },
    result: 'String',
    summary: 'The text with all matches of a pattern, or the first, replaced; `$1` stands for a group.',
    example: [
      '{"replacestrregex": "fire ice", "pattern": "(\\\\w+) (\\\\w+)", "replace": "$2 $1"}',
      '"ice fire"',
    ],
    evaluate: (args, call) =>
      replaceMatches(args.replacestrregex, args.pattern, args.replace, args.first ?? false, call),
  }),
])
