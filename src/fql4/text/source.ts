// Ranges of the parts of a parsed expression in the text, and excerpts of the text for error messages.

/** A range of a text, in UTF-16 units. `end` is exclusive. */
export interface TextRange {
  readonly start: number
  readonly end: number
}

/** An expression's range in the text. `parts` has a node for each subexpression, by its key or index in wire JSON. */
export class SourceNode implements TextRange {
  readonly start: number
  readonly end: number
  readonly parts: ReadonlyMap<string | number, SourceNode>

  constructor(range: TextRange, parts: ReadonlyMap<string | number, SourceNode> = new Map()) {
    this.start = range.start
    this.end = range.end
    this.parts = parts
  }

  /** If a step of the position has no node, returns the node that the previous steps lead to. */
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

/** Lines and columns count from 1. Columns are UTF-16 units. */
interface LineAndColumn {
  readonly line: number
  readonly column: number
}

const lineEnd = /\r\n|[\n\r\u2028\u2029]/g

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

/** Maximum number of UTF-16 units: of a longer line, an excerpt shows only the part around the start of the range. */
const excerptColumns = 100

/**
 * Returns the line on which a range begins, and a second line that underlines the first line of the range with `^`. The
 * second line contains the same tabs as the first line, so the columns match.
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

export class FqlSyntaxError extends Error implements TextRange, LineAndColumn {
  override name = 'FqlSyntaxError'
  readonly start: number
  readonly end: number
  readonly line: number
  readonly column: number
  /** True if the text ends too early, so more input may fix the error. */
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
