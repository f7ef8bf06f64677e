// Reads a file of documents into records, one after another, each with the place behind it: a reader that was
// interrupted goes on there.

import { Readable } from 'node:stream'
import { CsvError, parse as csvParser, type Info } from 'csv-parse'
import { JsonSyntaxError, parseJson, tryJson } from '../values/json.ts'
import type { Json } from '../values/value.ts'
import type { FieldTypes } from './field-types.ts'
import { readDriver } from './formats/driver-documents.ts'
import { readDriver10, readSimple, readTagged } from './formats/export-documents.ts'
import type { ElementContext, FormatName, ReadElement } from './formats/format.ts'
import { type CellRules, readCells, readCollectionIdDocument, readRow } from './formats/rows.ts'
import { type CountBytes, readBytes } from './input.ts'
import { type ElementPlace, inFile, jsonElements, start, wholeText } from './json-elements.ts'
import { languageItems } from './language-files.ts'
import { expand } from './recognise.ts'
import { BadRecord, type FoundRecord, type Notes, type Origin, TransferError } from './record.ts'
import { readId } from './references.ts'
import type { SourceFile } from './sources.ts'

/** A place in a file between two records. */
export interface FilePlace extends ElementPlace {
  /** Elements, or rows, before it. */
  readonly elements: number
  /** Records made of them. */
  readonly records: number
}

/** Where a file begins. */
export const fileStart: FilePlace = { ...start, elements: 0, records: 0 }

/** What one element of a file holds. */
export interface FoundElement {
  readonly origin: Origin
  /** One, unless it is a page; none for what is passed over. */
  readonly records: readonly FoundRecord[]
  /** Why it holds none. */
  readonly bad: BadRecord | undefined
  /** The id that a bad one has, as far as that can be seen. */
  readonly badId: string | undefined
  /** Characters of its text. */
  readonly size: number
  /** Where the next one begins. */
  readonly next: FilePlace
}

interface ReadOptions {
  readonly notes: Notes
  readonly types: FieldTypes
  /** Whether a name is that of a collection of the export that is read. */
  readonly isCollection: (name: string) => boolean
  /** Whether a name is known to be that of a user's collection, though it looks like a native one. */
  readonly isUserCollection: (name: string) => boolean
  readonly emptyCells: 'null' | 'empty'
  /** Rows of CSV files may have fewer cells than the header. */
  readonly allowShortRows: boolean
  readonly count: CountBytes
}

const readers: Readonly<Record<Exclude<FormatName, 'csv'>, ReadElement>> = {
  tagged: readTagged,
  simple: readSimple,
  driver: readDriver,
  'driver of version 10': readDriver10,
  documents: readCollectionIdDocument,
  rows: readRow,
}

/** The elements of a file from a place on. Throws {@link TransferError} where it cannot be read any further. */
export async function* readFileRecords(
  file: SourceFile,
  from: FilePlace,
  options: ReadOptions,
): AsyncGenerator<FoundElement, void, undefined> {
  try {
    if (file.content.kind === 'json') yield* readJsonFile(file, file.content, from, options)
    else if (file.content.kind === 'fql') yield* readLanguageFile(file, from, options)
    else if (file.content.kind === 'csv') yield* readCsvFile(file, file.content.separator, from, options)
  } catch (error) {
    throw inFile(error, file.shown)
  }
}

async function* readJsonFile(
  file: SourceFile,
  { byLine, format }: Extract<SourceFile['content'], { readonly kind: 'json' }>,
  from: FilePlace,
  options: ReadOptions,
): AsyncGenerator<FoundElement> {
  const read = readers[format]
  const chunks = readBytes(file.path, from.offset, options.count)
  let { elements, records: made } = from
  for await (const element of jsonElements(chunks, { byLine, from })) {
    const origin = { file: file.shown, line: element.line }
    const context: ElementContext = { ...options, origin, collection: file.collection }
    const records: FoundRecord[] = []
    let bad: BadRecord | undefined
    let json: Json | undefined
    try {
      json = parseElement(wholeText(element))
      for (const each of expand(json)) records.push(...read(each, context))
    } catch (error) {
      if (!(error instanceof BadRecord)) throw error
      bad = error
      records.length = 0
    }
    elements++
    made += records.length
    const next = { ...element.next, elements, records: made }
    yield { origin, records, bad, badId: bad && idIn(json), size: element.text.length, next }
  }
}

