// Parses and prints values and queries, as text in the notation of drivers, or as the JSON of a request. Only this
// module depends on the parsers and printers.

import {
  FqlSyntaxError,
  isVersion4,
  looksLikeVersion10,
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

export type Version = '4' | '10'

/** Notation of values and queries of version 4. */
export type Notation = 'text' | 'json'

/** The error of an invalid text, with its position (UTF-16 offsets). */
export class NotationError extends Error {
  override name = 'NotationError'
  readonly from: number
  readonly to: number
  /** The text ends too early, so more input may fix the error. */
  readonly isIncomplete: boolean

  constructor(message: string, from: number, to = from + 1, isIncomplete = false) {
    super(message)
    this.from = from
    this.to = to
    this.isIncomplete = isIncomplete
  }
}

export function printValue(value: Json, notation: Notation): string {
  return notation === 'json' ? writeJson(value, '  ') : printValueText(value, { columns: 80 })
}

/** Prints short lines, so that a comparison shows which field has changed. */
export function printForComparison(value: Json): string {
  return printValueText(value, { columns: 24 })
}

/** The other version, if a text is invalid in `version` but looks like a query of the other version. */
export function otherVersionOf(text: string, version: Version): Version | undefined {
  if (version === '4') return looksLikeVersion10(text) ? '10' : undefined
  return isVersion4(text) ? '4' : undefined
}

export interface ParsedQuery {
  readonly query: Json
  /** Converts the position of an error to offsets in the text. */
  readonly locate: (position: readonly string[]) => { readonly from: number; readonly to: number }
}

/** Throws {@link NotationError}. */
export function parseQuery(text: string, notation: Notation): ParsedQuery {
  if (notation === 'json') return { query: parseExactly(text), locate: () => ({ from: 0, to: text.length }) }
  return parsedQuery(parsing(() => parseExpression(text)))
}

/** Returns the queries in the order of the text. Throws {@link NotationError}. */
export function parseQueries(text: string, notation: Notation): readonly ParsedQuery[] {
  if (notation === 'json') return [parseQuery(text, notation)]
  const queries = parsing(() => parseExpressions(text)).map(parsedQuery)
  if (queries.length === 0) throw new NotationError('Write a query first.', 0)
  return queries
}

function parsedQuery({ json, source }: ParsedExpression): ParsedQuery {
  return {
    query: json,
    locate: position => {
      const { start, end } = source.at(position.map(step => (/^\d+$/.test(step) ? Number(step) : step)))
      return { from: start, to: end }
    },
  }
}

/** Returns the expression in a text, or an expression for the value in JSON. Throws {@link NotationError}. */
export function parseLiteral(text: string, notation: Notation): Query {
  return notation === 'json' ? literal(parseExactly(text)) : parsing(() => parseExpression(text)).json
}

/** Parses a value. Throws {@link NotationError}, also for expressions that need evaluation. */
export function parseValue(text: string, notation: Notation): Json {
  if (notation === 'json') return parseExactly(text)
  const { json, source } = parsing(() => parseExpression(text))
  try {
    return valueOfQuery(json)
  } catch (cause) {
    if (!(cause instanceof NoValueError)) throw cause
    const { start, end } = source.at(cause.position)
    throw new NotationError(
      'This is an expression that must be evaluated first. JSON can contain only values.',
      start,
      end,
    )
  }
}

/**
 * Converts a value from one notation to the other notation. Throws {@link NotationError}, also for a text with
 * comments.
 */
export function convertValue(text: string, from: Notation, to: Notation): string {
  if (from === 'text') refuseComments(text)
  return printValue(parseValue(text, from), to)
}

/**
 * Converts a query to the other notation. Throws {@link NotationError}, also for a text with comments or several
 * queries.
 */
export function convertQuery(text: string, to: Notation): string {
  if (text.trim() === '') return text
  if (to === 'text') return printQuery(parseExactly(text), { columns: 80 })
  refuseComments(text)
  const [first, second] = parseQueries(text, 'text') as [ParsedQuery, ...ParsedQuery[]]
  if (second) {
    const { from, to: end } = second.locate([])
    throw new NotationError(
      'JSON can contain only one query. Remove the other queries, or stay with Text.',
      from,
      end,
    )
  }
  return writeJson(first.query, '  ')
}

const commentOrText = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`|(\/\/.*|\/\*[\s\S]*?\*\/)/g

/** Throws for a text with comments, because JSON cannot contain comments. */
function refuseComments(text: string): void {
  for (const { 1: comment, index } of text.matchAll(commentOrText)) {
    if (comment === undefined) continue
    const message = 'JSON cannot contain comments. Remove this comment first, or stay with Text.'
    throw new NotationError(message, index, index + comment.length)
  }
}

function parsing<T>(parse: () => T): T {
  try {
    return parse()
  } catch (cause) {
    if (!(cause instanceof FqlSyntaxError)) throw cause
    const lineAndColumn = `Line ${cause.line}, column ${cause.column}`
    throw new NotationError(`${lineAndColumn}: ${cause.message}.`, cause.start, cause.end, cause.incomplete)
  }
}

function parseExactly(text: string): Json {
  try {
    return parseJson(text)
  } catch (cause) {
    if (!(cause instanceof JsonSyntaxError)) throw cause
    const reason = cause.reason === 'nesting' ? 'This is nested too deeply.' : 'The JSON is invalid here.'
    throw new NotationError(reason, Math.min(cause.offset, text.length))
  }
}

/** A reference to a document in a text. */
interface DocumentReference {
  readonly collection: string
  readonly id: string
}

const referencePattern = /\bRef\(Collection\("((?:[^"\\]|\\.)+)"\), "(\d+)"\)/g

/** The documents that a value in driver notation refers to, without duplicates. */
export function referencesIn(text: string): readonly DocumentReference[] {
  const found = new Map<string, DocumentReference>()
  for (const [, collection = '', id = ''] of text.matchAll(referencePattern)) {
    found.set(`${collection}/${id}`, { collection, id })
  }
  return [...found.values()]
}
