// Request headers for logs and traces: the W3C trace context and the tags. A valid `traceparent` continues its trace
// with a span of this service; otherwise a new trace begins. `x-fauna-tags` (`key=value,key=value`) contains tags for
// the query log; the protocol defines their rules, the order of checks and the texts of errors.

import type { Random } from '../../base/random.ts'

const requestContextLimits = {
  /** Maximum number of characters in the `x-fauna-tags` header. */
  tagsHeaderCharsMax: 3000,
  /** Maximum number of tags in the `x-fauna-tags` header. */
  tagPairsMax: 25,
  /** Maximum number of characters in the key of a tag. */
  tagKeyCharsMax: 40,
  /** Maximum number of characters in the value of a tag. */
  tagValueCharsMax: 80,
} as const

/** Ids in lower-case hexadecimal. */
export interface Trace {
  /** 32 digits, not all zero. */
  readonly traceId: string
  /** 16 digits: the span that this service adds. */
  readonly spanId: string
}

/** The version and the flags are not checked. */
const traceparentPattern = /^..-(?!0+-)([0-9a-f]{32})-(?!0+-)[0-9a-f]{16}-..$/i

/** Begins a new trace if the header is missing or invalid. */
export function traceOf(header: string | undefined, random: Random): Trace {
  const traceId = header === undefined ? undefined : traceparentPattern.exec(header)?.[1]
  if (traceId !== undefined) return { traceId: traceId.toLowerCase(), spanId: random.hex(8) }
  const both = random.hex(24)
  return { traceId: both.slice(0, 32), spanId: both.slice(32) }
}

/** Formats the response header `traceparent`. */
export function traceparent(trace: Trace): string {
  return `00-${trace.traceId}-${trace.spanId}-00`
}

export type Tag = readonly [key: string, value: string]

/** Returns the tags in the order of the header; a string is the reason why the header is invalid. */
export function parseTags(header: string): readonly Tag[] | string {
  if (header === '') return []
  if (header.length > requestContextLimits.tagsHeaderCharsMax) return 'header is too long'
  const tags = splitTags(header)
  if (tags === undefined) return 'invalid tags'
  if (tags.length > requestContextLimits.tagPairsMax) return 'too many tags'
  return faultOf(tags) ?? tags
}

/** The response has the tags in reverse order. */
export function echoTags(tags: readonly Tag[]): string {
  let text = ''
  for (let at = tags.length - 1; at >= 0; at--) {
    const [key, value] = tags[at] as Tag
    text += text === '' ? `${key}=${value}` : `,${key}=${value}`
  }
  return text
}

/** Matches a text of at least one ASCII letter, digit or underscore. */
const wordPattern = /^\w+$/

function splitTags(header: string): Tag[] | undefined {
  const tags: Tag[] = []
  for (const pair of header.split(',')) {
    const equals = pair.indexOf('=')
    if (equals < 0) return undefined
    const key = pair.slice(0, equals)
    const value = pair.slice(equals + 1)
    if (!wordPattern.test(key) || !wordPattern.test(value)) return undefined
    tags.push([key, value])
  }
  return tags
}

/** Returns the error of the last invalid tag, because the protocol checks tags from right to left. */
function faultOf(tags: readonly Tag[]): string | undefined {
  const seen = new Set<string>()
  for (let at = tags.length - 1; at >= 0; at--) {
    const [key, value] = tags[at] as Tag
    if (key.length > requestContextLimits.tagKeyCharsMax) return 'invalid key'
    if (value.length > requestContextLimits.tagValueCharsMax) return 'invalid value'
    if (seen.has(key)) return 'duplicate key'
    seen.add(key)
  }
  return undefined
}
