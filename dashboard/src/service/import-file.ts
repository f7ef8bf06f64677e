// Reads a file of documents piece by piece and writes them in batches, each in one transaction: JSON lines, a JSON
// array, or CSV with a head line. A file of any size is never held whole, but for JSON arrays.

import { isMap, type Json, parseJson, type Query } from '../wire/json.ts'
import { documentRef, literal, refOf, tagOf } from '../wire/refs.ts'
import { write } from './data.ts'
import { ServiceError } from './faults.ts'

export type ImportFormat = 'lines' | 'array' | 'csv'

export interface ImportProgress {
  readonly created: number
  readonly bytesRead: number
  readonly bytes: number
  /** Those that were refused, the first ones, and why. */
  readonly refused: readonly { readonly place: string; readonly reason: string }[]
  readonly refusedCount: number
}

interface ImportOptions {
  readonly collection: string
  readonly file: File
  readonly format: ImportFormat
  /** Documents keep the ids that they have in the file. */
  readonly keepIds: boolean
  readonly onProgress: (progress: ImportProgress) => void
  readonly signal: AbortSignal
}

/** A document of the file; `fault` instead of a value for what cannot be read. */
interface Entry {
  readonly place: string
  readonly value?: Json
  readonly fault?: string
}

const batchEntries = 100
const batchChars = 500_000
const refusedMax = 50
/** A JSON array has to be held whole. */
const arrayBytesMax = 100_000_000

/** The format that a file's name and first character speak for. */
export function formatOf(file: File, beginning: string): ImportFormat {
  if (/\.csv$/i.test(file.name)) return 'csv'
  return beginning.trimStart().startsWith('[') ? 'array' : 'lines'
}

/** Imports a file; resolves with the final count. Throws what ends the import as a whole. */
export async function importFile(options: ImportOptions): Promise<ImportProgress> {
  const { file, signal, onProgress } = options
  const state = {
    created: 0,
    refused: [] as { place: string; reason: string }[],
    refusedCount: 0,
    bytesRead: 0,
  }
  const progress = () => ({ ...state, refused: [...state.refused], bytes: file.size })
  const refuse = (place: string, reason: string) => {
    state.refusedCount++
    if (state.refused.length < refusedMax) state.refused.push({ place, reason })
  }
  let batch: Entry[] = []
  let chars = 0
  const flush = async () => {
    if (batch.length === 0) return
    const entries = batch
    batch = []
    chars = 0
    state.created += await createAll(entries, options, refuse)
    onProgress(progress())
  }
  const entries = entriesOf(options, bytes => {
    state.bytesRead = bytes
  })
  for await (const entry of entries) {
    signal.throwIfAborted()
    if (entry.fault !== undefined) refuse(entry.place, entry.fault)
    else {
      batch.push(entry)
      chars += sizeOf(entry.value as Json)
    }
    if (batch.length >= batchEntries || chars >= batchChars) await flush()
  }
  await flush()
  onProgress(progress())
  return progress()
}

/** About how many characters a value takes. */
function sizeOf(value: Json): number {
  if (typeof value === 'string') return value.length
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + sizeOf(item), 2)
  if (isMap(value)) return [...value].reduce((sum, [name, item]) => sum + name.length + sizeOf(item), 2)
  return 8
}

/** Creates documents in one transaction; when that is refused, one by one, so that the good ones get in. */
async function createAll(
  entries: readonly Entry[],
  options: ImportOptions,
  refuse: (place: string, reason: string) => void,
): Promise<number> {
  const { signal } = options
  try {
    await write({ do: [...entries.map(entry => creation(entry, options)), null] }, signal)
    return entries.length
  } catch (cause) {
    const isOfDocuments =
      cause instanceof ServiceError && cause.status >= 400 && cause.status < 500 && cause.status !== 401
    if (!isOfDocuments) throw cause
    if (entries.length > 1) {
      let created = 0
      for (const entry of entries) created += await createAll([entry], options, refuse)
      return created
    }
    refuse((entries[0] as Entry).place, cause.message)
    return 0
  }
}

