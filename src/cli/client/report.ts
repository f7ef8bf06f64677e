// What people see of results and errors.

import { styleText } from 'node:util'
import {
  excerpt,
  FqlSyntaxError,
  type ParsedExpression,
  printValue,
  type TextRange,
} from '../../v4/text/index.ts'
import type { Json } from '../../values/value.ts'
import type { Reply, WireError } from './connection.ts'

/** Where text goes to, and how wide that is. */
export interface Output {
  readonly write: (text: string) => unknown
  readonly isTTY?: boolean
  readonly columns?: number
}

/** A text that queries were read from. */
export interface QueryText {
  readonly text: string
  /** The file it is in; undefined where there is none. */
  readonly file: string | undefined
}

const columnsDefault = 100

/** Colours, where somebody sees them. `NO_COLOR` switches them off. */
export function styleFor({
  isTTY,
}: Output): (format: Parameters<typeof styleText>[0], text: string) => string {
  const isWanted = isTTY === true && !process.env.NO_COLOR && process.env.TERM !== 'dumb'
  return (format, text) => (isWanted ? styleText(format, text, { validateStream: false }) : text)
}

/** Writes the result of a query: as text, or the JSON as it came. */
export function writeResult(resource: Json, body: string, asJson: boolean, output: Output): void {
  // The envelope of a response is `{"resource":…}`.
  if (asJson) output.write(`${body.trim().slice('{"resource":'.length, -1)}\n`)
  // A terminal that does not know its width says 0.
  else output.write(`${printValue(resource, { columns: output.columns || columnsDefault })}\n`)
}

/** Writes the errors of a query, each with its place in the text. */
export function writeErrors(
  { errors, body }: Extract<Reply, { kind: 'errors' }>,
  query: ParsedExpression,
  from: QueryText,
  asJson: boolean,
  output: Output,
): void {
  if (asJson) {
    output.write(`${body.trim()}\n`)
    return
  }
  const style = styleFor(output)
  for (const error of errors) {
    output.write(`${style(['red', 'bold'], error.code)}: ${error.description}\n`)
    output.write(placeText(from, query.source.at(error.position), output))
    for (const failure of error.failures) output.write(`    ${failureText(failure)}\n`)
    output.write(causeText(error.cause, 1))
  }
}

/** A field of a document that is not valid, and why; without a field when it is the document as a whole. */
export function failureText({ field, text }: WireError['failures'][number]): string {
  return field.length === 0 ? text : `${field.join('.')}: ${text}`
}

/** Writes what is wrong with a text, under a title, and where. */
export function writeSyntaxError(
  error: FqlSyntaxError,
  from: QueryText,
  output: Output,
  title = 'syntax error',
): void {
  const style = styleFor(output)
  output.write(`${style(['red', 'bold'], title)}: ${error.message}\n`)
  output.write(placeText(from, error, output))
}

/** The line of a place, underlined, below where it is. */
function placeText({ text, file }: QueryText, place: TextRange, output: Output): string {
  const style = styleFor(output)
  const { line: lineNumber, column } = new FqlSyntaxError('', text, place)
  const [line, underline] = excerpt(text, place)
  const isOneLine = file === undefined && !text.trimEnd().includes('\n')
  const where = `${file === undefined ? 'line ' : `${file}:`}${lineNumber}:${column}`
  const head = isOneLine ? '' : `  ${style('dim', `at ${where}`)}\n`
  return `${head}    ${line}\n    ${style('red', underline)}\n`
}

/** What went wrong in the functions that a query called, innermost last. */
function causeText(causes: readonly WireError[], depth: number): string {
  return causes
    .map(({ code, description, position, cause }) => {
      const where = position.length > 0 ? ` (at ${position.join('/')} of the function)` : ''
      return `${'    '.repeat(depth)}${code}: ${description}${where}\n${causeText(cause, depth + 1)}`
    })
    .join('')
}
