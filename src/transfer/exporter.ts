// Exports the whole content of a database as of one time, in the layout of the exports of Fauna's hosted service.
// Additional folders contain data that the hosted service's exports omitted: schema, keys, child databases and
// optionally the history.

import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { formatMicros } from '../values/time.ts'
import type { Micros } from '../values/value.ts'
import type { DatabasePath, TransferConnection } from './connection.ts'
import { CsvColumns } from './csv-cells.ts'
import { CollectionFiles, type FileOptions } from './export-files.ts'
import { folderPaths } from './export-paths.ts'
import { type DocumentFormat, ExportPrinter } from './export-text.ts'
import { type ExportPage, firstPlace, type PagePlace } from './read-page.ts'
import { credentialsName, type DocumentRecord, TransferError } from './record.ts'
import { type DocumentShapes, type ExportSchema, readSchema, readShapes } from './schema-reader.ts'

export interface ExportOptions extends FileOptions {
  readonly database: DatabasePath
  readonly format: DocumentFormat
  readonly history: boolean
  /**
   * Undefined: the current time. For a time in the past, only documents are exported, because other objects have little
   * or no history.
   */
  readonly at?: Micros | undefined
  /** Exports only the documents of these collections. If empty or undefined, everything is exported. */
  readonly collections?: readonly string[] | undefined
  /** Digits that identify this export. */
  readonly id: string
}

/** `readBytes` and `totalBytes` count collections. */
export interface ExportProgress {
  readBytes: number
  totalBytes: number
  documents: number
  phase: string
}

/** A summary for the user, after an export has ended. */
interface ExportSummary {
  readonly at: Micros
  documents: number
  databases: number
  /** Values that the format cannot express, with the number of occurrences. */
  readonly lost: Map<string, number>
}

/** Exports to a new folder, which has a temporary name until it is complete. Throws {@link TransferError}. */
export async function runExport(
  connection: TransferConnection,
  folder: string,
  options: ExportOptions,
  progress: ExportProgress,
): Promise<ExportSummary> {
  if ((await readdir(folder).catch(() => [])).length > 0)
    throw new TransferError(`the folder ${folder} is not empty`)
  const temporary = `${folder}.partial-${options.id}`
  try {
    const snapshot = await connection.snapshot(options.database)
    const { at = snapshot.at, collections = [], database } = options
    if (at > snapshot.at) throw new TransferError(`the time ${formatMicros(at)} is in the future`)
    const exported: ExportSummary = { at, documents: 0, databases: 0, lost: new Map() }
    const exporter = new Exporter(connection, options, progress, exported)
    if (options.at === undefined && collections.length === 0) {
      await exporter.readSchemas(database)
      await exporter.database(database, temporary)
    } else await exporter.documents(database, temporary, snapshot.collections)
    await rm(folder, { recursive: true, force: true })
    await rename(temporary, folder)
    return exported
  } catch (cause) {
    await rm(temporary, { recursive: true, force: true })
    throw cause
  }
}

/** Collection of password hashes in exports. */
const credentialsFolder = 'Credential'

interface WrittenFiles {
  readonly files: number
  readonly bytes: number
}

function shownDatabase(path: DatabasePath): string {
  return path.join('/') || 'the root database'
}

function isLater(next: PagePlace, place: PagePlace): boolean {
  const [to, from] = [orderOf(next), orderOf(place)]
  const at = to.findIndex((value, index) => value !== from[index])
  return at >= 0 && (to[at] as bigint) > (from[at] as bigint)
}

/** Returns numbers that order the places of an export as the pages do. */
function orderOf(place: PagePlace): readonly (bigint | number)[] {
  if (place.part === 'versions') return [...orderOf(place.of).slice(0, 3), place.after]
  // Pages contain the older versions of a document before they reach the place after the document.
  const end = Number.POSITIVE_INFINITY
  return place.part === 'live'
    ? [0, 0, place.after === undefined ? -1n : BigInt.asUintN(64, place.after), end]
    : [1, place.after, BigInt.asUintN(64, place.id), end]
}

class Exporter {
  readonly #connection: TransferConnection
  readonly #options: ExportOptions
  readonly #progress: ExportProgress
  readonly #exported: ExportSummary
  /** Schemas by path of the database. All are read before the documents, because schema files have no history. */
  readonly #schemas = new Map<string, ExportSchema>()

  constructor(
    connection: TransferConnection,
    options: ExportOptions,
    progress: ExportProgress,
    exported: ExportSummary,
  ) {
    this.#connection = connection
    this.#options = options
    this.#progress = progress
    this.#exported = exported
  }

