// The pieces of JSON text that responses are put together from. A part that cannot be printed is undefined.

/** JsonPiece JSON, or undefined for what cannot be printed. */
export type JsonPiece = string | undefined

/** Up to this length a look at each character costs less than a call of JSON.stringify. */
const shortChars = 40

/** A text as a JSON string, quotes included. UTF-8 cannot carry a lone surrogate: each becomes `?`. */
export function quoteJson(text: string): string {
  if (text.length <= shortChars && isPlain(text)) return `"${text}"`
  return JSON.stringify(text.isWellFormed() ? text : withoutLoneSurrogates(text))
}

/** Whether all characters stand for themselves inside a JSON string. */
function isPlain(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit < 0x20 || unit === 0x22 || unit === 0x5c || unit >= 0xd800) return false
  }
  return true
}

function withoutLoneSurrogates(text: string): string {
  // In Unicode mode a surrogate that is half of a pair is never matched on its own.
  return text.replace(/\p{Surrogate}/gu, '?')
}

/** An object of the given members, of which undefined ones are left out. Keys must need no escaping. */
export function jsonObject(members: Readonly<Record<string, JsonPiece>>): string {
  let text = ''
  for (const key in members) {
    const value = members[key]
    if (value !== undefined) text += text === '' ? `"${key}":${value}` : `,"${key}":${value}`
  }
  return `{${text}}`
}

/** Like {@link jsonObject}, but an object that lacks a member cannot be printed at all. */
export function completeJsonObject(members: Readonly<Record<string, JsonPiece>>): JsonPiece {
  for (const key in members) if (members[key] === undefined) return undefined
  return jsonObject(members)
}

/** The same text, in one piece: the runtime puts pieces together only when a text is searched. */
export function flat(text: string): string {
  text.indexOf('\0')
  return text
}
