// Texts of several lines between a name and its repetition, without the indent that all their lines share.

import type { LiteralNode, Node, TemplateNode } from './nodes.ts'
import { code, continuesName, type SourceReader } from './reader.ts'

/** Whether such a text begins here. */
export function startsHeredoc(reader: SourceReader): boolean {
  return reader.text.startsWith('<<-', reader.at) || reader.text.startsWith('<<+', reader.at)
}

/** One line: its parts up to and with the newlines that end it, and its indent. */
interface Line {
  readonly parts: (string | Node)[]
  readonly indent: number
}

/** The text from `<<-NAME` or `<<+NAME` to the line that begins with the name; only the second knows `#{…}`. */
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

/** Whether the line is the last: blanks and the name, which no longer one goes on from. */
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
      // Also an empty text in front: the indent of the line is in its first part.
      if (reader.at > from || parts.length > 0) parts.push(text.slice(from, reader.at))
      reader.at += 2
      parts.push(interpolation())
      from = reader.at
    } else if (reader.isLiteralUnit) reader.at++
    else throw reader.expected()
  }
  // Empty lines belong to the line before: they have no indent to lose.
  while (reader.unit() === code.newline || reader.unit() === code.return) reader.at++
  parts.push(text.slice(from, reader.at))
  return { parts, indent }
}
