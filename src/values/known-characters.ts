// The characters of one version of Unicode. What the runtime's own tables say about a character that is assigned never
// changes as far as case folding and normal forms are concerned (the stability policies of Unicode); what they say of one
// that was not yet assigned does. So texts that end in stored keys are mapped by the runtime only where they hold
// characters of this version; newer ones stay as they are.

import { step } from '../base/effort.ts'
import { assignedRuns } from './assigned-data.ts'

/** Where runs of assigned and unassigned code points begin, in turns; an even number of them lie below an unassigned one. */
const starts: readonly number[] = startsOf(assignedRuns)

function startsOf(runs: string): readonly number[] {
  let at = 0
  return runs.split(' ').map(length => {
    at += Number.parseInt(length, 36)
    return at
  })
}

/** Below are only characters that every version has. */
const firstUnassigned = 0x378

/** Whether a code point is a character of the version of Unicode that what is stored was made with. */
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

/** All characters of that version as ranges: first, last, first, last … */
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
 * What the runtime's `map` makes of a text, as a runtime of the known version of Unicode would make it: newer characters
 * stay, and no character becomes a newer one (a letter whose capital was added later has none).
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
