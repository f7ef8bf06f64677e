// Builds the JSON text of responses from pieces.

/** The text of a value, or undefined for a value that cannot be printed. */
export type JsonPiece = string | undefined

/** For texts up to this length, a check of each character is cheaper than a call of JSON.stringify. */
const shortChars = 40

/** Includes the quotes. Each lone surrogate becomes `?`, because UTF-8 cannot encode lone surrogates. */
export function quoteJson(text: string): string {
  if (text.length <= shortChars && isPlain(text)) return `"${text}"`
  return JSON.stringify(text.isWellFormed() ? text : withoutLoneSurrogates(text))
}

/** Returns whether no character needs escaping in a JSON string. */
function isPlain(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit < 0x20 || unit === 0x22 || unit === 0x5c || unit >= 0xd800) return false
  }
  return true
}

function withoutLoneSurrogates(text: string): string {
  // In Unicode mode the surrogates of a pair never match individually.
  return text.replace(/\p{Surrogate}/gu, '?')
}

/** Undefined members are omitted. The keys must not need escaping. */
export function jsonObject(members: Readonly<Record<string, JsonPiece>>): string {
  let text = ''
  for (const key in members) {
    const value = members[key]
    if (value !== undefined) text += text === '' ? `"${key}":${value}` : `,"${key}":${value}`
  }
  return `{${text}}`
}

/** Like {@link jsonObject}, but returns undefined if any member is undefined. */
export function completeJsonObject(members: Readonly<Record<string, JsonPiece>>): JsonPiece {
  for (const key in members) if (members[key] === undefined) return undefined
  return jsonObject(members)
}

/** V8 stores a concatenated text as a tree of its pieces. The call of `indexOf` makes V8 join them. */
export function flat(text: string): string {
  text.indexOf('\0')
  return text
}
