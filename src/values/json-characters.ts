// The structural characters of JSON, as UTF-16 units and as UTF-8 bytes. They are used by all code that reads JSON
// without JSON.parse: the parser of requests (json.ts), the query shapes in the query log, and the readers of files and
// segments, which find the ends of elements in undecoded bytes.

/** Character codes. */
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
