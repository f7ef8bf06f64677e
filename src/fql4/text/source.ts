// Positions of the parts of a parsed expression in its text, and excerpts that show a position to people.

/** A range of a text in UTF-16 offsets; `end` is exclusive. */
export interface TextRange {
  readonly start: number
  readonly end: number
}

/** The range of an expression in its text, with the nodes of its parts by their keys and indexes in wire JSON. */
export class SourceNode implements TextRange {
  readonly start: number
  readonly end: number
  readonly parts: ReadonlyMap<string | number, SourceNode>

  constructor(range: TextRange, parts: ReadonlyMap<string | number, SourceNode> = new Map()) {
    this.start = range.start
    this.end = range.end
    this.parts = parts
  }

  /**
   * The node for the position of a wire error. The server names some steps that are not in the query. At the first such
   * step, the innermost node found so far is returned.
   */
  at(position: readonly (string | number)[]): SourceNode {
    let node: SourceNode = this
    for (const step of position) {
      const part = node.parts.get(step)
      if (!part) return node
      node = part
    }
    return node
  }
}

/** A line number and a column number, both counted from 1. Columns are UTF-16 units. */
interface LineAndColumn {
  readonly line: number
  readonly column: number
}

const lineEnd = /\r\n|[\n\r\u2028\u2029]/g

/** The line and column of an offset. */
export function lineAndColumn(text: string, offset: number): LineAndColumn {
  let line = 1
  let lineStart = 0
  for (const match of text.matchAll(lineEnd)) {
    const next = match.index + match[0].length
    if (next > offset) break
    line++
    lineStart = next
  }
  return { line, column: offset - lineStart + 1 }
}

/** Maximum length of an excerpt; a longer line is cut around the position. */
const excerptColumns = 100

/**
 * The line on which a range begins, and a second line that underlines the range with `^`. If the range has several
 * lines, only its first line is underlined. The second line contains the same tabs as the first, so that the columns
 * match.
 */
export function excerpt(text: string, { start, end }: TextRange): readonly [line: string, underline: string] {
  const { column } = lineAndColumn(text, start)
  const lineStart = start - column + 1
  const rest = text.slice(lineStart).split(lineEnd, 1)[0] ?? ''
  const cut = Math.max(0, column - 1 - Math.floor(excerptColumns / 2))
  const shown = rest.slice(cut, cut + excerptColumns)
  const before = shown.slice(0, column - 1 - cut).replace(/[^\t]/g, ' ')
  const length = Math.max(1, Math.min(end - start, shown.length - before.length))
  return [shown, before + '^'.repeat(length)]
}

/** A syntax error: the message and its position. */
export class FqlSyntaxError extends Error implements TextRange, LineAndColumn {
  override name = 'FqlSyntaxError'
  readonly start: number
  readonly end: number
  readonly line: number
  readonly column: number
  /** True if the text ends too early, so that more input may fix the error. */
  readonly incomplete: boolean

  constructor(message: string, text: string, { start, end }: TextRange, incomplete = false) {
    super(message)
    this.start = start
    this.end = end
    this.incomplete = incomplete
    const { line, column } = lineAndColumn(text, start)
    this.line = line
    this.column = column
  }
}
