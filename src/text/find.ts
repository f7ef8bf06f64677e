// Searching from a start on, in code points.

import { codePointLength, codePointsBetween, unitOffset } from './code-points.ts'
import { indexOfText } from './text-search.ts'

/** Where a search begins: outside of the text it begins at its front. */
export function searchStart(start: bigint | undefined, text: string): number {
  if (start === undefined || start <= 0n || start >= BigInt(text.length)) return 0
  const offset = Number(start)
  return offset < codePointLength(text) ? offset : 0
}

/** Where a text first contains another from a start on; -1 when it does not. */
export function findText(text: string, find: string, start: bigint | undefined): number {
  const from = searchStart(start, text)
  const fromUnit = unitOffset(text, from)
  const at = indexOfText(text, find, fromUnit)
  return at < 0 ? -1 : from + codePointsBetween(text, fromUnit, at)
}
