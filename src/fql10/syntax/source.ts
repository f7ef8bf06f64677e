// Represents source texts and positions. Offsets and columns count UTF-16 units; lines and columns start at 1. Only a
// newline ends a line.

/** Errors show the name, such as `*query*` or `*udf:total*`. */
export class Source {
  readonly name: string
  readonly text: string
  #lineStarts: readonly number[] | undefined

  constructor(name: string, text: string) {
    this.name = name
    this.text = text
  }

  get lineStarts(): readonly number[] {
    if (this.#lineStarts === undefined) {
      const starts = [0]
      for (let at = this.text.indexOf('\n'); at >= 0; at = this.text.indexOf('\n', at + 1))
        starts.push(at + 1)
      this.#lineStarts = starts
    }
    return this.#lineStarts
  }

  lineOf(offset: number): number {
    const starts = this.lineStarts
    let low = 0
    let high = starts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((starts[middle] as number) <= offset) low = middle
      else high = middle - 1
    }
    return low + 1
  }

  lineStart(line: number): number {
    return this.lineStarts[line - 1] ?? this.text.length
  }

  columnOf(offset: number): number {
    return offset - this.lineStart(this.lineOf(offset)) + 1
  }

  /** Source name, line and column of an offset, as messages show them. */
  positionText(offset: number): string {
    return `${this.name}:${this.lineOf(offset)}:${this.columnOf(offset)}`
  }

  /** Omits the newline. */
  line(line: number): string {
    const start = this.lineStart(line)
    const end = this.lineStarts[line]
    return this.text.slice(start, end === undefined ? undefined : end - 1)
  }
}

/** A range of a source text. `start` is inclusive, `end` is exclusive. */
export interface Span {
  readonly source: Source
  readonly start: number
  readonly end: number
}

/** True if two spans overlap or touch. */
export function touches(left: Span, right: Span): boolean {
  return left.source === right.source && left.start <= right.end && right.start <= left.end
}
