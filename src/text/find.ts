// Text search from a start offset, in code points.

import { codePointLength, codePointsBetween, unitOffset } from './code-points.ts'
import { indexOfText } from './text-search.ts'

/** The offset at which a search starts. A start outside the text means its beginning. */
export function searchStart(start: bigint | undefined, text: string): number {
  if (start === undefined || start <= 0n || start >= BigInt(text.length)) return 0
  const offset = Number(start)
  return offset < codePointLength(text) ? offset : 0
}

/** The first occurrence of `find` in `text` at or after `start`, in code points; -1 when there is none. */
export function findText(text: string, find: string, start: bigint | undefined): number {
  const from = searchStart(start, text)
  const fromUnit = unitOffset(text, from)
  const at = indexOfText(text, find, fromUnit)
  return at < 0 ? -1 : from + codePointsBetween(text, fromUnit, at)
}
