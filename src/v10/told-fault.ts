// What the query log tells of an error in version 10: code, text and place without anything that could be data. What is
// wrong with a text that cannot be run stands in the summary, and so does the place.

import type { ToldFault } from '../model/language.ts'
import { toldText } from '../model/told-words.ts'
import { isLanguageWord } from './shape.ts'

/** Longer bodies hold texts of the client's: nothing but the code is told. */
const readCharsMax = 65_536

/** Where the first thing is that a text draws: a source, a line and a column. */
const place =
  /^at (\*(?:query|udf|field|computed_field|check|role|[a-z_]+)(?::([^*\n]*))?\*|[\w-]+\.fsl):(\d+):(\d+)$/m

/** What went wrong, from the body of a response. Undefined for a body that has no error. */
export function toldFault(body: string, names: readonly string[]): ToldFault | undefined {
  const { code, message, summary } = errorOf(body)
  if (code === undefined && message === undefined) return undefined
  const isKnown = (word: string) => isLanguageWord(word) || names.includes(word)
  return {
    code: /^[a-z_ ]+$/.test(String(code ?? '')) ? String(code ?? '') : '',
    text: code === 'abort' ? '' : toldText(textOf(code, message, summary), isKnown),
    // What is wrong with schema files stands in the message as a whole.
    position: placeIn(summary ?? message, isKnown),
  }
}

interface WireError {
  readonly code?: unknown
  readonly message?: unknown
  readonly summary?: unknown
}

function errorOf(body: string): WireError {
  if (body.length > readCharsMax) return { code: /"code":"([a-z_]+)"/.exec(body.slice(0, 500))?.[1] }
  try {
    const { error, summary } = JSON.parse(body) as { readonly error?: WireError; readonly summary?: unknown }
    return error === null || typeof error !== 'object' ? {} : { ...error, summary }
  } catch {
    return {}
  }
}

/** A text that cannot be run says only how many faults it has; the first of them is the reason. */
function textOf(code: unknown, message: unknown, summary: unknown): string {
  const first = code === 'invalid_query' ? /^error: (.*)$/m.exec(String(summary ?? ''))?.[1] : undefined
  return first ?? String(message ?? '')
}

function placeIn(drawn: unknown, isKnown: (word: string) => boolean): string {
  const [, source = '', name, line, column] = place.exec(String(drawn ?? '')) ?? []
  if (line === undefined) return ''
  const shown = name === undefined || isKnown(name) ? source : source.replace(name, '?')
  return `${shown.endsWith('.fsl') ? 'a schema file' : shown}:${line}:${column}`
}
