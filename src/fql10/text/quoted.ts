// Writes string literals and object keys in the syntax of version 10.

import { step } from '../../base/effort.ts'

/** The character of each escape sequence, by the letter after the backslash. */
export const escapedCharacters: Readonly<Record<string, string>> = {
  '\\': '\\',
  "'": "'",
  '"': '"',
  '`': '`',
  '#': '#',
  '0': '\0',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  b: '\b',
  f: '\f',
}

/** The escape sequences by character. */
export const escapes: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(escapedCharacters).map(([letter, character]) => [character, `\\${letter}`]),
)

export function quoted(text: string): string {
  step(text.length >> 4)
  return `"${text.replaceAll(/[\\\0'"`\n\r\v\t\b\f#]/g, each => escapes[each] as string)}"`
}

/** An object key, in quotes if the key is not a plain name. */
export function keyText(key: string): string {
  return /^\p{L}[\p{L}\p{Nd}_]*$/u.test(key) ? key : quoted(key)
}

/** Writes one element or field per line. `level` is the indentation level of the brackets. */
export function inBrackets(open: string, lines: readonly string[], close: string, level: number): string {
  if (lines.length === 0) return open + close
  const indent = '  '.repeat(level)
  return `${open}\n${lines.map(line => `${indent}  ${line}`).join(',\n')}\n${indent}${close}`
}
