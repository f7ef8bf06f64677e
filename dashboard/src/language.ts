// The language as text, as the pages use it: values and queries in driver notation or in wire JSON, and back. The one
// place that knows which module parses and prints.

import {
  FqlSyntaxError,
  NoValueError,
  type ParsedExpression,
  parseExpression,
  parseExpressions,
  printQuery,
  printValue as printValueText,
  valueOfQuery,
} from '../../src/fql4/text/index.ts'
import { JsonSyntaxError } from '../../src/values/json.ts'
import { type Json, parseJson, type Query, writeJson } from './wire/json.ts'
import { literal } from './wire/refs.ts'

/** The versions of the language. */
export type Version = '4' | '10'

/** The two ways in which values and queries of version 4 are written. */
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
  return notation === 'json' ? writeJson(value, '  ') : printValueText(value, { columns: 80 })
}

/** A value with short lines, so that a comparison shows which field has changed. */
export function printForComparison(value: Json): string {
  return printValueText(value, { columns: 24 })
}

/** A query that was written as text. */
export interface WrittenQuery {
  readonly query: Json
  /** Where in the text a position of an error lies. */
  readonly locate: (position: readonly string[]) => { readonly from: number; readonly to: number }
}

/** The query that a text stands for. Throws {@link NotationError}. */
export function parseQuery(text: string, notation: Notation): WrittenQuery {
  if (notation === 'json') return { query: parseExactly(text), locate: () => ({ from: 0, to: text.length }) }
  return writtenQuery(parsing(() => parseExpression(text)))
}

/** The queries of a text, one after the other. Throws {@link NotationError}. */
export function parseQueries(text: string, notation: Notation): readonly WrittenQuery[] {
  if (notation === 'json') return [parseQuery(text, notation)]
  const queries = parsing(() => parseExpressions(text)).map(writtenQuery)
  if (queries.length === 0) throw new NotationError('Write a query first.', 0)
  return queries
}

function writtenQuery({ json, source }: ParsedExpression): WrittenQuery {
  return {
    query: json,
    locate: position => {
      const { start, end } = source.at(position.map(step => (/^\d+$/.test(step) ? Number(step) : step)))
      return { from: start, to: end }
    },
  }
}

/** An expression that evaluates to what a text stands for. Throws {@link NotationError}. */
export function parseLiteral(text: string, notation: Notation): Query {
  return notation === 'json' ? literal(parseExactly(text)) : parsing(() => parseExpression(text)).json
}

/** The value that a text stands for. Throws {@link NotationError}, also for what has to be evaluated first. */
export function parseValue(text: string, notation: Notation): Json {
  if (notation === 'json') return parseExactly(text)
  const { json, source } = parsing(() => parseExpression(text))
  try {
    return valueOfQuery(json)
  } catch (cause) {
    if (!(cause instanceof NoValueError)) throw cause
    const { start, end } = source.at(cause.position)
    throw new NotationError(
      'This has to be evaluated first: it is no value that can be written as JSON.',
      start,
      end,
    )
  }
}

/** A value in the other notation. Throws {@link NotationError}, also where something of it would be lost. */
export function convertValue(text: string, from: Notation, to: Notation): string {
  if (from === 'text') refuseComments(text)
  return printValue(parseValue(text, from), to)
}

/** A query in the other notation. Throws {@link NotationError}, also where something of it would be lost. */
export function convertQuery(text: string, to: Notation): string {
  if (text.trim() === '') return text
  if (to === 'text') return printQuery(parseExactly(text), { columns: 80 })
  refuseComments(text)
  const [first, second] = parseQueries(text, 'text') as [WrittenQuery, ...WrittenQuery[]]
  if (second) {
    const { from, to: end } = second.locate([])
    throw new NotationError('JSON holds a single query, and here are several.', from, end)
  }
  return writeJson(first.query, '  ')
}

const commentOrText = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`|(\/\/.*|\/\*[\s\S]*?\*\/)/g

/** JSON has no comments: a conversion would lose them. */
function refuseComments(text: string): void {
  for (const { 1: comment, index } of text.matchAll(commentOrText)) {
    if (comment === undefined) continue
    const message = 'JSON has no comments, and this one would be lost: remove it first, or stay with text.'
    throw new NotationError(message, index, index + comment.length)
  }
}

function parsing<T>(parse: () => T): T {
  try {
    return parse()
  } catch (cause) {
    if (!(cause instanceof FqlSyntaxError)) throw cause
    const place = `Line ${cause.line}, column ${cause.column}`
    throw new NotationError(`${place}: ${cause.message}.`, cause.start, cause.end)
  }
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
interface WrittenReference {
  readonly collection: string
  readonly id: string
}

const referencePattern = /\bRef\(Collection\("((?:[^"\\]|\\.)+)"\), "(\d+)"\)/g

/** The documents that a value in driver notation refers to, each once. */
export function referencesIn(text: string): readonly WrittenReference[] {
  const found = new Map<string, WrittenReference>()
  for (const [, collection = '', id = ''] of text.matchAll(referencePattern)) {
    found.set(`${collection}/${id}`, { collection, id })
  }
  return [...found.values()]
}
