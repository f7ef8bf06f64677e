// Parses heredocs: texts of several lines between a name and its repetition. The common indentation of the lines is
// removed.

import type { LiteralNode, Node, TemplateNode } from './nodes.ts'
import { code, continuesName, type SourceReader } from './reader.ts'

/** True if a heredoc begins at the position. */
export function startsHeredoc(reader: SourceReader): boolean {
  return reader.text.startsWith('<<-', reader.at) || reader.text.startsWith('<<+', reader.at)
}

/** A line: its parts, with the newlines at its end, and its indentation. */
interface Line {
  readonly parts: (string | Node)[]
  readonly indent: number
}

/** Parses a heredoc from `<<-NAME` or `<<+NAME` to the line that begins with the name. Only `<<+` supports `#{…}`. */
export function readHeredoc(reader: SourceReader, interpolation: () => Node): LiteralNode | TemplateNode {
  const start = reader.at
  const interpolated = reader.text[start + 2] === '+'
  reader.at += 3
  reader.blanks()
  const name = reader.anyName()
  reader.blanks()
  if (reader.unit() !== code.newline && reader.unit() !== code.return) throw reader.expected()
  skipNewlines(reader)
  const lines: Line[] = []
  while (!skipsEnd(reader, name)) lines.push(readLine(reader, interpolated ? interpolation : undefined))
  const end = reader.at
  const shared = Math.min(...lines.map(({ indent }) => indent))
  const parts: (string | Node)[] = []
  for (const line of lines) {
    const [first, ...others] = line.parts
    const kept = typeof first === 'string' ? [first.slice(shared)] : first === undefined ? [] : [first]
    for (const part of [...kept, ...others]) append(parts, part)
  }
  if (parts.every(part => typeof part === 'string')) {
    return { kind: 'literal', value: parts.join(''), start, end }
  }
  return { kind: 'template', parts, start, end }
}

function append(parts: (string | Node)[], part: string | Node): void {
  const last = parts.at(-1)
  if (typeof part === 'string' && typeof last === 'string') parts[parts.length - 1] = last + part
  else if (part !== '') parts.push(part)
}

function skipNewlines(reader: SourceReader): void {
  const isBlankLine = /[ \t]*[\r\n]/y
  for (;;) {
    isBlankLine.lastIndex = reader.at
    if (!isBlankLine.test(reader.text)) return
    reader.at = isBlankLine.lastIndex
  }
}

/** Moves past the end marker, if this line has it: whitespace and the name as a whole word. */
function skipsEnd(reader: SourceReader, name: string): boolean {
  let at = reader.at
  while (isBlank(reader.text.charCodeAt(at))) at++
  if (!reader.text.startsWith(name, at) || continuesName(reader.text.charCodeAt(at + name.length)))
    return false
  reader.at = at + name.length
  return true
}

function isBlank(unit: number): boolean {
  return unit === code.blank || unit === code.tab
}

function readLine(reader: SourceReader, interpolation: (() => Node) | undefined): Line {
  const { text } = reader
  const parts: (string | Node)[] = []
  let from = reader.at
  while (isBlank(reader.unit())) reader.at++
  const indent = reader.at - from
  for (;;) {
    const unit = reader.unit()
    if (unit === code.newline) break
    if (interpolation !== undefined && unit === code.hash && reader.follows('#{')) {
      // The first part contains the indentation, even if the line begins with an interpolation.
      if (reader.at > from || parts.length > 0) parts.push(text.slice(from, reader.at))
      reader.at += 2
      parts.push(interpolation())
      from = reader.at
    } else if (reader.isLiteralUnit) reader.at++
    else throw reader.expected()
  }
  // Empty lines belong to the previous line, because they have no indentation to remove.
  while (reader.unit() === code.newline || reader.unit() === code.return) reader.at++
  parts.push(text.slice(from, reader.at))
  return { parts, indent }
}
