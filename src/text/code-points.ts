// Converts between the offsets of the query languages, in code points, and the offsets of JavaScript, in UTF-16 units.

import { step } from '../base/effort.ts'

/** UTF-16 units of one effort step (src/base/effort.ts). */
const unitsPerStep = 16

/** An unpaired surrogate is a code point. */
export function codePointLength(text: string): number {
  return codePointsBetween(text, 0, text.length)
}

/** `from` and `to` are offsets in UTF-16 units. */
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

/** Returns the offset `codePoints` code points after `from`, at most the length of the text, in UTF-16 units. */
export function unitOffset(text: string, codePoints: number, from = 0): number {
  if (codePoints >= text.length - from) return text.length
  step(Math.ceil(codePoints / unitsPerStep))
  let at = from
  for (let left = codePoints; left > 0 && at < text.length; left--) at += isPairAt(text, at) ? 2 : 1
  return at
}

/** Returns whether a surrogate pair begins at `at`. */
export function isPairAt(text: string, at: number): boolean {
  const high = text.charCodeAt(at)
  if (high < 0xd800 || high > 0xdbff) return false
  const low = text.charCodeAt(at + 1)
  return low >= 0xdc00 && low <= 0xdfff
}
