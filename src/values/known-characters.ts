// Restricts text functions to the characters of one version of Unicode. By Unicode's stability policies, normal forms
// and pairs of lower and upper case never change for assigned characters, but may change for an unassigned code point
// when a later version assigns it. Stored keys must not change. Therefore, only the characters of one version of Unicode
// are mapped and normalized in the texts of stored keys.

import { step } from '../base/effort.ts'
import { assignedRuns } from './assigned-data.ts'

/**
 * The first code points of runs, alternately assigned and unassigned. If an even number of these starts is at or below
 * a code point, the code point is unassigned.
 */
const starts: readonly number[] = startsOf(assignedRuns)

function startsOf(runs: string): readonly number[] {
  let at = 0
  return runs.split(' ').map(length => {
    at += Number.parseInt(length, 36)
    return at
  })
}

/** All smaller code points are assigned in every version. */
const firstUnassigned = 0x378

/** Returns whether the Unicode version of the stored data has assigned a code point. */
export function isKnownCharacter(codePoint: number): boolean {
  if (codePoint < firstUnassigned) return true
  let low = 0
  let high = starts.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((starts[middle] as number) <= codePoint) low = middle + 1
    else high = middle
  }
  return low % 2 === 1
}

/** Ranges: first, last, first, last … */
export function knownRanges(): readonly number[] {
  return starts.map((start, index) => (index % 2 === 0 ? start : start - 1))
}

const surelyKnown = /^[\0-\u0377]*$/

function isAllKnown(text: string): boolean {
  if (surelyKnown.test(text)) return true
  for (const character of text) {
    step()
    if (!isKnownCharacter(character.codePointAt(0) as number)) return false
  }
  return true
}

/**
 * Applies `map` as in a runtime with the stored Unicode version. A newer character is not mapped, and neither is a
 * character whose result would contain a newer one. For example, a newer version may have added the capital form of a
 * small letter.
 */
export function mapKnown(text: string, map: (text: string) => string): string {
  const mapped = map(text)
  if (isAllKnown(mapped) && isAllKnown(text)) return mapped
  let result = ''
  let known = ''
  for (const character of text) {
    step()
    if (isKnownCharacter(character.codePointAt(0) as number)) {
      const alone = map(character)
      if (isAllKnown(alone)) {
        known += character
        continue
      }
    }
    result += map(known) + character
    known = ''
  }
  return result + map(known)
}
