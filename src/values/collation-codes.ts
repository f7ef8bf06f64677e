// Assigns byte codes to the primary weights of the collation.

import { assert } from '../base/assert.ts'

/** The lead byte of implicit weights. All letters except U+FFFD have smaller lead bytes. */
export const implicitLead = 0xfd
const replacementCharacter = 0xfffd
const leadFirst = 0x02
/** Number of lead bytes reserved for three-byte weights. Letters after `z` get two bytes while other lead bytes remain. */
const wideLeads = 3

/**
 * Assigns each letter (a code point, or a sequence) its primary weight. ASCII letters get one byte. The letters between
 * them, and most letters after `z`, get two bytes; the rest (Han) get three. No weight is a prefix of another, and
 * weights compare bytewise in the order of the letters. Zero is never a lead byte, because it ends a level.
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
