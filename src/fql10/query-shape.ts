// Computes the shape of a query for the query log: the words of the language and the punctuation. The log must not
// contain client data. Therefore, texts, numbers and names of clients become `?` or marks, and comments are left out.

import { JsonSyntaxError, parseJson } from '../values/json.ts'
import { quoteJson } from '../values/json-text.ts'
import { markedName, markOf } from '../values/names.ts'
import { globals, memberNames } from './library/tables.ts'
import { char, continuesName, isDigit, isKeyword, startsName } from './syntax/reader.ts'
import { composeQuery, TemplateError } from './syntax/template.ts'

/** Maximum number of UTF-16 units of a request body that is analyzed. */
const bodyUnitsMax = 65_536
/** Maximum number of UTF-16 units of a shape. */
const shapeUnitsMax = 2048

/** True if a word is a keyword, a global name of the library, or the name of a member in the library. */
export function isLanguageWord(word: string): boolean {
  return isKeyword(word) || globals.has(word) || memberNames.has(word)
}

const eventMembers = ['token', 'start_ts', 'cursor', 'page_size']

/**
 * Returns the shape of a request body, escaped for a JSON string. For a request for events, the shape is an object with
 * the members of the request, such as `{"token":"?"}`. For any other body without a query, the shape is empty. `names`:
 * names of schema objects, which become marks (values/names.ts) instead of `?`.
 */
export function shapeOf(body: string, names: readonly string[] = []): string {
  if (body.length > bodyUnitsMax) return '…'
  try {
    const json = parseJson(body)
    if (!(json instanceof Map)) return ''
    const query = json.get('query')
    if (query === undefined || query === null) return json.has('token') ? shapeOfEvents(json) : ''
    const shape = shapeOfText(composeQuery(query).text, names)
    const shown = shape.length > shapeUnitsMax ? `${shape.slice(0, shapeUnitsMax)}…` : shape
    return quoteJson(shown).slice(1, -1)
  } catch (error) {
    if (error instanceof JsonSyntaxError || error instanceof TemplateError) return ''
    throw error
  }
}

function shapeOfEvents(json: ReadonlyMap<string, unknown>): string {
  const present = eventMembers.filter(name => json.has(name))
  return quoteJson(`{${present.map(name => `"${name}":"?"`).join(',')}}`).slice(1, -1)
}

function shapeOfText(text: string, names: readonly string[]): string {
  let shape = ''
  let at = 0
  while (at < text.length && shape.length <= shapeUnitsMax) {
    const unit = text.charCodeAt(at)
    const start = at
    if (startsName(unit)) {
      while (continuesName(text.charCodeAt(at))) at++
      const word = text.slice(start, at)
      shape = apart(shape, isLanguageWord(word) ? word : (markOf(names.indexOf(word)) ?? '?'))
    } else if (isDigit(unit)) {
      while (continuesName(text.charCodeAt(at))) at++
      shape = apart(shape, '?')
    } else if (unit === char.quote || unit === char.apostrophe) {
      at = endOfString(text, at)
      shape = apart(shape, '?')
    } else if (text.startsWith('//', at)) at = endOf('\n', text, at)
    else if (text.startsWith('/*', at)) at = endOf('*/', text, at + 2)
    // A heredoc, whose end is not searched.
    else if (text.startsWith('<<', at)) return `${shape}…`
    else {
      // Whitespace and characters outside the language are left out.
      if (unit > 0x20 && unit < 0x7f) shape += text[at]
      at++
    }
  }
  return shape
}

/** Appends a word, after a space if the shape ends with a word. */
function apart(shape: string, word: string): string {
  const last = shape.charCodeAt(shape.length - 1)
  return continuesName(last) || last === char.question || markedName(last) !== undefined
    ? `${shape} ${word}`
    : shape + word
}

/** The offset after the next `token`, or the end of the text. */
function endOf(token: string, text: string, from: number): number {
  const found = text.indexOf(token, from)
  return found < 0 ? text.length : found + token.length
}

function endOfString(text: string, start: number): number {
  const quote = text[start]
  let at = start + 1
  while (at < text.length && text[at] !== quote) at += text[at] === '\\' ? 2 : 1
  return at + 1
}
