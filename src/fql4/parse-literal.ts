// Parses the escape tags with plain text: times, dates, bytes, UUIDs.

import { msg } from '../base/message.ts'
import { decodeBase64 } from '../values/base64.ts'
import { parseDate } from '../values/date.ts'
import { parseTime } from '../values/time.ts'
import { parseUuid } from '../values/uuid.ts'
import type { Json, Value } from '../values/value.ts'
import { fault, type Place } from './expression.ts'

const readers: Readonly<Record<string, readonly [name: string, read: (text: string) => Value | undefined]>> =
  {
    '@ts': ['time', parseTime],
    '@date': ['date', parseDate],
    '@bytes': ['bytes', decodeBase64],
    '@uuid': ['UUID', text => parseUuid(text)],
  }

/** The value of a tag; undefined for other tags. Throws `invalid expression` for invalid content. */
export function parseLiteralTag(tag: string, content: Json, place: Place): Value | undefined {
  const reader = Object.hasOwn(readers, tag) ? readers[tag] : undefined
  if (!reader) return undefined
  const [name, read] = reader
  const value = typeof content === 'string' ? read(content) : undefined
  if (value !== undefined) return value
  throw fault(msg`Invalid ${name}.`, place)
}
