// Text methods that replace texts and split at texts. After each match, the rest of the text is searched like a separate
// text: `^` matches at the start of the rest. After an empty match at this start, a replacement finds the same match
// again, but a split skips one UTF-16 unit.

import { step } from '../../base/effort.ts'
import { limits } from '../../base/limits.ts'
import { msg } from '../../base/message.ts'
import { indexOfText } from '../../text/text-search.ts'
import type { Call } from '../call.ts'
import { countText } from '../value-limits.ts'
import { entriesFor, type LibraryEntry } from './entry.ts'
import { int, string } from './parameters.ts'

/** The range of a match, as offsets in UTF-16 units. */
interface TextMatch {
  readonly start: number
  readonly end: number
}

export type Find = (text: string) => TextMatch | undefined

/** Replaces the first `amount` matches. Throws `value_too_large` if the result is too long. */
export function replaceMatches(
  text: string,
  find: Find,
  replacement: string,
  amount: number,
  call: Call,
): string {
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

/** If a match is empty, the first UTF-16 unit of the rest becomes a piece, and a single last unit is not searched. */
export function split(text: string, find: Find): readonly string[] {
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

const { method } = entriesFor<string>()

function findingText(pattern: string): Find {
  return text => {
    const start = indexOfText(text, pattern)
    return start < 0 ? undefined : { start, end: start + pattern.length }
  }
}

/** Throws `invalid_argument` if `amount` is less than 1. */
export function checkAmount(amount: number, call: Call): number {
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
