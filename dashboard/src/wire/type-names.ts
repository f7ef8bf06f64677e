// Names of the types of values for users.

import { isMap, type Json } from './json.ts'
import { refOf, tagOf } from './refs.ts'

const tagNames: Readonly<Record<string, string>> = {
  '@ts': 'time',
  '@date': 'date',
  '@uuid': 'uuid',
  '@bytes': 'bytes',
  '@query': 'function',
  '@reference': 'reference',
  '@ref': 'reference',
}

/** Names the type in one word. */
export function typeNameOf(value: Json): string {
  if (value === null) return 'null'
  if (typeof value === 'bigint') return 'integer'
  if (typeof value === 'number') return 'double'
  if (typeof value === 'boolean') return 'boolean'
  if (typeof value === 'string') return 'text'
  if (Array.isArray(value)) return 'array'
  if (isMap(value) && refOf(value)) return 'reference'
  return tagNames[tagOf(value) ?? ''] ?? 'object'
}