  /** Reads the schemas of a database and of its descendants. */
  async readSchemas(path: DatabasePath): Promise<void> {
    const schema = await readSchema(this.#connection, path, this.#exported.at)
    this.#schemas.set(path.join('/'), schema)
    for (const child of schema.children) await this.readSchemas([...path, child])
  }

  /** Exports a database and its descendants, after {@link readSchemas}. */
  async database(path: DatabasePath, folder: string): Promise<void> {
    const { children, files, shapes } = this.#schemas.get(path.join('/')) as ExportSchema
    const { collections } = await this.#connection.snapshot(path)
    if (collections.includes(credentialsFolder))
      throw new TransferError(
        `the collection ${credentialsFolder} of ${shownDatabase(path)} cannot be exported: exports keep the hashes of passwords under this name`,
      )
    await this.#data(path, folder, [credentialsName, ...collections], shapes)
    for (const { file, text } of files) {
      const target = join(folder, 'schema', file)
      await mkdir(dirname(target), { recursive: true })
      await writeFile(target, text, { mode: 0o600, flag: 'wx' })
    }
    for (const [child, step] of folderPaths(children))
      await this.database([...path, child], join(folder, 'databases', step))
  }

  /** Exports the collections in the options, or all `known` ones if the options name none. */
  async documents(path: DatabasePath, folder: string, known: readonly string[]): Promise<void> {
    const { collections = [] } = this.#options
    const unknown = collections.find(name => !known.includes(name))
    if (unknown !== undefined)
      throw new TransferError(`there is no collection ${unknown} in ${shownDatabase(path)}`)
    const wanted = known.filter(name => collections.length === 0 || collections.includes(name))
    await this.#data(path, folder, wanted, await readShapes(this.#connection, path))
  }

  /** Exports documents with the metadata. `shapes`: the shapes of the documents before the export. */
  async #data(
    path: DatabasePath,
    folder: string,
    names: readonly string[],
    shapes: DocumentShapes,
  ): Promise<void> {
    this.#exported.databases++
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const shown = names.map(name => (name === credentialsName ? credentialsFolder : name))
    const folders = folderPaths(shown)
    this.#progress.totalBytes += names.length
    this.#progress.phase = path.join('/')
    const written = { files: 0, bytes: 0 }
    for (const name of names) {
      const { bytes, files } = await this.#collection(path, folder, name, folders)
      written.files += files
      written.bytes += bytes
      this.#progress.readBytes++
    }
    await this.#rejectChangedShapes(path, shapes)
    await writeFile(join(folder, 'metadata_00.json'), this.#metadata(shown, written), { mode: 0o600 })
  }

  /**
   * Throws if the fields of a collection have changed since `before` was read. Reads of past versions use the current
   * fields, too, so the export would contain documents with different fields.
   */
  async #rejectChangedShapes(path: DatabasePath, before: DocumentShapes): Promise<void> {
    const now = await readShapes(this.#connection, path)
    const changed = [...before].find(([name, shape]) => now.has(name) && now.get(name) !== shape)
    if (changed === undefined) return
    throw new TransferError(
      `the fields of the collection ${changed[0]} of ${shownDatabase(path)} were changed while it was exported: export it again`,
    )
  }

  async #collection(
    path: DatabasePath,
    folder: string,
    collection: string,
    folders: ReadonlyMap<string, string>,
  ): Promise<WrittenFiles> {
    const { format, history } = this.#options
    const name = collection === credentialsName ? credentialsFolder : collection
    const step = folders.get(name) as string
    const onLost = (what: string) => {
      const key = `${what} (${name})`
      this.#exported.lost.set(key, (this.#exported.lost.get(key) ?? 0) + 1)
    }
    const hasHistory = history && collection !== credentialsName
    const isCsv = this.#options.fileFormat === 'csv'
    // The first line of a CSV file contains the fields of all documents, so the documents are read twice.
    const columns = isCsv ? await this.#columns(path, collection, hasHistory) : undefined
    const files = (top: string, rows: CsvColumns | undefined) =>
      new CollectionFiles(join(folder, top, 'collections'), step, this.#options, rows?.header())
    const present = files('data', columns?.present)
    const past = files('history', columns?.past)
    const printer = new ExportPrinter(format, onLost)
    const textOf = (record: DocumentRecord) => {
      const rows = record.isHistory ? columns?.past : columns?.present
      return rows === undefined ? printer.document(record) : rows.row(printer.members(record))
    }
    for await (const records of this.#pages(path, collection, hasHistory)) {
      const current = records.filter(({ isHistory }) => !isHistory)
      await present.add(current.map(textOf))
      await past.add(records.filter(({ isHistory }) => isHistory).map(textOf))
      this.#exported.documents += current.length
      this.#progress.documents += current.length
    }
    await present.close()
    await past.close()
    return present.written
  }

  /** Returns the columns of the present documents, and of the versions in the history. */
  async #columns(path: DatabasePath, collection: string, history: boolean) {
    const columns = { present: new CsvColumns(), past: new CsvColumns() }
    const printer = new ExportPrinter(this.#options.format, () => undefined)
    for await (const records of this.#pages(path, collection, history))
      for (const record of records)
        (record.isHistory ? columns.past : columns.present).add(printer.members(record))
    return columns
  }

  async *#pages(
    path: DatabasePath,
    collection: string,
    history: boolean,
  ): AsyncGenerator<readonly DocumentRecord[]> {
    let place: PagePlace | undefined = firstPlace
    while (place !== undefined) {
      const request = { collection, at: this.#exported.at, place, history }
      const page: ExportPage = await this.#connection.page(path, request)
      yield page.records
      // Without this check, the export from another program could run without an end. Only the last page may be empty.
      const isValid = page.next === undefined || (page.records.length > 0 && isLater(page.next, place))
      if (!isValid)
        throw new TransferError(
          `${this.#connection.name} cannot be used: its pages of ${collection} do not end`,
        )
      place = page.next
    }
  }

  #metadata(collections: readonly string[], written: WrittenFiles): string {
    const { fileFormat, format, gzip, id } = this.#options
    const extension = `${fileFormat}${gzip ? '.gz' : ''}`
    return `${JSON.stringify(
      {
        host_id: 'terrarium',
        account_id: '0',
        export_id: id,
        task_id: id,
        collections: [...collections].sort(),
        snapshot_ts: formatMicros(this.#exported.at),
        doc_format: format,
        datafile_format: fileFormat,
        datafile_compression: gzip,
        datafile_ext: extension,
        part: 0,
        total_parts: 1,
        files_count: written.files,
        files_bytes: written.bytes,
      },
      null,
      2,
    )}\n`
  }
}
