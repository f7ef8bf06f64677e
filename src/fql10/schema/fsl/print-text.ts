// Prints strings, paths and numbers in schema files.

import type { Path } from '../../../model/schema/paths.ts'
import { isDisplayed } from '../../syntax/reader.ts'
import { escapes } from '../../text/quoted.ts'

/** Quotes that need no escape in a text in double quotes. */
const unescaped: ReadonlySet<string> = new Set(["'", '`'])

/** The content of a text in double quotes. */
export function escapeText(text: string): string {
  let printed = ''
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    const character = text[at] as string
    const known = unescaped.has(character) ? character : escapes[character]
    printed += known ?? (isDisplayed(unit) ? character : `\\u${unit.toString(16).padStart(4, '0')}`)
  }
  return printed
}

/** A text in double quotes. */
export function printString(text: string): string {
  return `"${escapeText(text)}"`
}

/** Prints a path, which begins with a dot: `.a.b[0]["x y"]`. */
export function printPath(path: Path): string {
  return path
    .map((step, index) => {
      if (typeof step === 'string' && /^[a-zA-Z_][a-zA-Z0-9_]*$/.test(step)) return `.${step}`
      const inside = typeof step === 'string' ? printString(step) : `${step}`
      return `${index === 0 ? '.' : ''}[${inside}]`
    })
    .join('')
}

/** A decimal number in a canonical spelling that keeps all digits. */
export function printDecimal(written: string): string {
  const [, sign = '', integer = '', fraction = '', exponent = '0'] =
    /^([+-]?)\s*([0-9]*)\.?([0-9]*)(?:[eE]([+-]?[0-9]+))?$/.exec(written.replaceAll('_', '')) ?? []
  const minus = sign === '-' ? '-' : ''
  const digits = (integer + fraction).replace(/^0+(?=[0-9])/, '')
  const scale = fraction.length - Number(exponent)
  const adjusted = digits.length - 1 - scale
  if (scale >= 0 && adjusted >= -6) {
    if (scale === 0) return minus + digits
    const padded = digits.padStart(scale + 1, '0')
    return `${minus}${padded.slice(0, -scale)}.${padded.slice(-scale)}`
  }
  const rest = digits.length > 1 ? `.${digits.slice(1)}` : ''
  const power = adjusted === 0 ? '' : `E${adjusted > 0 ? '+' : ''}${adjusted}`
  return `${minus}${digits[0]}${rest}${power}`
}
