// Unicode NFKC case folding: the `casefold` function and the `casefold` transform of indexes. The runtime lacks the
// standard's mapping of characters (NFKC_Casefold), so this module derives it from the runtime's normalization and case
// mapping. Mapping each character to lower case, to upper case, and to lower case again gives the standard's full case
// folding, except for the characters in `exception`.

import { step } from '../base/effort.ts'
import { GenerationCache } from '../base/generation-cache.ts'
import { isKnownCharacter } from './known-characters.ts'
import { normalize } from './normalize.ts'

const ignorable = /\p{Default_Ignorable_Code_Point}/gu

/**
 * The folding of a character for which the case mapping gives a wrong result. Cherokee letters fold to capitals. The
 * dotless i folds to itself, because the Turkic foldings are not used.
 */
function exception(codePoint: number): number | undefined {
  if (codePoint === 0x131) return codePoint
  if (codePoint >= 0x13a0 && codePoint <= 0x13f5) return codePoint
  if (codePoint >= 0x13f8 && codePoint <= 0x13fd) return codePoint - 8
  if (codePoint >= 0xab70 && codePoint <= 0xabbf) return codePoint - 0xab70 + 0x13a0
  return undefined
}

function isAscii(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    if (text.charCodeAt(index) > 0x7f) return false
  }
  return true
}

function foldOnce(text: string): string {
  let folded = ''
  for (const character of text.normalize('NFKC').replace(ignorable, '')) {
    const codePoint = exception(character.codePointAt(0) as number)
    folded +=
      codePoint === undefined
        ? character.toLowerCase().toUpperCase().toLowerCase()
        : String.fromCodePoint(codePoint)
  }
  return folded.normalize('NFKC')
}

/** Has room for the characters of most alphabets at the same time. */
const remembered = new GenerationCache<string, string>(8192)

/** The second pass folds the characters that the first pass produced. */
function mappingOf(character: string): string {
  const known = remembered.get(character)
  if (known !== undefined) return known
  const mapping = foldOnce(foldOnce(character))
  remembered.set(character, mapping)
  return mapping
}

/**
 * Texts that differ only in case, width or compatibility forms have the same result. Characters newer than the stored
 * Unicode tables are not folded, so an index key is the same in every runtime.
 */
export function casefold(text: string): string {
  step(text.length >> 4)
  if (isAscii(text)) return text.toLowerCase()
  let folded = ''
  let known = ''
  for (const character of text) {
    step()
    if (character <= '\x7f') known += character.toLowerCase()
    else if (isKnownCharacter(character.codePointAt(0) as number)) known += mappingOf(character)
    else {
      folded += normalize(known, 'NFC') + character
      known = ''
    }
  }
  return folded + normalize(known, 'NFC')
}
