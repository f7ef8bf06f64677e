// The layout of a diagram of collections: boxes, and lines between them. Each collection is in a column to the left of
// the collections it refers to. Collections without references are in rows below.

/** Connects a field of a box to another box. */
interface GraphEdge {
  readonly from: string
  readonly field: string
  readonly to: string
}

/** Position and size in pixels. */
export interface Box {
  readonly name: string
  readonly x: number
  readonly y: number
  readonly height: number
  /** The fields that refer to other collections, from top to bottom. */
  readonly fields: readonly string[]
}

interface Line extends GraphEdge {
  /** The `d` of an SVG path. */
  readonly path: string
}

interface GraphLayout {
  readonly boxes: readonly Box[]
  readonly lines: readonly Line[]
  readonly width: number
  readonly height: number
}

/** Lengths in pixels. */
export const measures = { width: 200, title: 30, row: 22, columnGap: 90, rowGap: 22, margin: 16 } as const

/** Number of columns for collections without references. */
const looseColumns = 4

export function layOut(names: readonly string[], edges: readonly GraphEdge[]): GraphLayout {
  const joined = new Set(edges.flatMap(({ from, to }) => (from === to ? [] : [from, to])))
  const depths = depthsOf(names, edges)
  const columns: string[][] = []
  for (const name of names) {
    const depth = depths.get(name) ?? 0
    if (joined.has(name)) columns[depth] = [...(columns[depth] ?? []), name]
  }
  const boxes = new Map<string, Box>()
  const place = (name: string, column: number, y: number): number => {
    const fields = [...new Set(edges.filter(({ from }) => from === name).map(({ field }) => field))]
    // The last field has a padding of 6 pixels.
    const height = measures.title + fields.length * measures.row + (fields.length > 0 ? 6 : 0)
    const x = measures.margin + column * (measures.width + measures.columnGap)
    boxes.set(name, { name, x, y, height, fields })
    return y + height + measures.rowGap
  }
  // References of a cycle may skip a column, so empty columns are removed.
  const bottoms = columns.filter(Boolean).map((column, at) => {
    const inOrder = byNeighbours(column, edges, boxes)
    return inOrder.reduce<number>((y, name) => place(name, at, y), measures.margin)
  })
  let top = Math.max(measures.margin, ...bottoms)
  const loose = names.filter(name => !joined.has(name))
  for (let first = 0; first < loose.length; first += looseColumns) {
    const row = loose.slice(first, first + looseColumns)
    top = Math.max(...row.map((name, column) => place(name, column, top)))
  }
  const all = [...boxes.values()]
  return {
    boxes: all,
    lines: edges.flatMap(edge => {
      const [from, to] = [boxes.get(edge.from), boxes.get(edge.to)]
      return from && to ? [{ ...edge, path: pathOf(from, edge.field, to) }] : []
    }),
    // The space on the right is for lines that lead to the same column, or to a column further left.
    width: Math.max(0, ...all.map(({ x }) => x)) + measures.width + measures.columnGap / 2 + measures.margin,
    height: top,
  }
}

/** The longest chain of references to each collection, without references that close a cycle. */
function depthsOf(names: readonly string[], edges: readonly GraphEdge[]): ReadonlyMap<string, number> {
  const targets = new Map<string, string[]>()
  for (const { from, to } of edges) targets.set(from, [...(targets.get(from) ?? []), to])
  const depths = new Map<string, number>()
  /** The collections on the current path of references. A reference to one of these collections closes a cycle. */
  const onPath = new Set<string>()
  const order: string[] = []
  const forward: [string, string][] = []
  const visit = (name: string) => {
    if (depths.has(name)) return
    depths.set(name, 0)
    onPath.add(name)
    for (const to of targets.get(name) ?? []) {
      if (onPath.has(to)) continue
      forward.push([name, to])
      visit(to)
    }
    onPath.delete(name)
    order.unshift(name)
  }
  for (const name of names) visit(name)
  // In this order, every collection is before the collections that it refers to.
  for (const name of order) {
    for (const [from, to] of forward)
      if (from === name) depths.set(to, Math.max(depths.get(to) ?? 0, (depths.get(from) ?? 0) + 1))
  }
  return depths
}

/** Sorts a column by the average vertical position of the referring collections, so that fewer lines cross. */
function byNeighbours(
  column: readonly string[],
  edges: readonly GraphEdge[],
  boxes: ReadonlyMap<string, Box>,
) {
  const meanYOf = (name: string) => {
    const ys = edges.flatMap(({ from, to }) => (to === name ? (boxes.get(from)?.y ?? []) : []))
    return ys.length === 0 ? 0 : ys.reduce((sum, y) => sum + y, 0) / ys.length
  }
  return [...column].sort((left, right) => meanYOf(left) - meanYOf(right))
}

function pathOf(from: Box, field: string, to: Box): string {
  const startX = from.x + measures.width
  const startY = from.y + measures.title + (from.fields.indexOf(field) + 0.5) * measures.row
  const endY = to.y + measures.title / 2
  const isForward = to.x > from.x
  const endX = isForward ? to.x : to.x + measures.width
  const bend = measures.columnGap / 2
  const before = isForward ? endX - bend : endX + bend
  return `M ${startX} ${startY} C ${startX + bend} ${startY}, ${before} ${endY}, ${endX} ${endY}`
}
