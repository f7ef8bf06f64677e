// Documents as rows of a table. Values are truncated when they are read, so that large documents render as fast as
// small ones.

import { at, isMap, type Json, listAt, parseJson } from './json.ts'
import { type RefName, refOf, tagOf } from './refs.ts'

/** A row of a table: a document, or an index entry that does not lead to a document. */
export interface Row {
  readonly ref: RefName | undefined
  readonly ts: Json | undefined
  /** Fields of the data, or values of the entry, by name. Long texts, lists and objects are truncated. */
  readonly cells: ReadonlyMap<string, Json>
}

export interface Rows {
  readonly rows: readonly Row[]
  readonly after: Json | undefined
  readonly before: Json | undefined
  /** Documents that a scan has read for these rows; undefined without a scan. */
  readonly scanned: Json | undefined
}

const cutChars = 200
const cutItems = 12
const cutDepth = 4

/** `valueNames`: names of the values of index entries. */
export function rowsOf(text: string, valueNames: readonly string[]): Rows {
  const page = at(parseJson(text), 'resource')
  const rows = listAt(page, 'data').map(element => rowOf(element, valueNames))
  return {
    rows,
    after: at(page, 'after') ?? undefined,
    before: at(page, 'before'),
    scanned: at(page, 'scanned'),
  }
}

function rowOf(element: Json, valueNames: readonly string[]): Row {
  const { ref, cells, isDocument } = cellsOf(element, valueNames)
  const shown = new Map([...cells].map(([name, value]) => [name, truncate(value, 0)]))
  return {
    ref,
    ts: isDocument ? at(element, 'ts') : undefined,
    cells: shown,
  }
}

interface Cells {
  readonly ref: RefName | undefined
  readonly cells: ReadonlyMap<string, Json>
  /** False for an entry of an index. */
  readonly isDocument: boolean
}

/** Returns the cells by column: the fields of a document's data, or the values of an index entry. */
export function cellsOf(element: Json, valueNames: readonly string[]): Cells {
  const ref = refOf(at(element, 'ref'))
  if (isMap(element) && ref) {
    const data = element.get('data')
    return { ref, cells: isMap(data) ? fieldsOf(data) : new Map(), isDocument: true }
  }
  const values = valueNames.length > 1 && Array.isArray(element) ? element : [element]
  const cells = new Map(values.map((value, at) => [valueNames[at] ?? 'value', value]))
  return { ref: refOf(element), cells, isDocument: false }
}

/** Returns the fields of an object, without the wrapper `@obj`. */
function fieldsOf(value: ReadonlyMap<string, Json>): ReadonlyMap<string, Json> {
  const inner = tagOf(value) === '@obj' ? value.get('@obj') : undefined
  return isMap(inner) ? inner : value
}

function truncate(value: Json, depth: number): Json {
  if (typeof value === 'string') return value.length > cutChars ? `${value.slice(0, cutChars)}…` : value
  if (depth > cutDepth) return '…'
  if (Array.isArray(value)) return value.slice(0, cutItems).map(item => truncate(item, depth + 1))
  if (!isMap(value)) return value
  if (refOf(value)) return value
  const members = [...value].slice(0, cutItems)
  return new Map(members.map(([name, item]) => [name.slice(0, cutChars), truncate(item, depth + 1)]))
}

const pathDepth = 3

/** Paths by dotted names, nested fields included. */
export type FieldPaths = ReadonlyMap<string, readonly string[]>

/** The most frequent first. */
export function fieldPathsOf(rows: readonly Row[]): FieldPaths {
  const paths = new Map<string, readonly string[]>(columnsOf(rows).map(name => [name, [name]]))
  const visit = (value: Json, path: readonly string[]) => {
    if (!isMap(value) || tagOf(value) !== undefined || path.length === pathDepth) return
    for (const [inner, member] of value) {
      const name = [...path, inner].join('.')
      // A field whose own name contains dots has priority.
      if (!paths.has(name)) paths.set(name, [...path, inner])
      visit(member, [...path, inner])
    }
  }
  for (const { cells } of rows) for (const [name, value] of cells) visit(value, [name])
  return paths
}

/** Top-level fields, the most frequent first. */
export function columnsOf(rows: readonly Row[]): readonly string[] {
  const counts = new Map<string, number>()
  for (const { cells } of rows) for (const name of cells.keys()) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts].sort(([, left], [, right]) => right - left).map(([name]) => name)
}
