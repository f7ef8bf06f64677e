// Lays out printed expressions: on one line if they fit, else one part per line.

/** A printed expression: unbreakable text, or a group of parts that may be on separate lines. */
export type Piece = string | Group

/** Parts between brackets. */
export class Group {
  readonly open: string
  readonly close: string
  readonly items: readonly Item[]
  /** True if there are blanks inside the brackets, as in objects. */
  readonly isSpaced: boolean
  /** Length on one line. */
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

/** A part with preceding text, such as a field's name. */
export interface Item {
  readonly head: string
  readonly piece: Piece
}

const indentChars = 2

/** Functions whose last argument begins on the line of the call even when it is long. */
const hugging: ReadonlySet<string> = new Set(['Lambda(', 'Query(', 'Map(', 'Foreach(', 'Filter(', 'Let('])

function widthOf(piece: Piece): number {
  return typeof piece === 'string' ? piece.length : piece.width
}

function itemWidth({ head, piece }: Item): number {
  return head.length + widthOf(piece)
}

/** The text of a piece, with lines of at most `columns` characters where its parts allow it. */
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
    return margin + head + put(piece, inner, inner + head.length + 1, columns)
  })
  return `${open}\n${lines.join(',\n')}\n${' '.repeat(indent)}${close}`
}

/** Returns whether the last part of a call can begin on the line of the call, which saves a level of indentation. */
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
