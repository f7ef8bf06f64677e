// The text of an error in the query log, without values of the query.

import type { Template } from '../base/message.ts'

/** Maximum number of logged characters of the text of an error. */
const charsMax = 300

/** Returns the text of an error. Each quoted value that contains an unknown word is replaced by `?`. */
export function errorText({ pieces, quoted }: Template, isKnown: (word: string) => boolean): string {
  let text = pieces[0] ?? ''
  for (const [at, each] of quoted.entries()) text += (isShown(each, isKnown) ? each : '?') + pieces[at + 1]
  return text.slice(0, charsMax)
}

/**
 * Returns whether a quoted value consists of known words, such as the name of a type. A number is never a known word.
 */
function isShown(quoted: string, isKnown: (word: string) => boolean): boolean {
  if (quoted.length > charsMax) return false
  const words = quoted.match(/[^\s,|'"`]+/g) ?? []
  return isKnown(quoted) || (words.length > 0 && words.every(isKnown))
}
