// How diagnostics are drawn: a message, the place, and the lines of the text with what it is about underlined.

import { Source, type Span } from '../syntax/source.ts'
import type { Diagnostic, Remark } from './failure.ts'

/** The text that tells all diagnostics, in their order. */
export function summaryOf(diagnostics: readonly Diagnostic[]): string {
  return diagnostics.map(draw).join('\n\n')
}

/** One diagnostic with its remarks and the calls around it. */
function draw({ name, message, span, annotation, remarks = [], trace = [] }: Diagnostic): string {
  if (name === 'log') {
    return `info at ${span?.source.name ?? '<no source>'}:${span?.source.lineOf(span.start) ?? 0}: ${message}`
  }
  const drawn = [titled(`${name}: ${message}`, span, undefined, annotation)]
  for (const remark of remarks) drawn.push(drawRemark(remark, span))
  trace.forEach((entry, index) => {
    const title = index === 0 && remarks.length > 0 ? 'trace:' : undefined
    drawn.push(titled(title, entry, span))
  })
  return drawn.join('\n')
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
