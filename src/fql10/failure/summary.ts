// Renders diagnostics: the message, the position, and the source lines with the affected part underlined.

import { limits } from '../../base/limits.ts'
import { Source, type Span } from '../syntax/source.ts'
import type { Diagnostic, Remark } from './query-failure.ts'

const summaryLimits = {
  /** Maximum number of UTF-16 units of rendered diagnostics in an error message of version 10; own limit. */
  v10DrawnUnitsMax: 16_384,
} as const

export function summaryOf(diagnostics: readonly Diagnostic[]): string {
  return renderDiagnostics(diagnostics, '\n\n', limits.v10SummaryUnitsMax)
}

/** Renders diagnostics for use in an error message, such as the reason why a function body is invalid. */
export function renderInMessage(diagnostics: readonly Diagnostic[], between: '\n' | '\n\n'): string {
  return renderDiagnostics(diagnostics, between, summaryLimits.v10DrawnUnitsMax)
}

/** The length of the text is limited, because there may be thousands of diagnostics with long source lines. */
function renderDiagnostics(diagnostics: readonly Diagnostic[], between: string, unitsMax: number): string {
  let text = ''
  for (const [index, diagnostic] of diagnostics.entries()) {
    let before = index === 0 ? '' : between
    for (const piece of piecesOf(diagnostic)) {
      const left = unitsMax - text.length - before.length
      if (piece.length > left) {
        return `${text}${before}${piece.slice(0, Math.max(0, left))}\n\nwarning: The rest is too long to be shown.`
      }
      text += before + piece
      before = '\n'
    }
  }
  return text
}

/** The rendered parts of a diagnostic: the diagnostic itself, its remarks, and its trace. */
function* piecesOf({ name, message, span, annotation, remarks = [], trace = [] }: Diagnostic) {
  if (name === 'log') {
    yield `info at ${span?.source.name ?? '<no source>'}:${span?.source.lineOf(span.start) ?? 0}: ${message}`
    return
  }
  yield renderTitled(`${name}: ${message}`, span, undefined, annotation)
  for (const remark of remarks) yield renderRemark(remark, span)
  for (const [index, entry] of trace.entries()) {
    yield renderTitled(index === 0 && remarks.length > 0 ? 'trace:' : undefined, entry, span)
  }
}

function renderRemark({ name, message, span, suggestion }: Remark, main: Span | undefined): string {
  const title = message === '' ? `${name}:` : `${name}: ${message}`
  if (suggestion === undefined || span === undefined) return renderTitled(title, span, main)
  const position = positionLines(span, main)
  return [title, ...position, suggestionExcerpt(span, suggestion)].join('\n')
}

function renderTitled(
  title: string | undefined,
  span: Span | undefined,
  main?: Span,
  annotation?: string,
): string {
  const lines = title === undefined ? [] : [title]
  if (span === undefined) return [...lines, 'at <no source>'].join('\n')
  const shown = withinText(span)
  return [...lines, ...positionLines(shown, main), excerpt(shown, annotation)].join('\n')
}

/** Moves spans in the trailing whitespace of the source to the start of this whitespace. */
function withinText(span: Span): Span {
  const { source, start, end } = span
  const last = source.text.trimEnd().length
  return start <= last ? span : { source, start: last, end: last + Math.max(1, end - start) }
}

/** Returns no line if `main` begins on the same line. */
function positionLines({ source, start }: Span, main: Span | undefined): string[] {
  const line = source.lineOf(start)
  if (main !== undefined && main.source === source && main.source.lineOf(withinText(main).start) === line)
    return []
  return [`at ${source.positionText(start)}`]
}

function excerpt({ source, start, end }: Span, annotation: string | undefined, mark = '^'): string {
  const first = source.lineOf(start)
  const last = Math.max(first, source.lineOf(Math.max(start, end - 1)))
  const margin = new Margin(last)
  const column = start - source.lineStart(first)
  if (first === last) {
    const marks = `${' '.repeat(column)}${mark.repeat(Math.max(1, end - start))}`
    return margin.around([
      margin.numbered(first, source.line(first)),
      margin.blank(annotation === undefined ? marks : `${marks} ${annotation}`),
    ])
  }
  const endColumn = Math.max(1, end - source.lineStart(last))
  const lines = [
    margin.numbered(first, `  ${source.line(first)}`),
    margin.blank(` ${'_'.repeat(column + 1)}${mark}`),
  ]
  for (let line = first + 1; line <= last; line++) lines.push(margin.numbered(line, `| ${source.line(line)}`))
  // The last line has `^` for every mark, as in the hosted service.
  const marks = `|${'_'.repeat(endColumn)}^`
  lines.push(margin.blank(annotation === undefined ? marks : `${marks} ${annotation}`))
  return margin.around(lines)
}

/**
 * For an insertion or a replacement, marks the new text in the changed source lines. For a removal, marks the text to
 * remove in the unchanged source lines.
 */
function suggestionExcerpt(span: Span, suggestion: string): string {
  const { source, start, end } = span
  if (suggestion === '') return excerpt(span, undefined, '-')
  const after = new Source(source.name, source.text.slice(0, start) + suggestion + source.text.slice(end))
  return excerpt(
    { source: after, start, end: start + suggestion.length },
    undefined,
    end === start ? '+' : '~',
  )
}

/** The column of line numbers. */
class Margin {
  readonly #width: number

  constructor(lastLine: number) {
    this.#width = String(lastLine).length
  }

  numbered(line: number, text: string): string {
    return `${String(line).padStart(this.#width)} | ${text}`.trimEnd()
  }

  blank(text = ''): string {
    return `${' '.repeat(this.#width)} | ${text}`.trimEnd()
  }

  around(lines: readonly string[]): string {
    return [this.blank(), ...lines, this.blank()].join('\n')
  }
}
