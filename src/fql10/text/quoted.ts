// Texts and keys as they are written in queries of version 10.

import { step } from '../../base/effort.ts'

/** What stands for itself or for a control character behind a backslash. */
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

/** The escapes of these characters. */
export const escapes: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(escapedCharacters).map(([letter, character]) => [character, `\\${letter}`]),
)

/** A text in quotes, escaped. */
export function quoted(text: string): string {
  step(text.length >> 4)
  return `"${text.replaceAll(/[\\\0'"`\n\r\v\t\b\f#]/g, each => escapes[each] as string)}"`
}

/** A key as it would be written: in quotes unless it is a plain name. */
export function keyText(key: string): string {
  return /^\p{L}[\p{L}\p{Nd}_]*$/u.test(key) ? key : quoted(key)
}

/** Elements or fields between brackets, one a line, where they lie that many levels deep. */
export function bracketed(open: string, lines: readonly string[], close: string, level: number): string {
  if (lines.length === 0) return open + close
  const indent = '  '.repeat(level)
  return `${open}\n${lines.map(line => `${indent}  ${line}`).join(',\n')}\n${indent}${close}`
}
