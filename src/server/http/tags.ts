// The `x-fauna-tags` request header: `key=value,key=value`. The rules, their order and the texts of errors are facts of
// the protocol.

import { limits } from '../../base/limits.ts'

/** A key and its value. */
export type Tag = readonly [key: string, value: string]

/** The tags in the order of the header, or the reason why the header is invalid. */
export function parseTags(header: string): readonly Tag[] | string {
  if (header === '') return []
  if (header.length > limits.tagsHeaderCharsMax) return 'header is too long'
  const tags = splitTags(header)
  if (tags === undefined) return 'invalid tags'
  if (tags.length > limits.tagPairsMax) return 'too many tags'
  return faultOf(tags) ?? tags
}

/** The value of the response's header: the tags in reverse order. */
export function echoTags(tags: readonly Tag[]): string {
  let text = ''
  for (let at = tags.length - 1; at >= 0; at--) {
    const [key, value] = tags[at] as Tag
    text += text === '' ? `${key}=${value}` : `,${key}=${value}`
  }
  return text
}

function splitTags(header: string): Tag[] | undefined {
  const tags: Tag[] = []
  for (const pair of header.split(',')) {
    const equals = pair.indexOf('=')
    if (equals < 0) return undefined
    const key = pair.slice(0, equals)
    const value = pair.slice(equals + 1)
    if (!isWord(key) || !isWord(value)) return undefined
    tags.push([key, value])
  }
  return tags
}

/** The last error in the header: the protocol checks pairs from right to left. */
function faultOf(tags: readonly Tag[]): string | undefined {
  const seen = new Set<string>()
  for (let at = tags.length - 1; at >= 0; at--) {
    const [key, value] = tags[at] as Tag
    if (key.length > limits.tagKeyCharsMax) return 'invalid key'
    if (value.length > limits.tagValueCharsMax) return 'invalid value'
    if (seen.has(key)) return 'duplicate key'
    seen.add(key)
  }
  return undefined
}

/** True for one or more ASCII letters, digits and underscores. */
function isWord(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const digit = code >= 0x30 && code <= 0x39
    const letter = (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a)
    if (!digit && !letter && code !== 0x5f) return false
  }
  return text !== ''
}
