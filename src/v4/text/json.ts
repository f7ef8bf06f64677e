// Wire JSON as text, exact: integers keep all their digits, and doubles stay apart from them.

import { quoteJson } from '../../values/json-text.ts'
import type { Json } from '../../values/value.ts'

/** A double as it is written in JSON and in the language: always with a point or an exponent. */
export function doubleText(double: number): string {
  if (Object.is(double, -0)) return '-0.0'
  const text = String(double)
  return /[.e]/.test(text) ? text : `${text}.0`
}

/** Compact JSON text of a value. What JSON cannot hold (infinities, not-a-number) becomes a string, as in responses. */
export function writeJson(json: Json): string {
  switch (typeof json) {
    case 'string':
      return quoteJson(json)
    case 'number':
      return Number.isFinite(json) ? doubleText(json) : `"${json}"`
    case 'bigint':
    case 'boolean':
      return String(json)
  }
  if (json === null) return 'null'
  if (json instanceof Map) {
    return `{${[...json].map(([key, value]) => `${quoteJson(key)}:${writeJson(value)}`).join()}}`
  }
  return `[${(json as readonly Json[]).map(writeJson).join()}]`
}
