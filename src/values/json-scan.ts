// Where the parts of JSON end, for all that reads JSON and makes no values of it: the shapes of queries in the query log,
// texts laid out for people, and readers of files, which cut a long text into elements. They look at texts in UTF-16 units or at bytes
// of UTF-8: both have the characters that JSON is built of at the same codes. What has no end may have one when more has come.

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

/** JSON, whole or in part, as text or in bytes. */
export type JsonSource = string | Uint8Array

/** There is no end within the source. */
export const unfinished = -1

/** The unit or byte at a place; not a number behind the end. */
function unitAt(source: JsonSource, at: number): number {
  return typeof source === 'string' ? source.charCodeAt(at) : (source[at] ?? Number.NaN)
}

/** The first place from `at` on that is no white space; the length of the source when there is none. */
export function blanksEnd(source: JsonSource, at: number): number {
  let end = at
  while (unitAt(source, end) <= space) end++
  return end
}

/** The closing quote of the string that begins at `at`, or {@link unfinished}. */
export function stringEnd(source: JsonSource, at: number): number {
  let end = at
  for (;;) {
    end = typeof source === 'string' ? source.indexOf('"', end + 1) : source.indexOf(quote, end + 1)
    if (end < 0) return unfinished
    let before = end - 1
    while (unitAt(source, before) === backslash) before--
    if ((end - before) % 2 === 1) return end
  }
}

/**
 * Behind the value at `at`, or {@link unfinished} when an array, object or string is open at `limit`. Numbers and words end where
 * something else begins, or with the source.
 */
export function valueEnd(source: JsonSource, at: number, limit = source.length): number {
  const first = unitAt(source, at)
  if (first === quote) {
    const end = stringEnd(source, at)
    return end === unfinished || end >= limit ? unfinished : end + 1
  }
  if (first === openBrace || first === openBracket) return nestedEnd(source, at, limit, 0)
  return Math.max(at + 1, wordEnd(source, at))
}

/** Behind the bracket or brace that closes all of those that are `open` at `at`. */
export function nestedEnd(source: JsonSource, at: number, limit: number, open: number): number {
  let depth = open
  for (let index = at; index < limit; index++) {
    const unit = unitAt(source, index)
    if (unit === quote) {
      index = stringEnd(source, index)
      if (index < 0) return unfinished
    } else if (unit === openBrace || unit === openBracket) depth++
    else if (unit === closeBrace || unit === closeBracket) {
      if (--depth === 0) return index + 1
    }
  }
  return unfinished
}

/** Behind the number or word at `at`; `at` itself where there is none. */
export function wordEnd(source: JsonSource, at: number): number {
  let end = at
  for (;;) {
    const unit = unitAt(source, end)
    if (!(unit > space) || unit === comma || unit === closeBracket || unit === closeBrace) return end
    end++
  }
}
