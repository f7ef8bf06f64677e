// How diagnostics are drawn: a message, the place, and the lines of the text with what it is about underlined.

import { limits } from '../../base/limits.ts'
import { Source, type Span } from '../syntax/source.ts'
import type { Diagnostic, Remark } from './failure.ts'

/** The text that tells all diagnostics, in their order. */
export function summaryOf(diagnostics: readonly Diagnostic[]): string {
  return drawn(diagnostics, '\n\n', limits.v10SummaryUnitsMax)
}

/** The same as a part of a message, such as why a body is refused. */
export function drawnInMessage(diagnostics: readonly Diagnostic[], between: '\n' | '\n\n'): string {
  return drawn(diagnostics, between, limits.v10DrawnUnitsMax)
}

/** Each place shows its lines, which may be long, and there may be thousands: what would go beyond a length is left out. */
function drawn(diagnostics: readonly Diagnostic[], between: string, unitsMax: number): string {
  let text = ''
  for (const [index, diagnostic] of diagnostics.entries()) {
    let before = index === 0 ? '' : between
    for (const piece of piecesOf(diagnostic)) {
      const left = unitsMax - text.length - before.length
      if (piece.length > left) {
        return `${text}${before}${piece.slice(0, Math.max(0, left))}\n\nwarning: What follows is too long to be shown.`
      }
      text += before + piece
      before = '\n'
    }
  }
  return text
}

/** One diagnostic, its remarks and the calls around it. */
function* piecesOf({ name, message, span, annotation, remarks = [], trace = [] }: Diagnostic) {
  if (name === 'log') {
    yield `info at ${span?.source.name ?? '<no source>'}:${span?.source.lineOf(span.start) ?? 0}: ${message}`
    return
  }
  yield titled(`${name}: ${message}`, span, undefined, annotation)
  for (const remark of remarks) yield drawRemark(remark, span)
  for (const [index, entry] of trace.entries()) {
    yield titled(index === 0 && remarks.length > 0 ? 'trace:' : undefined, entry, span)
  }
}

function drawRemark({ name, message, span, suggestion }: Remark, main: Span | undefined): string {
  const title = message === '' ? `${name}:` : `${name}: ${message}`
  if (suggestion === undefined || span === undefined) return titled(title, span, main)
  const place = placeOf(span, main)
  return [title, ...place, suggested(span, suggestion)].join('\n')
}

/** A title, the place unless it is in the line of the main one, and the excerpt. */
function titled(title: string | undefined, span: Span | undefined, main?: Span, annotation?: string): string {
  const lines = title === undefined ? [] : [title]
  if (span === undefined) return [...lines, 'at <no source>'].join('\n')
  const shown = withinText(span)
  return [...lines, ...placeOf(shown, main), excerpt(shown, annotation)].join('\n')
}

/** A place behind the last character that is no blank is moved to just behind it. */
function withinText(span: Span): Span {
  const { source, start, end } = span
  const last = source.text.trimEnd().length
  return start <= last ? span : { source, start: last, end: last + Math.max(1, end - start) }
}

function placeOf({ source, start }: Span, main: Span | undefined): string[] {
  const line = source.lineOf(start)
  if (main !== undefined && main.source === source && main.source.lineOf(withinText(main).start) === line)
    return []
  return [`at ${source.name}:${line}:${start - source.lineStart(line) + 1}`]
}

/** The lines of a place, underlined with `mark`. */
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
  const marks = `|${'_'.repeat(endColumn)}^`
  lines.push(margin.blank(annotation === undefined ? marks : `${marks} ${annotation}`))
  return margin.around(lines)
}

/** The lines as they would be with a suggestion, and what is new in them; as they are, where something goes. */
function suggested(span: Span, suggestion: string): string {
  const { source, start, end } = span
  if (suggestion === '') return excerpt(span, undefined, '-')
  const after = new Source(source.name, source.text.slice(0, start) + suggestion + source.text.slice(end))
  return excerpt(
    { source: after, start, end: start + suggestion.length },
    undefined,
    end === start ? '+' : '~',
  )
}

/** The column of line numbers at the left. */
class Margin {
  readonly #width: number

  constructor(lastLine: number) {
    this.#width = String(lastLine).length
  }

  numbered(line: number, text: string): string {
    return stripped(`${String(line).padStart(this.#width)} | ${text}`)
  }

  blank(text = ''): string {
    return stripped(`${' '.repeat(this.#width)} | ${text}`)
  }

  around(lines: readonly string[]): string {
    return [this.blank(), ...lines, this.blank()].join('\n')
  }
}

function stripped(line: string): string {
  return line.trimEnd()
}

/** Whether two places overlap or touch. */
export function touches(left: Span, right: Span): boolean {
  return left.source === right.source && left.start <= right.end && right.start <= left.end
}