function parseElement(text: string): Json {
  try {
    return parseJson(text)
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    throw new BadRecord(`broken JSON at character ${error.offset + 1} of it`)
  }
}

/** The id of an element that could be parsed, for the report. */
function idIn(json: Json | undefined): string | undefined {
  if (!(json instanceof Map)) return undefined
  const ref = json.get('ref')
  const inner = ref instanceof Map ? ref.get('@ref') : undefined
  const id = inner instanceof Map ? inner.get('id') : json.get('id')
  return typeof id === 'string' ? id : undefined
}

/** Output of the shell: documents as values of the language, or pages of them. */
async function* readLanguageFile(
  file: SourceFile,
  from: FilePlace,
  options: ReadOptions,
): AsyncGenerator<FoundElement> {
  let { elements, records: made } = fileStart
  for await (const item of languageItems(file)) {
    elements++
    if (elements <= from.elements) continue
    const origin = { file: file.shown, line: item.line }
    const context: ElementContext = { ...options, origin, collection: file.collection }
    const records: FoundRecord[] = []
    let bad: BadRecord | undefined
    try {
      if (item.kind === 'bad') throw item.reason
      if (item.kind === 'value')
        for (const each of expand(item.json)) records.push(...readDriver(each, context))
    } catch (error) {
      if (!(error instanceof BadRecord)) throw error
      bad = error
      records.length = 0
    }
    made += records.length
    const next = { offset: 0, line: item.line, open: 0, elements, records: made }
    const badId = bad && item.kind === 'value' ? idIn(item.json) : undefined
    yield { origin, records, bad, badId, size: item.size, next }
  }
}

interface CsvRow {
  readonly record: readonly string[]
  readonly info: Info
}

async function* readCsvFile(
  file: SourceFile,
  separator: string,
  from: FilePlace,
  options: ReadOptions,
): AsyncGenerator<FoundElement> {
  const parser = csvParser({
    bom: true,
    delimiter: separator,
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
  })
  const bytes = Readable.from(readBytes(file.path, 0, options.count), { objectMode: false })
  bytes.on('error', error => parser.destroy(error))
  const rows: AsyncIterable<CsvRow> = bytes.pipe(parser)
  let names: readonly string[] | undefined
  let rules: CellRules | undefined
  let elements = 0
  try {
    for await (const { info, record } of rows) {
      if (names === undefined) {
        names = record
        continue
      }
      rules ??= cellRules(names, record, options)
      elements++
      if (elements <= from.elements) continue
      const origin = { file: file.shown, line: info.lines }
      const context: ElementContext = { ...options, origin, collection: file.collection }
      const records: FoundRecord[] = []
      let bad: BadRecord | undefined
      try {
        checkLength(record, names, options.allowShortRows)
        records.push(readCells(names, record, rules, context))
      } catch (error) {
        if (!(error instanceof BadRecord)) throw error
        bad = error
      }
      const next = { offset: 0, line: info.lines, open: 0, elements, records: elements }
      const size = record.reduce((sum, cell) => sum + cell.length, 0)
      yield { origin, records, bad, badId: bad && rules.hasIds ? record[0] : undefined, size, next }
    }
  } catch (error) {
    if (error instanceof CsvError) throw new TransferError(`${file.shown}: ${error.message}`)
    throw error
  }
}

function checkLength(cells: readonly string[], names: readonly string[], allowShort: boolean): void {
  if (cells.length > names.length) throw new BadRecord(`${cells.length} cells under ${names.length} columns`)
  if (cells.length < names.length && !allowShort)
    throw new BadRecord(`${cells.length} cells under ${names.length} columns (see --allow-short-rows)`)
}

/** How the cells of a file are meant, by its first row. */
function cellRules(names: readonly string[], row: readonly string[], { emptyCells }: ReadOptions): CellRules {
  const hasIds = names[0] === 'id' && readId(row[0]) !== undefined
  // Scripts that write texts as JSON write every cell so.
  const allJson = row.slice(hasIds ? 1 : 0).some(cell => /^".*"$/s.test(cell) && tryJson(cell) !== undefined)
  return { hasIds, allJson, emptyCells }
}
