// Writes JSON, as the counterpart of the parser (json.ts): integers keep all digits, and doubles stay distinct from
// integers.

import { quoteJson } from './json-text.ts'
import type { Json } from './value.ts'

/** Objects may also be plain JavaScript objects; integers must be bigint. */
export type Writable = Json | { readonly [name: string]: Writable } | readonly Writable[]

/**
 * The text is compact if `indent` is empty, and pretty-printed otherwise. Infinities and NaN become strings, as in
 * responses, because JSON has no such numbers.
 */
export function writeJson(value: Writable, indent = ''): string {
  return write(value, indent, indent === '' ? '' : '\n')
}

/** Returns a text that is valid in both FQL and JSON, always with a point or an exponent. `double` must be finite. */
export function doubleText(double: number): string {
  if (Object.is(double, -0)) return '-0.0'
  const text = String(double)
  return /[.e]/.test(text) ? text : `${text}.0`
}

/**
 * `lineBreak` precedes the closing bracket: empty for compact text, otherwise a newline and the indentation of the
 * bracket.
 */
function write(value: Writable, indent: string, lineBreak: string): string {
  switch (typeof value) {
    case 'string':
      return quoteJson(value)
    case 'number':
      return Number.isFinite(value) ? doubleText(value) : `"${value}"`
    case 'boolean':
    case 'bigint':
      return String(value)
  }
  if (value === null) return 'null'
  const inner = lineBreak === '' ? '' : lineBreak + indent
  if (isList(value)) {
    if (value.length === 0) return '[]'
    return `[${value.map(item => inner + write(item, indent, inner)).join()}${lineBreak}]`
  }
  const members = value instanceof Map ? [...value] : Object.entries(value)
  if (members.length === 0) return '{}'
  const colon = lineBreak === '' ? ':' : ': '
  const written = members.map(
    ([name, member]) => inner + quoteJson(name) + colon + write(member, indent, inner),
  )
  return `{${written.join()}${lineBreak}}`
}

function isList(value: Writable): value is readonly Writable[] {
  return Array.isArray(value)
}
