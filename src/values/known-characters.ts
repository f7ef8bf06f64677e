// The characters of one version of Unicode. By Unicode's stability policies, case folding and normal forms never change
// for an assigned character. For an unassigned code point, the folding and the normal forms may change when a later
// version assigns the code point. Stored keys must not change. Therefore, in the texts of stored keys, only the
// characters of this version are folded and normalized.

import { step } from '../base/effort.ts'
import { assignedRuns } from './assigned-data.ts'

/**
 * The first code points of runs. The first run is assigned, the second run is unassigned, and so on alternately. If an
 * even number of these starts is at or below a code point, the code point is unassigned.
 */
const starts: readonly number[] = startsOf(assignedRuns)

function startsOf(runs: string): readonly number[] {
  let at = 0
  return runs.split(' ').map(length => {
    at += Number.parseInt(length, 36)
    return at
  })
}

/** The first unassigned code point. All smaller code points are assigned in every version. */
const firstUnassigned = 0x378

/** Returns whether a code point is assigned in the Unicode version of the stored data. */
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

/** All characters of the stored Unicode version as ranges: first, last, first, last … */
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
 * Applies `map` to a text. The result is the same as in a runtime with the stored Unicode version. A newer character is
 * not mapped. A character is also not mapped if its result would contain a newer character. For example, a newer
 * version of Unicode may have added the capital form of a small letter.
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
