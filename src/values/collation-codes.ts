// The bytes of primary weights.

import { assert } from '../base/assert.ts'

/** The lead byte of implicit weights; letters stay below, apart from U+FFFD. */
export const implicitLead = 0xfd
const replacementCharacter = 0xfffd
const leadFirst = 0x02
/** Letters behind `z` get two bytes as long as there are lead bytes; these remain for three bytes. */
const wideLeads = 3

/**
 * Gives each letter (a character by its number, or a sequence) its primary weight: one byte for ASCII, a lead byte and
 * one more for those between, and for most behind `z`; three bytes for the rest (Han). No weight is the beginning of
 * another, and weights compare bytewise as letters do. Zero is never a lead: it ends a level.
 */
export function assignPrimaryCodes(letters: readonly (number | string)[]): Uint32Array {
  const codes = new Uint32Array(letters.length)
  let lead = leadFirst - 1
  let trail = 0x100
  let index = 0
  const firstWideLead = implicitLead - wideLeads
  for (; index < letters.length; index++) {
    const letter = letters[index]
    if (typeof letter === 'number' && letter < 0x80) {
      codes[index] = (1 << 24) | ++lead
      trail = 0x100
      continue
    }
    if (trail > 0xff) {
      if (lead + 1 >= firstWideLead) break
      lead++
      trail = 0
    }
    codes[index] = (2 << 24) | (lead << 8) | trail++
  }
  for (let wide = 0; index < letters.length; index++, wide++) {
    codes[index] = (3 << 24) | ((firstWideLead << 16) + wide)
  }
  assert(letters.length < wideLeads << 16, 'the wide leads hold all letters')
  if (letters[letters.length - 1] === replacementCharacter) {
    codes[letters.length - 1] = (1 << 24) | (implicitLead + 1)
  }
  return codes
}
