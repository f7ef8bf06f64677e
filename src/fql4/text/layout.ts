// The layout of printed expressions. An expression that does not fit on the line is printed with one part per line.

/** Text on a single line, or a group of parts that may be on separate lines. */
export type Piece = string | Group

/** Parts between brackets. */
export class Group {
  readonly open: string
  readonly close: string
  readonly items: readonly Item[]
  /** True if there are spaces inside the brackets, as in objects. */
  readonly isSpaced: boolean
  /** Length on one line, in characters. */
  readonly width: number

  constructor(open: string, items: readonly Item[], close: string) {
    this.open = open
    this.close = close
    this.items = items
    this.isSpaced = open.endsWith('{') && items.length > 0
    const separators = 2 * Math.max(0, items.length - 1) + (this.isSpaced ? 2 : 0)
    this.width = items.reduce((sum, item) => sum + itemWidth(item), open.length + close.length + separators)
  }
}

/** A part, preceded by the text `head`, such as the name of a field. */
interface Item {
  readonly head: string
  readonly piece: Piece
}

export const item = (piece: Piece): Item => ({ head: '', piece })

const indentChars = 2

/** Functions whose last argument begins on the line of the call, even if the argument needs several lines. */
const hugging: ReadonlySet<string> = new Set(['Lambda(', 'Query(', 'Map(', 'Foreach(', 'Filter(', 'Let('])

function widthOf(piece: Piece): number {
  return typeof piece === 'string' ? piece.length : piece.width
}

function itemWidth({ head, piece }: Item): number {
  return head.length + widthOf(piece)
}

/** `columns`: the maximum length of lines in characters. Parts that cannot be divided may be longer. */
export function layOut(piece: Piece, columns: number): string {
  return put(piece, 0, 0, columns)
}

/** Lays out a piece on a line that already has `used` characters. */
function put(piece: Piece, indent: number, used: number, columns: number): string {
  if (typeof piece === 'string') return piece
  if (used + piece.width <= columns || piece.items.length === 0) return flat(piece)
  const { open, close, items } = piece
  const last = items.at(-1) as Item
  if (canHug(piece, last, used, columns)) {
    const before = items.slice(0, -1).map(({ head, piece }) => `${head}${flat(piece)}, `)
    const start = open + before.join('') + last.head
    return start + put(last.piece, indent, used + start.length, columns) + close
  }
  const inner = indent + indentChars
  const margin = ' '.repeat(inner)
  const lines = items.map(({ head, piece }) => {
    // The comma needs a column.
    return margin + head + put(piece, inner, inner + head.length + 1, columns)
  })
  return `${open}\n${lines.join(',\n')}\n${' '.repeat(indent)}${close}`
}

/** Beginning the last part on the line of the call saves a level of indentation. */
function canHug({ open, items, isSpaced }: Group, { piece }: Item, used: number, columns: number): boolean {
  if (typeof piece === 'string' || piece.items.length === 0 || isSpaced || open === '[') return false
  const isContainer = piece.open === '{' || piece.open === '['
  if (items.length > 1 && !isContainer && !hugging.has(open)) return false
  const before = items.slice(0, -1)
  const width = before.reduce((sum, item) => sum + itemWidth(item) + 2, used + open.length)
  return width + piece.open.length <= columns
}

function flat(piece: Piece): string {
  if (typeof piece === 'string') return piece
  const items = piece.items.map(({ head, piece }) => head + flat(piece)).join(', ')
  const blank = piece.isSpaced ? ' ' : ''
  return piece.open + blank + items + blank + piece.close
}
