// Computes the shape of a request for the query log: the words of the language and the punctuation. The log must not
// contain client data, so values and all other names become `?`. Only the names of schema objects become marks.

import { tryJson } from '../values/json.ts'
import { quoteJson } from '../values/json-text.ts'
import { markedName, markOf } from '../values/names.ts'
import { tokensOf } from './text/tokens.ts'
import { importModes } from './wire/import-options.ts'

/** Maximum number of UTF-16 units of a request body that is analyzed. */
const bodyUnitsMax = 65_536
/** Maximum number of UTF-16 units of a shape, before its end is marked with `…` and it is escaped. */
const shapeUnitsMax = 2048

/** Keywords, directives with their arguments, names that the service itself gives to types and fields, import modes. */
const words: ReadonlySet<string> = new Set([
  ...['query', 'mutation', 'subscription', 'fragment', 'on', 'include', 'skip', 'if'],
  ...['type', 'input', 'enum', 'extend', 'schema', 'directive', 'scalar', 'interface', 'union', 'implements'],
  ...['Query', 'Mutation', 'Boolean', 'Date', 'Float', 'ID', 'Int', 'Long', 'String', 'Time'],
  ...['__schema', '__type', '__typename', '_cursor', '_id', '_size', '_ts', 'after', 'before', 'data', 'id'],
  ...['connect', 'create', 'disconnect', 'collection', 'embedded', 'index', 'relation', 'resolver', 'unique'],
  ...importModes,
])

export function isLanguageWord(word: string): boolean {
  return words.has(word)
}

/**
 * Returns the shape of a request body, escaped for a JSON string; empty for a body without a query. `names`: names of
 * schema objects, which become marks (values/names.ts).
 */
export function shapeOf(body: string, names: readonly string[] = []): string {
  if (body.length > bodyUnitsMax) return '…'
  const json = tryJson(body)
  const query = json instanceof Map ? json.get('query') : undefined
  if (typeof query !== 'string') return ''
  const shape = shapeOfText(query, names)
  const shown = shape.length > shapeUnitsMax ? `${shape.slice(0, shapeUnitsMax)}…` : shape
  return quoteJson(shown).slice(1, -1)
}

function shapeOfText(text: string, names: readonly string[]): string {
  let shape = ''
  for (const { end, kind, start } of tokensOf(text)) {
    if (shape.length > shapeUnitsMax) break
    const token = text.slice(start, end)
    if (kind === 'punctuation') shape += token
    else if (kind === 'name')
      shape = apart(shape, words.has(token) ? token : (markOf(names.indexOf(token)) ?? '?'))
    else if (kind !== 'other') shape = apart(shape, '?')
  }
  return shape
}

/** Appends a word, after a space if the shape ends with a word. */
function apart(shape: string, word: string): string {
  const last = shape.charCodeAt(shape.length - 1)
  const endsWithWord = /[\w?]$/.test(shape) || markedName(last) !== undefined
  return endsWithWord ? `${shape} ${word}` : shape + word
}
