// Values as they will be stored, as the wire shows them.

import { referenceText } from '../../../src/transfer/references.ts'
import { encodeBase64 } from '../../../src/values/base64.ts'
import { formatDate } from '../../../src/values/date.ts'
import { formatTime } from '../../../src/values/time.ts'
import { Lambda, LocalDate, Time, UnresolvedRef, Uuid, type Value } from '../../../src/values/value.ts'
import type { Json } from './json.ts'

/** A value that a reader of files has made, in wire JSON. */
export function wireOf(value: Value): Json {
  if (value instanceof Time) return new Map([['@ts', formatTime(value)]])
  if (value instanceof LocalDate) return new Map([['@date', formatDate(value)]])
  if (value instanceof Uuid) return new Map([['@uuid', value.text]])
  if (value instanceof Uint8Array) return new Map([['@bytes', encodeBase64(value)]])
  if (value instanceof UnresolvedRef) return new Map([['@reference', referenceText(value)]])
  if (value instanceof Lambda) return new Map([['@query', '']])
  if (Array.isArray(value)) return value.map(wireOf)
  if (value instanceof Map) return new Map([...value].map(([name, field]) => [name, wireOf(field)]))
  // What is left is the same on the wire: texts, numbers, booleans and null.
  return value as Json
}
