// JSON as it goes over the wire. Integers are bigint, doubles are number, objects are Maps in source order: nothing is
// rounded or reordered between the service and the screen.

import { parseJson } from '../../../src/values/json.ts'
import { quoteJson } from '../../../src/values/json-text.ts'
import type { Json } from '../../../src/values/value.ts'

export type { Json }
export { parseJson }

/** An expression to be sent. Plain objects serve for the forms of the language; whole numbers have to be bigint. */
export type Query = Json | { readonly [form: string]: Query } | readonly Query[]

/** A query or value as JSON text; with `indent`, laid out for people. */
export function writeJson(query: Query, indent = ''): string {
  return write(query, indent, indent === '' ? '' : '\n')
}

function write(query: Query, indent: string, lineBreak: string): string {
  if (query === null) return 'null'
  switch (typeof query) {
    case 'string':
      return quoteJson(query)
    case 'number':
      return doubleText(query)
    case 'boolean':
    case 'bigint':
      return String(query)
  }
  const inner = lineBreak === '' ? '' : lineBreak + indent
  if (isList(query)) {
    if (query.length === 0) return '[]'
    return `[${query.map(item => inner + write(item, indent, inner)).join()}${lineBreak}]`
  }
  const members = query instanceof Map ? [...query] : Object.entries(query)
  if (members.length === 0) return '{}'
  const colon = lineBreak === '' ? ':' : ': '
  const written = members.map(
    ([name, value]) => inner + quoteJson(name) + colon + write(value, indent, inner),
  )
  return `{${written.join()}${lineBreak}}`
}

/** A double always shows that it is none of the integers. */
function doubleText(double: number): string {
  const text = String(double)
  return /[.eEn]/.test(text) ? text : `${text}.0`
}

function isList(query: Query): query is readonly Query[] {
  return Array.isArray(query)
}

/** Whether a value is an object of the wire (a Map). */
export function isMap(value: Json | undefined): value is ReadonlyMap<string, Json> {
  return value instanceof Map
}

/** The value at a path of names and indexes; undefined where it leads nowhere. */
export function at(value: Json | undefined, ...path: readonly (string | number)[]): Json | undefined {
  let found = value
  for (const step of path) {
    if (isMap(found)) found = found.get(String(step))
    else if (Array.isArray(found)) found = found[Number(step)]
    else return undefined
  }
  return found
}

/** The text at a path; undefined where there is none. */
export function textAt(value: Json | undefined, ...path: readonly (string | number)[]): string | undefined {
  const found = at(value, ...path)
  return typeof found === 'string' ? found : undefined
}

/** The list at a path; empty where there is none. */
export function listAt(value: Json | undefined, ...path: readonly (string | number)[]): readonly Json[] {
  const found = at(value, ...path)
  return Array.isArray(found) ? found : []
}
