// Offsets in code points, in which the language counts, and in UTF-16 units, in which the runtime does.

import { step } from '../base/effort.ts'

/** Units that are looked at in the time of a step. */
const unitsPerStep = 16

/** How many code points a text has; a surrogate without its partner counts as one. */
export function codePointLength(text: string): number {
  return codePointsBetween(text, 0, text.length)
}

/** How many code points lie between two offsets in units. */
export function codePointsBetween(text: string, from: number, to: number): number {
  step(Math.ceil((to - from) / unitsPerStep))
  let count = to - from
  for (let at = from; at < to - 1; at++) {
    if (isPairAt(text, at)) {
      count--
      at++
    }
  }
  return count
}

/** The offset in units so many code points after another; the end of the text when it has fewer. */
export function unitOffset(text: string, codePoints: number, from = 0): number {
  if (codePoints >= text.length - from) return text.length
  step(Math.ceil(codePoints / unitsPerStep))
  let at = from
  for (let left = codePoints; left > 0 && at < text.length; left--) at += isPairAt(text, at) ? 2 : 1
  return at
}

/** Whether a code point of two units begins here. */
export function isPairAt(text: string, at: number): boolean {
  const high = text.charCodeAt(at)
  if (high < 0xd800 || high > 0xdbff) return false
  const low = text.charCodeAt(at + 1)
  return low >= 0xdc00 && low <= 0xdfff
}
