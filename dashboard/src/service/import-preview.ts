// The first documents of a file as they would be stored, read by the reader that will import it; and the types that the
// texts of a table look like.

import { fileStart, readFileRecords } from '../../../src/transfer/read-file.ts'
import type { SourceDocument } from '../../../src/transfer/record.ts'
import type { SourceFile } from '../../../src/transfer/sources.ts'
import { isMap, type Json } from '../wire/json.ts'
import { wireOf } from '../wire/stored.ts'
import { fieldTypesOf, type ImportPlan, type TypeName } from './import-documents.ts'

/** A document, or why there is none. */
export interface PreviewRow {
  readonly line: number
  readonly id: string | undefined
  /** Of what the document says itself, else the one that the file is imported into. */
  readonly collection: string
  readonly cells: ReadonlyMap<string, Json>
  readonly bad: string | undefined
}

export interface Preview {
  readonly rows: readonly PreviewRow[]
  /** Names of fields, in the order in which they come. */
  readonly columns: readonly string[]
  /** Collections that documents say they are of, other than the one imported into. */
  readonly others: readonly string[]
  /** Objects of JSON that have a field `id`, which may be meant as the id of the document. */
  readonly hasRowIds: boolean
  /** Types that every text of a column could be read as. */
  readonly suggested: ReadonlyMap<string, TypeName>
}

const rowsMax = 20

/** Reads the beginning of a file. Throws `TransferError` where it cannot be read. */
export async function previewOf(plan: ImportPlan): Promise<Preview> {
  const { allowShortRows, emptyCells, file, hasRowIds, types } = plan
  const rows: PreviewRow[] = []
  const elements = readFileRecords(file, fileStart, {
    notes: { lost: () => undefined, lookalike: () => undefined },
    types: fieldTypesOf(types),
    isCollection: () => true,
    isUserCollection: () => false,
    hasRowIds,
    emptyCells,
    allowShortRows,
    count: () => undefined,
  })
  for await (const { bad, origin, records } of elements) {
    const base = { line: origin.line, collection: file.collection, cells: new Map<string, Json>() }
    if (bad) rows.push({ ...base, id: bad.id, bad: bad.reason })
    for (const record of records) if (record.kind === 'document') rows.push(rowOf(record, base.line))
    if (rows.length >= rowsMax) break
  }
  const columns = [...new Set(rows.flatMap(({ cells }) => [...cells.keys()]))]
  const others = [...new Set(rows.map(({ collection }) => collection))].filter(
    name => name !== file.collection,
  )
  const isRows = file.content.kind === 'json' && file.content.format === 'rows'
  return {
    rows,
    columns,
    others,
    hasRowIds: isRows && (hasRowIds || columns.includes('id')),
    suggested: suggestions(rows, columns),
  }
}

function rowOf({ collection, fields, id }: SourceDocument, line: number): PreviewRow {
  const data = wireOf(fields.get('data') ?? new Map())
  return {
    line,
    id: id === undefined ? undefined : String(id),
    collection,
    cells: isMap(data) ? data : new Map(),
    bad: undefined,
  }
}

const looks: readonly (readonly [type: TypeName, pattern: RegExp])[] = [
  // A number that begins with 0 is a code to be kept.
  ['long', /^-?(?:0|[1-9]\d{0,17})$/],
  ['double', /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/],
  ['bool', /^(?:true|false)$/i],
  ['time', /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)$/],
  ['date', /^\d{4}-\d\d-\d\d$/],
]

function suggestions(rows: readonly PreviewRow[], columns: readonly string[]): ReadonlyMap<string, TypeName> {
  const found = new Map<string, TypeName>()
  for (const column of columns) {
    const values = rows.flatMap(({ cells }) => {
      const value = cells.get(column)
      return value === undefined || value === null || value === '' ? [] : [value]
    })
    const [type] =
      looks.find(([, pattern]) => values.every(value => typeof value === 'string' && pattern.test(value))) ??
      []
    if (type !== undefined && values.length > 0) found.set(column, type)
  }
  return found
}

/** What a file holds, in words. */
export function contentText({ content, encoding }: SourceFile): string {
  const what =
    content.kind === 'csv'
      ? `A table, its cells separated by ${separators[content.separator] ?? content.separator}`
      : content.kind === 'json'
        ? formats[content.format]
        : 'What the shell prints'
  return `${what}, in ${encoding}`
}

const separators: Readonly<Record<string, string>> = { ',': 'commas', ';': 'semicolons', '\t': 'tabs' }

const formats: Readonly<Record<string, string>> = {
  tagged: 'A tagged export',
  simple: 'A simple export',
  driver: 'Documents as drivers of version 4 print them',
  'driver of version 10': 'Documents as drivers of version 10 print them',
  documents: 'Documents with their collections',
  rows: 'Objects of JSON, each the data of a document',
}
