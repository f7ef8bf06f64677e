// Lays out printed expressions: on one line where they fit, else one part a line.

/** A printed expression: text that stays together, or brackets around parts that can go on lines of their own. */
export type Piece = string | Group

/** Parts between brackets. */
export class Group {
  readonly open: string
  readonly close: string
  readonly items: readonly Item[]
  /** Objects have blanks inside their brackets. */
  readonly isSpaced: boolean
  /** Characters on one line. */
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

/** A part, behind a text such as a field's name. */
export interface Item {
  readonly head: string
  readonly piece: Piece
}

const indentChars = 2

/** Functions whose last argument begins on their own line even when it is long. */
const hugging: ReadonlySet<string> = new Set(['Lambda(', 'Query(', 'Map(', 'Foreach(', 'Filter(', 'Let('])

function widthOf(piece: Piece): number {
  return typeof piece === 'string' ? piece.length : piece.width
}

function itemWidth({ head, piece }: Item): number {
  return head.length + widthOf(piece)
}

/** The text of a piece, with lines of at most `columns` characters as far as its parts allow. */
export function layOut(piece: Piece, columns: number): string {
  return put(piece, 0, 0, columns)
}

/** `used` characters stand on the line already, and `after` the piece something may still come. */
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

/** Whether the last part of a call can begin on the line of the call, so that one level of indentation is saved. */
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
