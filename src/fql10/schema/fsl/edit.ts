// Changes to the text of a schema file that leave everything else as it is: what is cut, put in and replaced, and the white
// space around it.

import type { SourceRange } from './outline.ts'
import { indented } from './print-expression.ts'

interface Edit {
  /** Where it begins; edits are made from the end of the text to its beginning. */
  readonly at: number
  readonly apply: (text: string) => string
}

/** The edits of one text. */
export class TextEdits {
  readonly #edits: Edit[] = []

  get isEmpty(): boolean {
    return this.#edits.length === 0
  }

  /** Puts a text in place of another; its further lines get the indentation of the line that it is in. */
  replace({ end, start }: SourceRange, by: string): void {
    const apply = (text: string) => text.slice(0, start) + aligned(by, text, start) + text.slice(end)
    this.#edits.push({ at: start, apply })
  }

  /** Takes a text out, with the semicolon behind it. */
  cut(place: SourceRange): void {
    this.#edits.push({ at: place.start, apply: text => cut(text, place) })
  }

  /** Takes a text out and nothing with it. */
  erase({ end, start }: SourceRange): void {
    this.#edits.push({ at: start, apply: text => text.slice(0, start) + text.slice(end) })
  }

  /** Puts lines of their own before the closing brace of a block; `level`: how many blocks are around it. */
  append(block: SourceRange, level: number, lines: readonly string[]): void {
    if (lines.length === 0) return
    const brace = block.end - 1
    this.#edits.push({ at: brace, apply: text => appended(text, brace, '  '.repeat(level), lines) })
  }

  /** The text after all edits. */
  applied(text: string): string {
    // Of those at one place the earlier is made last, and stands first.
    const order = [...this.#edits].reverse().sort((left, right) => right.at - left.at)
    return order.reduce((edited, { apply }) => apply(edited), text)
  }
}

/** The indentation of the line that an offset is in. */
function indentAt(text: string, at: number): string {
  const line = text.slice(text.lastIndexOf('\n', at - 1) + 1, at)
  return /^[ \t]*/.exec(line)?.[0] ?? ''
}

function aligned(inserted: string, text: string, at: number): string {
  return inserted.replaceAll('\n', `\n${indentAt(text, at)}`)
}

/** A text without a part: what is left of its line goes with it. */
export function cut(text: string, { end, start }: SourceRange): string {
  const behind = /^[ \t]*;/.exec(text.slice(end, end + 256))?.[0].length ?? 0
  const before = text.slice(0, start)
  const after = text.slice(end + behind)
  return /^[ \t]*(\r?\n|$)/.test(after) ? before.trimEnd() + after : before + after.trimStart()
}

function appended(text: string, brace: number, indent: string, lines: readonly string[]): string {
  const before = text.slice(0, brace)
  const kept = before.trimEnd()
  const space = before.slice(kept.length)
  const inserted = lines.map(line => indented(`\n${line}`).replaceAll('\n', `\n${indent}`)).join('')
  const gap = space.includes('\n') ? space : `\n${indent}`
  return kept + inserted + gap + text.slice(brace)
}
