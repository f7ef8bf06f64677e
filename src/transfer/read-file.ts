// Reads a file and converts its items to records. A file has documents (JSON or CSV), schema objects (JSON), or
// expressions of version 4 of the query language. Each item states the place after itself, where an interrupted import
// can continue.

import { CsvError, type Info } from 'csv-parse'
import { JsonSyntaxError, parseJson, tryJson } from '../values/json.ts'
import type { Json } from '../values/value.ts'
import { documentOfRow, isExportHeader } from './csv-cells.ts'
import { csvRows } from './csv-rows.ts'
import { expand, formatOf } from './detect-content.ts'
import { FieldTypes } from './field-types.ts'
import { readDriver } from './formats/driver-documents.ts'
import { readDriver10, readSimple, readTagged } from './formats/export-documents.ts'
import type { ElementContext, FormatName, ReadElement } from './formats/format.ts'
import {
  type Cell,
  type CellRules,
  type EmptyCells,
  readCells,
  readCollectionIdDocument,
  readRow,
} from './formats/rows.ts'
import { type CountBytes, readText } from './input.ts'
import { type ElementPlace, inFile, jsonElements, start, wholeText } from './json-elements.ts'
import { languageItems } from './language-items.ts'
import { BadRecord, type Notes, type RecordLocation, type SchemaRecord, type SourceRecord } from './record.ts'
import { memberOf, readId } from './references.ts'
import type { SourceFile } from './sources.ts'

/** A place between two items. An ordinary element has one item; a page has one item per document. */
export interface FilePlace extends ElementPlace {
  /** Complete elements or rows before the place. The fields of {@link ElementPlace} refer to the end of the last. */
  readonly elements: number
  /** Items of the next element before the place. */
  readonly items: number
  /** Records before the place. Generated ids are derived from this number. */
  readonly records: number
}

export const fileStart: FilePlace = { ...start, elements: 0, items: 0, records: 0 }

/**
 * Each item has its own {@link next}, because a batch can end between the documents of a page, and an interrupted
 * import continues there.
 */
export interface FileItem {
  readonly origin: RecordLocation
  /** Undefined if the item is bad, or is not imported. */
  readonly record: SourceRecord | undefined
  /** Error of a bad item, with the item's id and collection if readable. */
  readonly bad: BadItem | undefined
  /** Length of the item's text, in characters. For the items of a page, the average length. */
  readonly size: number
  readonly next: FilePlace
}

interface BadItem {
  readonly reason: string
  readonly id: string | undefined
  readonly collection: string | undefined
}

interface ReadOptions extends Omit<ElementContext, 'origin' | 'collection'> {
  readonly emptyCells: EmptyCells
  /** Rows of CSV files may have fewer cells than the header. */
  readonly allowShortRows: boolean
  readonly count: CountBytes
}

/** An element that is not parsed yet. */
interface RawElement {
  readonly line: number
  readonly size: number
  readonly next: ElementPlace
  /** Offset of the first byte. Present only for files in which a line may contain several elements. */
  readonly byte?: number
  /** Throws {@link BadRecord}. */
  readonly items: () => readonly RawItem[]
  /** The readable part of the element, to identify an element that cannot be parsed. */
  readonly json: () => Json | undefined
}

/** An item that is not converted yet. */
interface RawItem {
  /** Undefined if nothing of the item is imported. Throws {@link BadRecord}. */
  readonly read: (context: ElementContext) => SourceRecord | undefined
  /** Identifies a bad item. */
  readonly json: () => Json | undefined
}

const readers: Readonly<Record<FormatName, ReadElement>> = {
  tagged: readTagged,
  simple: readSimple,
  driver: readDriver,
  'driver of version 10': readDriver10,
  documents: readCollectionIdDocument,
  rows: readRow,
}

