// Reads the first documents of a file with the reader of the import, and suggests types for the text columns of a
// table.

import { fileStart, readFileRecords } from '../../../src/transfer/read-file.ts'
import type { SourceDocument } from '../../../src/transfer/record.ts'
import { referenceText } from '../../../src/transfer/references.ts'
import type { SourceFile } from '../../../src/transfer/sources.ts'
import { encodeBase64 } from '../../../src/values/base64.ts'
import { formatDate } from '../../../src/values/date.ts'
import { formatTime } from '../../../src/values/time.ts'
import { Lambda, LocalDate, Time, UnresolvedRef, Uuid, type Value } from '../../../src/values/value.ts'
import { isMap, type Json } from '../wire/json.ts'
import { fieldTypesOf, type ImportPlan, type TypeName } from './import-documents.ts'

/** A document, or the reason why it cannot be imported. */
export interface PreviewRow {
  readonly line: number
  readonly id: string | undefined
  /** Collection in the document, or target collection of the file. */
  readonly collection: string
  readonly cells: ReadonlyMap<string, Json>
  readonly bad: string | undefined
}

export interface Preview {
  readonly rows: readonly PreviewRow[]
  /** Columns in the order of their first occurrence. */
  readonly columns: readonly string[]
  /** Collections in documents, without the target collection of the file. */
  readonly others: readonly string[]
  /** JSON objects have a field `id`, which the user can choose as the id of the document. */
  readonly hasRowIds: boolean
  /** The types that fit all values of a text column. */
  readonly suggested: ReadonlyMap<string, TypeName>
}

const rowsMax = 20

/** Throws `TransferError` if the file cannot be read. */
export async function previewOf(plan: ImportPlan): Promise<Preview> {
  const { allowShortRows, emptyCells, file, hasRowIds, types } = plan
  const rows: PreviewRow[] = []
  const items = readFileRecords(file, fileStart, {
    notes: { lost: () => undefined, lookalike: () => undefined },
    types: fieldTypesOf(types),
    isCollection: () => true,
    isUserCollection: () => false,
    hasRowIds,
    emptyCells,
    allowShortRows,
    count: () => undefined,
  })
  for await (const { bad, origin, record } of items) {
    const base = { line: origin.line, collection: file.collection, cells: new Map<string, Json>() }
    if (bad) rows.push({ ...base, id: bad.id, bad: bad.reason })
    if (record?.kind === 'document') rows.push(rowOf(record, base.line))
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
    // With `hasRowIds`, the field is not a column.
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

const typePatterns: readonly (readonly [type: TypeName, pattern: RegExp])[] = [
  // Digits that begin with 0 are a code, not a number.
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
      typePatterns.find(([, pattern]) =>
        values.every(value => typeof value === 'string' && pattern.test(value)),
      ) ?? []
    if (type !== undefined && values.length > 0) found.set(column, type)
  }
  return found
}

/** Describes the format and the encoding in words. */
export function contentText({ content, encoding }: SourceFile): string {
  const what =
    content.kind === 'csv'
      ? `Table separated by ${separators[content.separator] ?? content.separator}`
      : content.kind === 'json'
        ? formats[content.format]
        : 'Output of the shell'
  return `${what}, in ${encoding}`
}

const separators: Readonly<Record<string, string>> = { ',': 'commas', ';': 'semicolons', '\t': 'tabs' }

const formats: Readonly<Record<string, string>> = {
  tagged: 'Tagged export',
  simple: 'Simple export',
  driver: 'Documents printed by drivers of version 4',
  'driver of version 10': 'Documents printed by drivers of version 10',
  documents: 'Documents with their collections',
  rows: 'JSON objects, each the data of a document',
}

function wireOf(value: Value): Json {
  if (value instanceof Time) return new Map([['@ts', formatTime(value)]])
  if (value instanceof LocalDate) return new Map([['@date', formatDate(value)]])
  if (value instanceof Uuid) return new Map([['@uuid', value.text]])
  if (value instanceof Uint8Array) return new Map([['@bytes', encodeBase64(value)]])
  if (value instanceof UnresolvedRef) return new Map([['@reference', referenceText(value)]])
  if (value instanceof Lambda) return new Map([['@query', '']])
  if (Array.isArray(value)) return value.map(wireOf)
  if (value instanceof Map) return new Map([...value].map(([name, field]) => [name, wireOf(field)]))
  // Strings, numbers, booleans and null are the same in wire JSON.
  return value as Json
}
