// Parses a query, a lambda, an expression or a type, and reports all faults of the text.

import { type Message, msg, own } from '../../base/message.ts'
import { type Diagnostic, invalidQuery } from '../failure/query-failure.ts'
import type { LambdaNode, Node, Program, TypeNode } from './nodes.ts'
import { Parser } from './parser.ts'
import { ExpectedTokens, ParseAbort } from './reader.ts'
import type { Source } from './source.ts'
import { readType } from './types.ts'

/**
 * The text contains `<value>` for each template value, at the offsets `placeholders`, which ascend. Throws a
 * QueryFailure with all faults.
 */
export function parseQuery(source: Source, placeholders: readonly number[]): Program {
  const parser = new Parser(source, placeholders)
  const body = readOrThrow(parser, () => parser.query())
  const { mayCallFunctions, mayWrite } = parser
  return { source, body, mayWrite, mayCallFunctions }
}

/** Parses a lambda (a function body, predicate or computed field). Throws a QueryFailure for any other text. */
export function parseLambda(source: Source): LambdaNode {
  const parser = new Parser(source, [])
  return readOrThrow(parser, () => parser.lambda())
}

/** Throws a QueryFailure if the text is not a single expression. */
export function parseExpression(source: Source): Node {
  const parser = new Parser(source, [])
  return readOrThrow(parser, () => {
    parser.skipSpace()
    if (!parser.startsExpression()) throw parser.expected('expression')
    const node = parser.expression(false)
    parser.requiresEnd()
    return node
  })
}

/** Parses a type, which may contain default values. Throws a QueryFailure for any other text. */
export function parseSignature(source: Source): TypeNode {
  const parser = new Parser(source, [])
  return readOrThrow(parser, () => {
    parser.skipSpace()
    const type = readType(parser, { readDefault: () => parser.expression(false) })
    parser.requiresEnd()
    return type
  })
}

/** If there are faults, `result` is undefined or incomplete. */
interface ParseResult<T> {
  readonly result: T | undefined
  readonly faults: readonly Diagnostic[]
}

/** Collects faults. If parsing stops before a fault was recorded, records one fault: the expected tokens. */
export function readWhole<T>(parser: Parser, read: () => T): ParseResult<T> {
  let result: T | undefined
  try {
    result = read()
  } catch (error) {
    if (error instanceof ExpectedTokens && parser.faults.length === 0) {
      parser.addFault(expectedText(error.names), error.at, error.at + 1)
    } else if (!(error instanceof ExpectedTokens || error instanceof ParseAbort)) throw error
  }
  return { result, faults: parser.faults }
}

/** Throws a QueryFailure with all faults. */
function readOrThrow<T>(parser: Parser, read: () => T): T {
  const { faults, result } = readWhole(parser, read)
  if (result === undefined || faults.length > 0) throw invalidQuery(faults)
  return result
}

/** `Expected a, b, or c`, in alphabetical order. */
function expectedText(names: readonly string[]): Message {
  const [first = 'expression', ...others] = [...new Set(names)].sort()
  const last = others.pop()
  if (last === undefined) return msg`Expected ${own(first)}`
  if (others.length === 0) return msg`Expected ${own(first)} or ${own(last)}`
  return msg`Expected ${own([first, ...others].join(', '))}, or ${own(last)}`
}

/** Parses a query. Removes the block around a single expression. Throws a QueryFailure for invalid text. */
export function parseQueryNode(source: Source): Node {
  const { body } = parseQuery(source, [])
  const [only, ...others] = body.kind === 'block' ? body.statements : []
  return only !== undefined && others.length === 0 && only.kind !== 'let' ? only : body
}
