// Formats results and errors for people.

import {
  excerpt,
  FqlSyntaxError,
  type ParsedExpression,
  printValue,
  type TextRange,
} from '../../fql4/text/index.ts'
import type { Json } from '../../values/value.ts'
import { escapeHidden, escapeHiddenAligned, type Format, type Output, styleFor } from '../terminal.ts'
import type { Reply, WireError } from './connection.ts'

/** A text with any number of queries, and the file that contains it. */
export interface QuerySource {
  readonly text: string
  /** Undefined if the text is not from a file. */
  readonly file: string | undefined
}

const columnsDefault = 100

/** `asJson`: writes the original JSON instead of text. */
export function writeResult(resource: Json, body: string, asJson: boolean, output: Output): void {
  // The envelope of a response is `{"resource":…}`.
  if (asJson) output.write(`${jsonText(body.trim().slice('{"resource":'.length, -1), output)}\n`)
  // A terminal that does not know its width reports 0.
  else
    output.write(
      `${valueText(printValue(resource, { columns: output.columns || columnsDefault }), output)}\n`,
    )
}

/** Replaces hidden characters by JSON escapes on a terminal. */
export function jsonText(json: string, { isTTY }: Output): string {
  return isTTY === true ? escapeHidden(json) : json
}

/** Strings, names of called functions, and other literals, each with a colour. */
const valueParts = /("(?:[^"\\]|\\.)*")|([A-Za-z_$][\w$]*(?=\())|\b(true|false|null|-?\d[\w.+-]*)\b/g

/** Colours a value of either language. */
export function valueText(text: string, output: Output): string {
  const style = styleFor(output)
  return escapeHidden(text).replace(valueParts, (part: string, string?: string, call?: string) => {
    const format: Format = string !== undefined ? 'green' : call !== undefined ? 'cyan' : 'yellow'
    return style(format, part)
  })
}

/** Shows the errors of a query, each with its position in the text. */
export function writeErrors(
  { errors, body }: Extract<Reply, { kind: 'errors' }>,
  query: ParsedExpression,
  from: QuerySource,
  asJson: boolean,
  output: Output,
): void {
  if (asJson) {
    output.write(`${jsonText(body.trim(), output)}\n`)
    return
  }
  for (const error of errors) {
    writeError(error.code, error.description, output)
    output.write(excerptText(from, query.source.at(error.position), output))
    for (const failure of error.failures) output.write(`    ${escapeHidden(failureText(failure))}\n`)
    output.write(escapeHidden(causeText(error.cause, 1)))
  }
}

export function writeError(code: string, message: string, output: Output): void {
  output.write(`${styleFor(output)(['red', 'bold'], escapeHidden(code))}: ${escapeHidden(message)}\n`)
}

/** An empty path of the field means that the error concerns the whole document. */
export function failureText({ field, text }: WireError['failures'][number]): string {
  return field.length === 0 ? text : `${field.join('.')}: ${text}`
}

/** Shows a syntax error and its position in the text. */
export function writeSyntaxError(
  error: FqlSyntaxError,
  from: QuerySource,
  output: Output,
  title = 'syntax error',
): void {
  writeError(title, error.message, output)
  output.write(excerptText(from, error, output))
}

/** Suggests `version` for a text that is invalid but looks like a query of this version. */
export function writeVersionHint(version: '4' | '10', output: Output): void {
  const hint = `The query looks like version ${version} of the language: use --fql ${version}, or .version ${version} in the shell.`
  output.write(`${styleFor(output)('dim', hint)}\n`)
}

/** The position as text, and below it the underlined line. */
function excerptText({ text, file }: QuerySource, range: TextRange, output: Output): string {
  const style = styleFor(output)
  const { line: lineNumber, column } = new FqlSyntaxError('', text, range)
  const [line, underline] = excerpt(text, range)
  const isOneLine = file === undefined && !text.trimEnd().includes('\n')
  const where = `${file === undefined ? 'line ' : `${escapeHidden(file)}:`}${lineNumber}:${column}`
  const head = isOneLine ? '' : `  ${style('dim', `at ${where}`)}\n`
  return `${head}    ${escapeHiddenAligned(line)}\n    ${style('red', underline)}\n`
}

/** Formats errors of called functions, the innermost last. */
function causeText(causes: readonly WireError[], depth: number): string {
  return causes
    .map(({ code, description, position, cause }) => {
      const where = position.length > 0 ? ` (at ${position.join('/')} of the function)` : ''
      return `${'    '.repeat(depth)}${code}: ${description}${where}\n${causeText(cause, depth + 1)}`
    })
    .join('')
}
