// Replaces and splits. After each match, the rest of the text is searched like a separate text: `^` matches at the
// start of the rest. An empty match does not advance the search.

import { step } from '../../base/effort.ts'
import { limits } from '../../base/limits.ts'
import type { Call } from '../call.ts'
import { countText } from '../text-size.ts'

/** The range of a match, as offsets in UTF-16 units. */
interface TextMatch {
  readonly start: number
  readonly end: number
}

/** Finds the first match in a text. */
export type Find = (text: string) => TextMatch | undefined

/** Replaces the first `amount` matches. Throws `value_too_large`. */
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

/** The number of times a text can grow by `growth` units before it is too long. */
function timesUntilTooLong(size: number, growth: number): number {
  return growth === 0 ? 0 : Math.floor((limits.v10TextUnitsMax - size) / growth) + 1
}

/** The pieces of a text between matches. After an empty match, the first unit of the rest becomes a piece. */
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
