// Text methods that replace texts and split at texts.

import { msg } from '../../base/message.ts'
import { indexOfText } from '../../text/text-search.ts'
import type { Call } from '../call.ts'
import { entriesFor, type LibraryEntry } from './entry.ts'
import { int, string } from './parameters.ts'
import { type Find, replaceMatches, split } from './text-pieces.ts'

const { method } = entriesFor<string>()

function finding(pattern: string): Find {
  return text => {
    const start = indexOfText(text, pattern)
    return start < 0 ? undefined : { start, end: start + pattern.length }
  }
}

/** Checks the maximum number of replacements. Throws `invalid_argument` below 1. */
export function checkAmount(amount: number, call: Call): number {
  // The message names another parameter, as the original does.
  if (amount < 1) throw call.invalidArgument('count', msg`must be greater than or equal to 1`)
  return amount
}

/** Text methods that replace and split. */
export const stringReplacingEntries: readonly LibraryEntry[] = [
  method('replace', {
    parameters: { pattern: string, replacement: string },
    optional: { amount: int },
    result: 'String',
    summary: 'The text with the first occurrence of a pattern replaced, or the first `amount` occurrences.',
    example: ['"a-b-c".replace("-", "+")', '"a+b-c"'],
    run: (text, { pattern, replacement, amount = 1 }, call) =>
      replaceMatches(text, finding(pattern), replacement, checkAmount(amount, call), call),
  }),
  method('replaceAll', {
    parameters: { pattern: string, replacement: string },
    result: 'String',
    summary: 'The text with every occurrence of another text replaced.',
    example: ['"a-b-c".replaceAll("-", "+")', '"a+b+c"'],
    run: (text, { pattern, replacement }, call) =>
      replaceMatches(text, finding(pattern), replacement, Number.POSITIVE_INFINITY, call),
  }),
  method('split', {
    parameters: { separator: string },
    result: 'Array<String>',
    summary: 'The pieces of the text between occurrences of another.',
    example: ['"a,b".split(",")', '[\n  "a",\n  "b"\n]'],
    run: (text, { separator }) => split(text, finding(separator)),
  }),
]