/** A line may be a document as an export writes it (with `ref` and `data`) or just its data. */
function creation({ value }: Entry, { collection, keepIds }: ImportOptions): Query {
  const document = value as Json
  const ref = isMap(document) ? refOf(document.get('ref')) : undefined
  const isExported = isMap(document) && ref !== undefined
  const data = isExported ? (document.get('data') ?? new Map()) : document
  const ttl = isExported ? document.get('ttl') : undefined
  const params: Query = { object: { data: literal(data), ...(ttl !== undefined && { ttl: literal(ttl) }) } }
  const target = keepIds && ref ? documentRef(collection, ref.id) : { collection }
  return { create: target, params }
}

async function* entriesOf(options: ImportOptions, onRead: (bytes: number) => void): AsyncGenerator<Entry> {
  const { file, format } = options
  if (format === 'csv') yield* csvEntries(file, onRead)
  else if (format === 'lines') {
    let number = 0
    for await (const line of linesOf(file, onRead)) {
      number++
      if (line.trim() !== '') yield entryOf(`line ${number}`, line)
    }
  } else {
    if (file.size > arrayBytesMax) {
      throw new Error(
        'This JSON array is too large for the browser. Write one document per line (JSON lines).',
      )
    }
    const text = await file.text()
    onRead(file.size)
    const array = entryOf('file', text)
    if (array.fault !== undefined) throw new Error(`The file cannot be read: ${array.fault}`)
    if (!Array.isArray(array.value)) throw new Error('The file is no JSON array.')
    for (const [at, value] of array.value.entries()) yield checked(`element ${at + 1}`, value)
  }
}

function entryOf(place: string, text: string): Entry {
  try {
    const value = parseJson(text)
    return text.trimStart().startsWith('[') ? { place, value } : checked(place, value)
  } catch (cause) {
    return { place, fault: (cause as Error).message }
  }
}

function checked(place: string, value: Json): Entry {
  const tag = tagOf(value)
  const isObject = isMap(value) && (tag === undefined || tag === '@obj')
  return isObject ? { place, value } : { place, fault: 'A document has to be an object.' }
}

async function* linesOf(file: File, onRead: (bytes: number) => void): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  const reader = file.stream().getReader()
  let held = ''
  let bytes = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    bytes += value.length
    onRead(bytes)
    const lines = (held + decoder.decode(value, { stream: true })).split('\n')
    held = lines.pop() ?? ''
    yield* lines
  }
  if (held !== '') yield held
}

/** Columns by the head line; what looks like a number, a boolean or JSON is taken for that, an empty field is left out. */
async function* csvEntries(file: File, onRead: (bytes: number) => void): AsyncGenerator<Entry> {
  const { parse } = await import('csv-parse/browser/esm/sync')
  let head: readonly string[] | undefined
  let number = 0
  for await (const record of csvRecords(file, onRead)) {
    number++
    const [fields] = parse(record, { relax_column_count: true, bom: true }) as string[][]
    if (fields === undefined) continue
    if (head === undefined) head = fields
    else yield { place: `record ${number}`, value: documentOf(head, fields) }
  }
}

/** Splits a CSV file into records: line breaks inside quotes belong to the field. */
async function* csvRecords(file: File, onRead: (bytes: number) => void): AsyncGenerator<string> {
  let record = ''
  for await (const line of linesOf(file, onRead)) {
    record = record === '' ? line : `${record}\n${line}`
    const quotes = record.split('"').length - 1
    if (quotes % 2 === 1) continue
    if (record.trim() !== '') yield record.replace(/\r$/, '')
    record = ''
  }
  if (record !== '') yield record
}

function documentOf(head: readonly string[], fields: readonly string[]): Json {
  const data = new Map<string, Json>()
  for (const [at, name] of head.entries()) {
    const text = fields[at]
    if (text !== undefined && text !== '' && name !== 'ts') data.set(name, csvValue(text))
  }
  data.delete('id')
  return data
}

function csvValue(text: string): Json {
  if (!/^(?:-?\d|true$|false$|null$|[[{])/.test(text)) return text
  try {
    return parseJson(text)
  } catch {
    return text
  }
}
