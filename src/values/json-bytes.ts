// Where the parts of JSON end, in bytes of UTF-8, for readers that cut a long text into elements and make no values of it.
// What has no end within the bytes may have one when more have come.

import {
  backslash,
  closeBrace,
  closeBracket,
  comma,
  openBrace,
  openBracket,
  quote,
  space,
} from './json-characters.ts'

/** There is no end within the bytes. */
export const unfinished = -1

/** The first byte from `at` on that is no white space; the length of the bytes when there is none. */
export function blanksEnd(bytes: Uint8Array, at: number): number {
  let end = at
  while ((bytes[end] as number) <= space) end++
  return end
}

/** The closing quote of the string that begins at `at`, or {@link unfinished}. */
export function stringEnd(bytes: Uint8Array, at: number): number {
  let end = at
  for (;;) {
    end = bytes.indexOf(quote, end + 1)
    if (end < 0) return unfinished
    let before = end - 1
    while (bytes[before] === backslash) before--
    if ((end - before) % 2 === 1) return end
  }
}

/**
 * Behind the last byte of the value at `at`, or {@link unfinished} when an array, object or string is open at `limit`. Numbers and
 * words end where something else begins, or with the bytes.
 */
export function valueEnd(bytes: Uint8Array, at: number, limit = bytes.length): number {
  const first = bytes[at]
  if (first === quote) return stringEnd(bytes, at) + 1 || unfinished
  return first === openBrace || first === openBracket ? nestedEnd(bytes, at, limit, 0) : wordEnd(bytes, at)
}

/** Behind the bracket or brace that closes all of those that are `open` at `at`. */
export function nestedEnd(bytes: Uint8Array, at: number, limit: number, open: number): number {
  let depth = open
  for (let index = at; index < limit; index++) {
    const byte = bytes[index] as number
    if (byte === quote) {
      index = stringEnd(bytes, index)
      if (index < 0) return unfinished
    } else if (byte === openBrace || byte === openBracket) depth++
    else if (byte === closeBrace || byte === closeBracket) {
      if (--depth === 0) return index + 1
    }
  }
  return unfinished
}

function wordEnd(bytes: Uint8Array, at: number): number {
  for (let index = at; index < bytes.length; index++) {
    const byte = bytes[index] as number
    if (byte <= space || byte === comma || byte === closeBracket) return index === at ? at + 1 : index
  }
  return bytes.length
}