/** Yields the items after `from`. Throws `TransferError` at an error that prevents further reading. */
export async function* readFileRecords(
  file: SourceFile,
  from: FilePlace,
  options: ReadOptions,
): AsyncGenerator<FileItem, void, undefined> {
  // JSON files can be read from any place, other files only from the start.
  let before: ElementPlace & Pick<FilePlace, 'elements'> = file.content.kind === 'json' ? from : fileStart
  let records = from.records
  try {
    for await (const raw of rawElements(file, from, options)) {
      const next = { ...raw.next, elements: before.elements + 1 }
      if (next.elements > from.elements) {
        const { byte, line } = raw
        const place = byte !== undefined && { record: next.elements, byte }
        const origin = { file: file.shown, line, ...place }
        const items = itemsOf(raw)
        const size = Math.ceil(raw.size / items.length)
        for (let at = before.elements === from.elements ? from.items : 0; at < items.length; at++) {
          // A bad item also counts, so that the generated ids of the following items stay the same after the user
          // repairs it.
          records++
          const result = readItem(items, at, { ...options, origin, collection: file.collection })
          const isLast = at === items.length - 1
          const after = isLast ? { ...next, items: 0, records } : { ...before, items: at + 1, records }
          yield { origin, ...result, size, next: after }
        }
      }
      before = next
    }
  } catch (error) {
    throw inFile(error, file.shown)
  }
}

function rawElements(file: SourceFile, from: FilePlace, options: ReadOptions): AsyncIterable<RawElement> {
  switch (file.content.kind) {
    case 'json':
      return jsonFile(file, file.content, from, options)
    case 'csv':
      return csvFile(file, file.content.separator, options)
    default:
      return languageFile(file)
  }
}

/** Returns at least one item, so that the place after an empty page is reported, too. */
function itemsOf({ items, json }: RawElement): readonly RawItem[] {
  try {
    const found = items()
    return found.length > 0 ? found : [{ read: () => undefined, json }]
  } catch (error) {
    if (!(error instanceof BadRecord)) throw error
    const read = () => {
      throw error
    }
    return [{ read, json }]
  }
}

function readItem(
  items: readonly RawItem[],
  at: number,
  context: ElementContext,
): Pick<FileItem, 'bad' | 'record'> {
  const { json, read } = items[at] as RawItem
  try {
    const record = read(context)
    if (record !== undefined) checkTime(record)
    return { record, bad: undefined }
  } catch (error) {
    if (!(error instanceof BadRecord)) throw error
    const reason = items.length > 1 ? `document ${at + 1} of the page: ${error.message}` : error.message
    return { record: undefined, bad: { reason, ...identityOf(json()) } }
  }
}

/** Throws for a time that a JavaScript number cannot represent exactly. */
function checkTime(record: SourceRecord): void {
  if (record.kind === 'document' && record.ts !== undefined && !Number.isSafeInteger(record.ts))
    throw new BadRecord('a time that is not between 1684 and 2255', 'ts')
}

/** Returns the id and the collection of a bad item, as far as they are readable. */
function identityOf(json: Json | undefined): Pick<BadItem, 'id' | 'collection'> {
  const first = (...found: (Json | undefined)[]) =>
    found.find((each): each is string => typeof each === 'string')
  const ref = memberOf(json, 'ref', '@ref')
  const coll = memberOf(json, 'coll')
  return {
    id: first(memberOf(ref, 'id'), memberOf(json, 'id')),
    collection: first(
      coll,
      memberOf(coll, '@mod'),
      memberOf(coll, 'name'),
      memberOf(ref, 'collection', '@ref', 'id'),
      memberOf(json, 'collectionId'),
    ),
  }
}

async function* jsonFile(
  file: SourceFile,
  { byLine, format }: Extract<SourceFile['content'], { readonly kind: 'json' }>,
  from: FilePlace,
  { count }: ReadOptions,
): AsyncGenerator<RawElement> {
  const read = readers[format]
  for await (const element of jsonElements(readText(file, from.offset, count), { byLine, from })) {
    yield {
      line: element.line,
      size: element.text.length,
      next: element.next,
      ...(!byLine && { byte: element.offset }),
      items: () => jsonItems(parseElement(wholeText(element)), read),
      // In exports, id and collection come first, so the beginning of broken JSON contains them.
      json: () =>
        tryJson(element.text) ??
        tryJson(`${/^\{"id":"[0-9]+","coll":(?:"[^"\\]+"|\{[^{}]+\})/.exec(element.text)?.[0]}}`),
    }
  }
}

function jsonItems(json: Json, read: ReadElement): readonly RawItem[] {
  return expand(json).map(item => ({ read: context => read(item, context), json: () => item }))
}

function parseElement(text: string): Json {
  try {
    return parseJson(text)
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    throw new BadRecord(`broken JSON at character ${error.offset + 1} of it`)
  }
}

