// The language as text, as the pages use it: values and queries in driver notation or in wire JSON, and back. The one
// place that knows which module parses and prints.

import { JsonSyntaxError } from '../../src/values/json.ts'
import { type Json, parseJson, type Query, writeJson } from './wire/json.ts'
import { literal } from './wire/refs.ts'

/** The two ways in which values and queries are written. */
export type Notation = 'text' | 'json'

/** A text that is no value or query: what is wrong and where (UTF-16 offsets). */
export class NotationError extends Error {
  override name = 'NotationError'
  readonly from: number
  readonly to: number

  constructor(message: string, from: number, to = from + 1) {
    super(message)
    this.from = from
    this.to = to
  }
}

/** A value, laid out for people. */
export function printValue(value: Json, notation: Notation): string {
  return notation === 'json' ? writeJson(value, '  ') : writeJson(value, '  ')
}

/** A query that was written as text. */
export interface WrittenQuery {
  readonly query: Query
  /** Where in the text a position of an error lies. */
  readonly locate: (position: readonly string[]) => { readonly from: number; readonly to: number }
}

/** The query that a text stands for. Throws {@link NotationError}. */
export function parseQuery(text: string, _notation: Notation): WrittenQuery {
  return { query: parseExactly(text), locate: () => ({ from: 0, to: text.length }) }
}

/** An expression that evaluates to what a text stands for. Throws {@link NotationError}. */
export function parseLiteral(text: string, _notation: Notation): Query {
  return literal(parseExactly(text))
}

/** The value that a text stands for. Throws {@link NotationError}, also for what has to be evaluated first. */
export function parseValue(text: string, _notation: Notation): Json {
  return parseExactly(text)
}

function parseExactly(text: string): Json {
  try {
    return parseJson(text)
  } catch (cause) {
    if (!(cause instanceof JsonSyntaxError)) throw cause
    const reason = cause.reason === 'nesting' ? 'This is nested too deeply.' : 'This is no valid JSON here.'
    throw new NotationError(reason, Math.min(cause.offset, text.length))
  }
}

/** A document that a text refers to. */
export interface WrittenReference {
  readonly collection: string
  readonly id: string
}

const referencePattern =
  /"@ref":\s*\{\s*"id":\s*"(\d+)",\s*"collection":\s*\{\s*"@ref":\s*\{\s*"id":\s*"([^"]+)"/g

/** The documents that the text of a value refers to, each once. */
export function referencesIn(text: string): readonly WrittenReference[] {
  const found = new Map<string, WrittenReference>()
  for (const [, id = '', collection = ''] of text.matchAll(referencePattern)) {
    found.set(`${collection}/${id}`, { collection, id })
  }
  return [...found.values()]
}
