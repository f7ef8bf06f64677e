// Converts texts to title case: in each word, the first letter, digit or symbol is converted to title case, and all
// later letters to lower case.

import { step } from '../base/effort.ts'
import { mapKnown } from '../values/known-characters.ts'

let segmenter: Intl.Segmenter | undefined

/** Creates the segmenter at its first use, because loading its data takes a tenth of the program's start time. */
function words(): Intl.Segmenter {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'word' })
  return segmenter
}

/** A letter, digit or symbol, but not a modifier letter without case. The first match in a word is converted. */
const firstMain = /[[\p{L}--\p{Lm}]\p{N}\p{S}\p{Co}[\p{Lm}&&\p{Cased}]]/v

/**
 * Unicode defines the word boundaries. Characters that are newer than the Unicode version of the query languages are
 * not changed.
 */
export function titlecase(text: string): string {
  return mapKnown(text, titleWords)
}

function titleWords(text: string): string {
  let titled = ''
  for (const { segment } of words().segment(text)) {
    step(1 + (segment.length >> 4))
    const at = segment.search(firstMain)
    if (at < 0) {
      titled += segment
      continue
    }
    const first = String.fromCodePoint(segment.codePointAt(at) as number)
    titled += segment.slice(0, at) + titleForm(first) + lowerRest(segment, at, first)
  }
  return titled
}

/** The part of a word after the character `first`. */
function lowerRest(segment: string, at: number, first: string): string {
  const rest = segment.slice(at + first.length)
  // `toLowerCase` creates a final sigma only after a letter, so an `a` is prepended during the conversion.
  return /\p{L}/u.test(first) ? `a${rest}`.toLowerCase().slice(1) : rest.toLowerCase()
}

/**
 * The title case of a digraph letter, whose code point is between those of the upper and lower case; undefined for
 * other letters.
 */
function digraphForm(codePoint: number): number | undefined {
  if (codePoint >= 0x1c4 && codePoint <= 0x1cc) return 0x1c5 + 3 * Math.floor((codePoint - 0x1c4) / 3)
  if (codePoint >= 0x1f1 && codePoint <= 0x1f3) return 0x1f2
  return undefined
}

const subscriptIota = '\u0345'

/** Converts a character to title case by the full rules of Unicode. JavaScript supports only upper and lower case. */
export function titleForm(character: string): string {
  const codePoint = character.codePointAt(0) as number
  const digraph = digraphForm(codePoint)
  if (digraph !== undefined) return String.fromCodePoint(digraph)
  // Georgian letters stay unchanged, because their capitals are used only in words that consist of capitals.
  if (codePoint >= 0x10d0 && codePoint <= 0x10ff) return character
  const [first = '', second, ...rest] = character.toUpperCase()
  if (second === undefined) return first
  // The title case of `ŉ` is an apostrophe with a capital N.
  if (codePoint === 0x149) return first + second
  const others = [second, ...rest]
  // A Greek iota subscript stays a subscript.
  if (codePoint < 0x1f80 || codePoint > 0x1fff || others.at(-1) !== 'Ι') {
    return first + others.join('').toLowerCase()
  }
  const base = first + others.slice(0, -1).join('')
  return rest.length === 0 ? (base + subscriptIota).normalize('NFC') : base + subscriptIota
}
