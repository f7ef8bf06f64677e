// Edits the text of a schema file: removes, inserts and replaces ranges, and adapts the white space around these
// ranges. The rest of the text does not change.

import type { SourceRange } from './outline.ts'
import { indentLines } from './print-expression.ts'

interface Edit {
  /** The offset where the edit starts. */
  readonly at: number
  readonly apply: (text: string) => string
}

export class TextEdits {
  readonly #edits: Edit[] = []

  get isEmpty(): boolean {
    return this.#edits.length === 0
  }

  /** The lines after the first line of the new text get the indentation of the line at `start`. */
  replace({ end, start }: SourceRange, by: string): void {
    const apply = (text: string) =>
      text.slice(0, start) + by.replaceAll('\n', `\n${indentAt(text, start)}`) + text.slice(end)
    this.#edits.push({ at: start, apply })
  }

  /** Removes a range like {@link cut}. */
  cut(range: SourceRange): void {
    this.#edits.push({ at: range.start, apply: text => cut(text, range) })
  }

  /** Removes exactly the range. */
  erase({ end, start }: SourceRange): void {
    this.#edits.push({ at: start, apply: text => text.slice(0, start) + text.slice(end) })
  }

  /** Inserts lines before the closing brace of a block. `level` is the number of enclosing blocks. */
  append(block: SourceRange, level: number, lines: readonly string[]): void {
    if (lines.length === 0) return
    const brace = block.end - 1
    this.#edits.push({ at: brace, apply: text => appendLines(text, brace, '  '.repeat(level), lines) })
  }

  applied(text: string): string {
    // Edits are applied from the end of the text to its start. At the same offset, each applied edit puts its text
    // before the texts of the edits applied so far. The text of the first edit must come first, so the first edit is
    // applied last.
    const order = [...this.#edits].reverse().sort((left, right) => right.at - left.at)
    return order.reduce((edited, { apply }) => apply(edited), text)
  }
}

/** The indentation of the line that contains the offset. */
function indentAt(text: string, at: number): string {
  const line = text.slice(text.lastIndexOf('\n', at - 1) + 1, at)
  return /^[ \t]*/.exec(line)?.[0] ?? ''
}

/**
 * Removes a range and the semicolon after it. If the rest of the line is blank, also removes the white space before the
 * range, else the white space after it.
 */
export function cut(text: string, { end, start }: SourceRange): string {
  const semicolonLength = /^[ \t]*;/.exec(text.slice(end))?.[0].length ?? 0
  const before = text.slice(0, start)
  const after = text.slice(end + semicolonLength)
  return /^[ \t]*(\r?\n|$)/.test(after) ? before.trimEnd() + after : before + after.trimStart()
}

function appendLines(text: string, brace: number, indent: string, lines: readonly string[]): string {
  const before = text.slice(0, brace)
  const kept = before.trimEnd()
  const space = before.slice(kept.length)
  const inserted = lines.map(line => indentLines(`\n${line}`).replaceAll('\n', `\n${indent}`)).join('')
  const gap = space.includes('\n') ? space : `\n${indent}`
  return kept + inserted + gap + text.slice(brace)
}
