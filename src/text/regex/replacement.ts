// Parses replacements in Java's syntax. `$1` and `${name}` represent the text that a group has matched, and a backslash
// escapes the next character.

import { ReplacementError } from './pattern-errors.ts'

/** Literal texts, and numbers of groups. */
export type Replacement = readonly (string | number)[]

const dollar = 0x24
const backslash = 0x5c

/** Parses a replacement for a pattern with the given groups. Throws {@link ReplacementError}. */
export function parseReplacement(
  text: string,
  groups: { readonly groupCount: number; readonly groupNames: ReadonlyMap<string, number> },
): Replacement {
  const parts: (string | number)[] = []
  let literal = ''
  let at = 0
  while (at < text.length) {
    const unit = text.charCodeAt(at)
    if (unit === backslash) {
      if (at + 1 === text.length) throw new ReplacementError('ends with a backslash')
      literal += text[at + 1]
      at += 2
    } else if (unit === dollar) {
      if (literal !== '') parts.push(literal)
      literal = ''
      const { end, group } = readGroup(text, at + 1, groups)
      parts.push(group)
      at = end
    } else {
      literal += text[at]
      at++
    }
  }
  if (literal !== '') parts.push(literal)
  return parts
}

/** Reads the group after a dollar sign. Returns its number, and the offset of the following text. */
function readGroup(
  text: string,
  start: number,
  { groupCount, groupNames }: Parameters<typeof parseReplacement>[1],
): { readonly group: number; readonly end: number } {
  if (text[start] === '{') {
    const close = text.indexOf('}', start)
    const name = text.slice(start + 1, close)
    if (close < 0 || !/^[A-Za-z][A-Za-z0-9]*$/.test(name)) {
      throw new ReplacementError('has no name of a group behind ${')
    }
    const group = groupNames.get(name)
    if (group === undefined) throw new ReplacementError(`names the group '${name}', which the pattern lacks`)
    return { group, end: close + 1 }
  }
  let group = digitAt(text, start)
  if (group < 0) throw new ReplacementError('has no group behind $')
  if (group > groupCount) throw new ReplacementError(`names the group ${group}, which the pattern lacks`)
  let end = start + 1
  // A further digit belongs to the number only if a group with the resulting number exists.
  for (let digit = digitAt(text, end); digit >= 0; digit = digitAt(text, end)) {
    if (group * 10 + digit > groupCount) break
    group = group * 10 + digit
    end++
  }
  return { group, end }
}

function digitAt(text: string, at: number): number {
  const digit = text.charCodeAt(at) - 0x30
  return digit >= 0 && digit <= 9 ? digit : -1
}
