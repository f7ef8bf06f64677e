// Converts between offsets in code points, which the language uses, and offsets in UTF-16 units, which the runtime
// uses.

import { step } from '../base/effort.ts'

/** Units processed in the time of one step. */
const unitsPerStep = 16

/** The number of code points in a text; a lone surrogate counts as one code point. */
export function codePointLength(text: string): number {
  return codePointsBetween(text, 0, text.length)
}

/** The number of code points between two offsets in units. */
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

/** The offset in units that is `codePoints` code points after `from`; the end of the text when it has fewer. */
export function unitOffset(text: string, codePoints: number, from = 0): number {
  if (codePoints >= text.length - from) return text.length
  step(Math.ceil(codePoints / unitsPerStep))
  let at = from
  for (let left = codePoints; left > 0 && at < text.length; left--) at += isPairAt(text, at) ? 2 : 1
  return at
}

/** Returns whether a code point of two units begins at `at`. */
export function isPairAt(text: string, at: number): boolean {
  const high = text.charCodeAt(at)
  if (high < 0xd800 || high > 0xdbff) return false
  const low = text.charCodeAt(at + 1)
  return low >= 0xdc00 && low <= 0xdfff
}
