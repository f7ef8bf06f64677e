// Converts documents of an export to rows of CSV (RFC 4180) and back. The columns of a row are the members of the
// document's JSON in the format of the export (tagged or simple). A cell contains the JSON of a member, but a number
// has no tag, and a string that is not JSON itself has no quotes. An empty cell is a missing member.

import { tryJson } from '../values/json.ts'
import type { Json } from '../values/value.ts'
import { TransferError } from './record.ts'

/** Members in their order: the names, and the values as JSON. */
export type ExportMembers = ReadonlyMap<string, string>

/** An import recognizes exported rows by these first columns. */
const firstColumns = ['id', 'coll', 'ts'] as const

/** Maximum number of columns in a file. */
const columnsMax = 10_000

/** True for the columns of an export. */
export function isExportHeader(columns: readonly (string | null)[]): boolean {
  return firstColumns.every((name, at) => columns[at] === name)
}

export class CsvColumns {
  readonly #names = new Set<string>(firstColumns)

  /** Throws a TransferError if there are too many columns. */
  add(members: ExportMembers): void {
    for (const name of members.keys()) this.#names.add(name)
    if (this.#names.size <= columnsMax) return
    throw new TransferError(
      `a collection has documents with more than ${columnsMax} different fields, which is too many for CSV: export it with --files jsonl`,
    )
  }

  header(): string {
    return `${Array.from(this.#names, quoted).join()}\r\n`
  }

  row(members: ExportMembers): string {
    const cells = Array.from(this.#names, name => {
      const json = members.get(name)
      if (json === undefined) return ''
      return quoted(name === 'id' ? (JSON.parse(json) as string) : cellOf(json))
    })
    return `${cells.join()}\r\n`
  }
}

function quoted(text: string): string {
  return /[",\r\n]|^$|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

const taggedNumber = /^\{"@(?:int|long|double)":"(-?[0-9.eE+-]+)"\}$/

function cellOf(json: string): string {
  if (json.startsWith('"')) {
    const text = JSON.parse(json) as string
    return text === '' || tryJson(text) !== undefined ? json : text
  }
  return taggedNumber.exec(json)?.[1] ?? json
}

export function documentOfRow(
  columns: readonly string[],
  cells: readonly (string | null)[],
): ReadonlyMap<string, Json> {
  const members = new Map<string, Json>()
  for (const [at, name] of columns.entries()) {
    const cell = cells[at] ?? ''
    if (cell === '') continue
    const json = name === 'id' ? undefined : tryJson(cell)
    members.set(name, json === undefined ? cell : json)
  }
  return members
}
