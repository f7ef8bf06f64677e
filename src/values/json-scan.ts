// Character codes of JSON, and functions that find the end of a JSON value without parsing it, for code that reads JSON
// without JSON.parse. The source is UTF-16 text or UTF-8 bytes: the structural characters of JSON have the same codes
// in both.

export const newline = 0x0a
export const space = 0x20
export const quote = 0x22
export const comma = 0x2c
export const colon = 0x3a
export const openBracket = 0x5b
export const backslash = 0x5c
export const closeBracket = 0x5d
export const openBrace = 0x7b
export const closeBrace = 0x7d

/** Complete or partial JSON. */
export type JsonSource = string | Uint8Array

/** The result of functions if a value does not end within the source. */
export const unfinished = -1

/** A UTF-16 unit or byte; NaN after the end. */
function unitAt(source: JsonSource, at: number): number {
  return typeof source === 'string' ? source.charCodeAt(at) : (source[at] ?? Number.NaN)
}

/** The first position at or after `at` without white space, or the length of the source. */
export function blanksEnd(source: JsonSource, at: number): number {
  let end = at
  while (unitAt(source, end) <= space) end++
  return end
}

/** The position of the closing quote of the string that begins at `at`, or {@link unfinished}. */
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
 * The position after the value at `at`. Returns {@link unfinished} when an array, object or string is still open at
 * `limit`. Numbers and words end at the next delimiter or at the end of the source.
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

/**
 * `open`: the number of arrays and objects that are open at `at`. Returns the position after the end of the outermost
 * one, or {@link unfinished}.
 */
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

/** The position after the number or word at `at`; `at` when there is none. */
export function wordEnd(source: JsonSource, at: number): number {
  let end = at
  for (;;) {
    const unit = unitAt(source, end)
    if (!(unit > space) || unit === comma || unit === closeBracket || unit === closeBrace) return end
    end++
  }
}
