// Converts between offsets in code points and offsets in UTF-16 units. The query languages count code points, and
// JavaScript counts UTF-16 units.

import { step } from '../base/effort.ts'

/** The number of UTF-16 units that are processed in the time of one effort step. */
const unitsPerStep = 16

/** Returns the number of code points in a text. A surrogate that is not part of a pair counts as one code point. */
export function codePointLength(text: string): number {
  return codePointsBetween(text, 0, text.length)
}

/** Returns the number of code points between two offsets in UTF-16 units. */
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

/**
 * Returns the offset, in UTF-16 units, `codePoints` code points after `from`. The offset is at most the length of the
 * text.
 */
export function unitOffset(text: string, codePoints: number, from = 0): number {
  if (codePoints >= text.length - from) return text.length
  step(Math.ceil(codePoints / unitsPerStep))
  let at = from
  for (let left = codePoints; left > 0 && at < text.length; left--) at += isPairAt(text, at) ? 2 : 1
  return at
}

/** Returns whether a code point of two UTF-16 units begins at `at`. */
export function isPairAt(text: string, at: number): boolean {
  const high = text.charCodeAt(at)
  if (high < 0xd800 || high > 0xdbff) return false
  const low = text.charCodeAt(at + 1)
  return low >= 0xdc00 && low <= 0xdfff
}