/** Output of the hosted service's shell: documents as values of the language, or pages of documents. */
async function* languageFile(file: SourceFile): AsyncGenerator<RawElement> {
  for await (const item of languageItems(file)) {
    const json = item.kind === 'value' ? item.json : undefined
    yield {
      line: item.line,
      size: item.size,
      next: { ...start, line: item.line },
      json: () => json,
      items() {
        if (item.kind === 'bad') throw item.reason
        return json === undefined ? [] : jsonItems(json, readDriver)
      },
    }
  }
}

async function* csvFile(
  file: SourceFile,
  separator: string,
  options: ReadOptions,
): AsyncGenerator<RawElement> {
  const rows = csvRows(readText(file, 0, options.count), separator)
  let names: readonly string[] | undefined
  let rules: CellRules | undefined
  let isExported: boolean | undefined
  try {
    for await (const { info, record } of rows) {
      if (names === undefined) {
        names = record.map(name => name ?? '')
        continue
      }
      isExported ??= isExportHeader(names) && formatOf(documentOfRow(names, record)) !== 'rows'
      if (isExported) {
        yield exportedRow(names, record, info, options)
        continue
      }
      rules ??= cellRules(names, record, options)
      const [columns, rowRules] = [names, rules]
      const json = () => (rowRules.hasIds ? new Map([['id', record[0] ?? null]]) : undefined)
      const read = (context: ElementContext) => {
        checkLength(record, columns, options.allowShortRows)
        return readCells(columns, record, rowRules, context)
      }
      yield {
        line: info.lines,
        size: sizeOf(record),
        next: { ...start, line: info.lines },
        json,
        items: () => [{ read, json }],
      }
    }
  } catch (error) {
    if (error instanceof CsvError) throw new BadRecord(error.message)
    throw error
  }
}

function exportedRow(
  names: readonly string[],
  cells: readonly Cell[],
  { lines }: Info,
  { allowShortRows }: ReadOptions,
): RawElement {
  const json = () => documentOfRow(names, cells)
  const read = (context: ElementContext) => {
    checkLength(cells, names, allowShortRows)
    const document = json()
    return readers[formatOf(document)](document, context)
  }
  return {
    line: lines,
    size: sizeOf(cells),
    next: { ...start, line: lines },
    json,
    items: () => [{ read, json }],
  }
}

function sizeOf(cells: readonly Cell[]): number {
  return cells.reduce((sum, cell) => sum + (cell?.length ?? 0), 0)
}

function checkLength(cells: readonly Cell[], names: readonly string[], allowShort: boolean): void {
  if (cells.length > names.length) throw new BadRecord(`${cells.length} cells under ${names.length} columns`)
  if (cells.length < names.length && !allowShort)
    throw new BadRecord(`${cells.length} cells under ${names.length} columns (see --allow-short-rows)`)
}

/** Derives the rules for the cells of a file from its first row. */
function cellRules(names: readonly string[], row: readonly Cell[], { emptyCells }: ReadOptions): CellRules {
  const hasIds = names[0] === 'id' && readId(row[0]) !== undefined
  // An export writes either all text cells as JSON or none, so one JSON string in the first row is sufficient.
  const allJson = row
    .slice(hasIds ? 1 : 0)
    .some(cell => cell !== null && /^".*"$/s.test(cell) && tryJson(cell) !== undefined)
  return { hasIds, allJson, emptyCells }
}

/**
 * Returns the schema objects in a file of queries, or in a JSON file that begins with a schema object. The result is
 * empty for all other files.
 */
export async function readSchemaFile(file: SourceFile, notes: Notes): Promise<readonly SchemaRecord[]> {
  const { content } = file
  const records: SchemaRecord[] = []
  if (content.kind === 'fql')
    for await (const item of languageItems(file)) if (item.kind === 'schema') records.push(item.record)
  if (content.kind !== 'json' || !content.isSchema) return records
  const items = readFileRecords(file, fileStart, {
    notes,
    types: new FieldTypes(),
    isCollection: () => true,
    isUserCollection: () => false,
    hasRowIds: false,
    emptyCells: 'empty',
    allowShortRows: true,
    count: () => undefined,
  })
  for await (const { record } of items) if (record?.kind === 'schema') records.push(record)
  return records
}
