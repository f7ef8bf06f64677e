// The characters that JSON is built of, as UTF-16 units and as bytes of UTF-8, for all that read JSON by themselves: the
// parser of requests (json.ts), which makes values; the shapes of queries in the query log, which are made of every request's
// text in one pass; and readers of files and segments, which look for the ends of elements in bytes without decoding them.

/** Their codes. */
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
