// Runs an import in three steps: the schema first, so that indexes are built while the documents are written; then the
// documents in batches; finally a check of the references whose targets were missing.

import { upsert } from '../base/upsert.ts'
import type { BatchResult, MissingReference, OnConflict, Outcome } from './batch-writer.ts'
import { type BatchOutcome, BatchSender } from './batches.ts'
import {
  type DatabasePath,
  QueryError,
  type SchemaConnection,
  type TransferConnection,
} from './connection.ts'
import { type DatabaseSchema, writeDatabaseSchema } from './database-schema.ts'
import { DocumentSet } from './document-set.ts'
import type { FieldTypes } from './field-types.ts'
import type { EmptyCells } from './formats/rows.ts'
import { addFieldTypes, type FslFile, readFsl } from './fsl.ts'
import { generatedId } from './generated-id.ts'
import type { ImportMemory } from './import-memory.ts'
import { readAll } from './input.ts'
import { isProgressValid } from './progress-check.ts'
import { type FileItem, readFileRecords, readSchemaFile } from './read-file.ts'
import { credentialsName, type DocumentRecord, locationText, TransferError } from './record.ts'
import { recordFault } from './record-check.ts'
import { documentsIn, nativeOf, neededCollection, referencesIn, referenceText } from './references.ts'
import { type Finding, findingText, Report } from './report.ts'
import { ensureDatabase, LateData, namedRecord, writeSchema } from './schema-writer.ts'
import type { SourceFile, Sources } from './sources.ts'
import { type UnmetDocument, UnmetDocuments, withoutUnmet } from './unmet-documents.ts'

export interface ImportOptions {
  /** The path below the connection's database. A missing database is created. */
  readonly database: DatabasePath
  readonly types: FieldTypes
  readonly onConflict: OnConflict
  readonly dryRun: boolean
  /** The import stops at the first bad record beyond this number. */
  readonly skipBad: number
  readonly allowIncomplete: boolean
  readonly allowShortRows: boolean
  /** The field `id` of a JSON row is the id of the document. */
  readonly hasRowIds: boolean
  /** Collection for all documents. If undefined, each document goes into the collection that it names. */
  readonly into?: string | undefined
  readonly emptyCells: EmptyCells
  /**
   * Loads the progress of an earlier attempt. `identity`: values that distinguish this import from others. `continues`:
   * whether to continue an interrupted import.
   */
  readonly remember: (identity: unknown, continues: boolean) => ImportMemory
  /** Returns the hash of a text in UTF-8. New ids are derived from it. */
  readonly sha256: (text: string) => Uint8Array
  /** Stops the import at the next record. */
  readonly signal?: AbortSignal
  /** Options that affect how the files are interpreted. */
  readonly meaning: readonly string[]
}

export type ImportConnection = SchemaConnection & Pick<TransferConnection, 'name' | 'write' | 'missing'>

export interface ImportProgress {
  readBytes: number
  totalBytes: number
  documents: number
  phase: 'schema' | 'documents' | 'references'
}

/** Throws {@link TransferError} when the import has to stop; documents already written stay in the database. */
export async function runImport(
  connection: ImportConnection,
  sources: Sources,
  options: ImportOptions,
  progress: ImportProgress,
): Promise<Report> {
  return new Importer(connection, sources, options, progress).run()
}

/**
 * Part of the identity of an import. Increase it when the meaning of the stored progress changes, so that an import
 * that an older version began starts again. Documents that were already written are then counted as equal.
 */
const progressVersion = 2

/** With several batches at once, one flush to disk can commit more than one. */
const batchesAtOnce = 4

class Importer {
  readonly #connection: ImportConnection
  readonly #sources: Sources
  readonly #options: ImportOptions
  readonly #progress: ImportProgress
  /** Distinguishes this import from others. */
  readonly #identity: unknown
  #state: ImportMemory
  #report: Report
  /** Existing collections, by the path of their database. */
  readonly #collections = new Map<string, Set<string>>()
  /** Collections that the metadata of the export list. */
  readonly #exported: ReadonlySet<string>
  readonly #lateData = new LateData()
  /** The documents that a dry run would write. */
  readonly #coming = new DocumentSet()
  #bad = 0
  #isContinued = false

  constructor(
    connection: ImportConnection,
    sources: Sources,
    options: ImportOptions,
    progress: ImportProgress,
  ) {
    this.#connection = connection
    this.#sources = sources
    this.#options = options
    this.#progress = progress
    const { database, dryRun, meaning, remember } = options
    const paths = sources.files.map(({ path }) => path)
    this.#identity = [progressVersion, connection.name, database, paths, meaning, dryRun]
    this.#state = remember(this.#identity, !dryRun)
    this.#report = this.#startReport()
    this.#exported = new Set(sources.collections.map(({ name }) => name))
  }

  /** Returns the report of the interrupted import, or an empty one. */
  #startReport(): Report {
    const report = new Report(this.#options.dryRun, this.#state.report)
    report.data.incomplete = [...this.#sources.incomplete]
    report.data.passedOver = [...this.#sources.passedOver]
    this.#bad = report.total().bad
    return report
  }

  /** Loads the progress of an interrupted import. Ignores progress that does not match the database. */
  async #continue(): Promise<void> {
    const { database, remember } = this.#options
    const { report } = this.#state
    if (report !== undefined && !(await isProgressValid(this.#connection, database, report))) {
      this.#state = remember(this.#identity, false)
      this.#report = this.#startReport()
    }
    this.#isContinued = this.#state.report !== undefined
    // From now on, the next attempt knows that this attempt may have created schema objects.
    if (!this.#isContinued) this.#state.saveReport(this.#report.data)
  }

  async run(): Promise<Report> {
    try {
      return await this.#run()
    } finally {
      // A dry run is never continued.
      if (this.#options.dryRun) this.#state.remove()
      this.#state.release()
    }
  }

  async #run(): Promise<Report> {
    const { files } = this.#sources
    const { allowIncomplete } = this.#options
    if (this.#sources.incomplete.length > 0 && !allowIncomplete) {
      const faults = this.#sources.incomplete.join('\n')
      throw new TransferError(
        `the export is incomplete (--allow-incomplete imports what is there):\n${faults}`,
      )
    }
    try {
      await this.#continue()
      await this.#writeSchema()
      this.#progress.phase = 'documents'
      this.#progress.totalBytes = files.reduce((sum, { bytes }) => sum + bytes, 0)
      // Old versions are written after the current versions.
      const documents = files.filter(({ content }) => content.kind !== 'fsl' && content.kind !== 'gql')
      for (const file of documents.filter(each => !isHistory(each))) await this.#file(file)
      await this.#retryUnmet()
      for (const file of documents.filter(isHistory)) await this.#file(file)
      await this.#retryUnmet()
      this.#report.data.schema.push(...(await this.#lateData.write(this.#connection)))
    } catch (error) {
      if (error instanceof QueryError)
        throw new TransferError(`${this.#connection.name} rejects the import: ${error.message}`)
      throw error
    }
    this.#progress.phase = 'references'
    await this.#checkReferences()
    this.#state.remove()
    return this.#report
  }

  async #writeSchema(): Promise<void> {
    const { database, dryRun } = this.#options
    const schema = new Map<string, DatabaseSchema>()
    const schemaOf = (path: DatabasePath) =>
      upsert(schema, path.join('/'), () => ({ path, records: [], files: [], graphql: [] }))
    for (const file of this.#sources.files) {
      const { files, graphql, records } = schemaOf(file.database)
      if (file.content.kind === 'gql') graphql.push(await readAll(file))
      else if (file.content.kind === 'fsl') files.push(await this.#schemaFile(file, files))
      else records.push(...(await readSchemaFile(file, this.#report)))
    }
    // Definitions in schema files take precedence over collections that the export only lists.
    for (const { database: path, name } of this.#sources.collections)
      schemaOf(path).records.unshift(namedRecord('collection', name))
    // Databases without schema objects are created, too.
    for (const path of [[], ...this.#sources.databases]) schemaOf(path)
    this.#report.data.schema = []
    // Parent databases first, because a key of a parent database may refer to a child database.
    const outermostFirst = [...schema.values()].sort((left, right) => left.path.length - right.path.length)
    for (const { files, graphql, path, records } of outermostFirst) {
      const target = [...database, ...path]
      const name = target.join('/')
      if (await ensureDatabase(this.#connection, target, dryRun))
        this.#report.data.schema.push({ database: '', kind: 'database', name, outcome: 'created' })
      const known = this.#knownIn(path)
      const distinct = [
        ...new Map(records.map(record => [`${record.object} ${record.name}`, record])).values(),
      ]
      if (distinct.length + files.length + graphql.length === 0) continue
      if (dryRun && !(await this.#exists(target))) continue
      const objects = { files, graphql, records: distinct }
      const findings = await writeDatabaseSchema(this.#connection, target, objects, dryRun)
      this.#report.data.schema.push(...findings)
      if (!dryRun) this.#lateData.add(target, distinct, findings, this.#isContinued)
      for (const { kind, name, outcome } of findings)
        if (kind === 'collection' && outcome !== 'failed') known.add(name)
    }
  }

  /** `others`: schema files of the same database that were already read. */
  async #schemaFile(file: SourceFile, others: readonly FslFile[]): Promise<FslFile> {
    const own = file.schemaName ?? (/[^/\\]*$/.exec(file.path)?.[0] ?? '').replace(/\.gz$/, '')
    const isTaken = others.some(({ name }) => name === own)
    const name = isTaken ? file.shown.replace(/[\\/]/g, '-') : own
    const read = readFsl(name, await readAll(file), file.shown)
    addFieldTypes(read.items, this.#options.types)
    return read
  }

  #knownIn(path: DatabasePath): Set<string> {
    return upsert(this.#collections, path.join('/'), () => new Set())
  }

  /** In a dry run, the target database may be missing. */
  async #exists(path: DatabasePath): Promise<boolean> {
    try {
      await this.#connection.query(path, null)
      return true
    } catch (error) {
      if (error instanceof QueryError && error.code === 'unauthorized') return false
      throw error
    }
  }

  async #ensureCollection(path: DatabasePath, name: string): Promise<void> {
    const known = this.#knownIn(path)
    if (known.has(name) || nativeOf(name) !== undefined) return
    known.add(name)
    const { database, dryRun } = this.#options
    if (dryRun) return
    const records = [namedRecord('collection', name)]
    const findings = await writeSchema(this.#connection, [...database, ...path], records, false)
    if (findings[0]?.outcome !== 'equal') this.#report.data.schema.push(...findings)
  }

  async #file(file: SourceFile): Promise<void> {
    const from = this.#state.placeOf(file)
    if (from === undefined) {
      this.#progress.readBytes += file.bytes
      return
    }
    const { allowShortRows, database, dryRun, emptyCells, hasRowIds, onConflict, types } = this.#options
    const path = [...database, ...file.database]
    // If the database is missing, a dry run has no documents for comparison.
    const isBlank = dryRun && !(await this.#exists(path))
    const sender = new BatchSender({
      // With `keep` and `replace`, batches run one at a time: of two documents with the same id, `keep` must write the
      // first and `replace` the last.
      atOnce: onConflict === 'fail' ? batchesAtOnce : 1,
      send: isBlank
        ? async records => ({
            outcomes: records.map(() => ({ kind: 'written' })),
            missing: [],
            unresolved: [],
          })
        : records => this.#connection.write(path, records, { onConflict, dryRun, checks: 'each' }),
      onResult: batch => this.#onResult(file, batch),
    })
    const items = readFileRecords(file, from, {
      notes: this.#report,
      types,
      isUserCollection: name => name !== 'Credential' && this.#exported.has(name),
      isCollection: name => this.#exported.size === 0 || this.#exported.has(name),
      hasRowIds,
      emptyCells,
      allowShortRows,
      count: bytes => {
        this.#progress.readBytes += bytes
      },
    })
    let place = from
    for await (const item of items) {
      this.#options.signal?.throwIfAborted()
      place = item.next
      await this.#item(file, item, sender)
    }
    await sender.end()
    this.#state.save(file, place, true, this.#report.data)
  }

  async #item(file: SourceFile, item: FileItem, sender: BatchSender): Promise<void> {
    const { bad, next, origin, record: found, size } = item
    const reject = async (name: string, id: string | undefined, reason: string) => {
      // The progress after the bad item includes all preceding records, so these are written first.
      await sender.end()
      const collection = shownCollection(name, file)
      this.#report.counts(collection).read++
      this.#addBad({ ...origin, collection, id, reason })
      this.#state.progress(file, next, this.#report.data)
    }
    if (bad) return reject(this.#options.into ?? bad.collection ?? file.collection, bad.id, bad.reason)
    // Schema objects were created in the schema phase.
    if (found?.kind !== 'document') return sender.extendTo(next)
    const collection = this.#options.into ?? found.collection
    const needed = referencesIn(found.fields).map(neededCollection)
    for (const name of new Set([collection, ...needed]))
      if (name !== undefined) await this.#ensureCollection(file.database, name)
    const hasNewId = found.id === undefined
    const id = found.id ?? generatedId(this.#options.sha256, collection, file.path, next.records)
    const record = { ...found, collection, id, size }
    const fault = recordFault(record)
    if (fault === undefined) await sender.add(record, { ...origin, hasNewId }, next)
    else await reject(collection, String(id), fault)
  }

  /** Records the result of a batch and the progress in its file. Throws when the import has to stop. */
  #onResult(file: SourceFile, batch: BatchOutcome): void {
    for (const [at, { collection }] of batch.records.entries()) {
      const counts = this.#report.counts(shownCollection(collection, file))
      this.#progress.documents++
      counts.read++
      if (batch.origins[at]?.hasNewId) counts.newIds++
    }
    this.#countOutcomes(file, batch)
    this.#state.progress(file, batch.place, this.#report.data)
  }

  /**
   * Counts the outcomes of documents, and stores the references that are checked later. Throws when the import has to
   * stop.
   */
  #countOutcomes(file: Pick<SourceFile, 'database'>, batch: Omit<BatchOutcome, 'place'>): void {
    const { origins, records, result } = batch
    let stop: Finding | undefined
    for (const [at, outcome] of result.outcomes.entries()) {
      const record = records[at] as DocumentRecord
      const origin = origins[at] as BatchOutcome['origins'][number]
      const collection = shownCollection(record.collection, file)
      if (outcome.kind === 'unmet')
        this.#state.addUnmet({ database: file.database, origin, record, reason: outcome.reason })
      else if (outcome.kind === 'bad' || outcome.kind === 'conflict') {
        const finding = { ...origin, collection, id: String(record.id), reason: outcome.reason }
        if (outcome.kind === 'bad') this.#addBad(finding)
        else {
          this.#report.conflict(finding)
          if (!this.#options.dryRun) stop ??= finding
        }
      } else this.#report.counts(collection)[outcome.kind]++
    }
    const { missing, unresolved } = this.#options.dryRun ? this.#simulated(file, records, result) : result
    for (const { record, what } of unresolved) {
      const { collection } = records[record] as DocumentRecord
      const origin = origins[record] as BatchOutcome['origins'][number]
      this.#report.lost(
        `a reference to ${what}, which does not exist`,
        shownCollection(collection, file),
        origin,
      )
    }
    for (const { collection, id, record } of missing) {
      const place = locationText(origins[record] as BatchOutcome['origins'][number])
      const from = shownCollection((records[record] as DocumentRecord).collection, file)
      this.#state.addReference({
        database: file.database,
        from,
        collection,
        id: String(id),
        place,
      })
    }
    if (stop) throw new TransferError(`conflict (see --on-conflict): ${findingText(stop)}`)
  }

  /**
   * Retries documents whose checks failed because other documents were missing. Runs after the current version of every
   * document has been written.
   */
  async #retryUnmet(): Promise<void> {
    const { database: top, dryRun, onConflict } = this.#options
    const write = async (documents: readonly UnmetDocument[]) => {
      this.#options.signal?.throwIfAborted()
      const { database } = documents[0] as UnmetDocument
      const records = documents.map(({ record }) => record)
      const options = { onConflict, dryRun, checks: 'together' } as const
      const result = await this.#connection.write([...top, ...database], records, options)
      this.#countOutcomes({ database }, withoutUnmet(documents, result))
      return result.outcomes.map(each => (each.kind === 'unmet' ? each.reason : undefined))
    }
    const all = () => this.#state.unmet()
    const rejected = dryRun ? this.#unmetInDryRun() : await new UnmetDocuments({ all, write }).retry()
    for (const { database, origin, reason, record } of rejected) {
      const collection = shownCollection(record.collection, { database })
      this.#addBad({ ...origin, collection, id: String(record.id), reason })
    }
    this.#state.clearUnmet(this.#report.data)
  }

  /**
   * Documents whose checks would still fail. A dry run writes nothing, so a failed check is ignored if the document
   * refers to one that a real import would have written.
   */
  #unmetInDryRun(): readonly UnmetDocument[] {
    const isComing = (document: UnmetDocument) =>
      documentsIn(document.record.fields).some(({ collection, id }) =>
        this.#coming.has(shownCollection(collection, document), id),
      )
    const rejected: UnmetDocument[] = []
    for (const document of [...this.#state.unmet()].flat()) {
      const { collection } = document.record
      if (isComing(document)) this.#report.counts(shownCollection(collection, document)).written++
      else rejected.push(document)
    }
    return rejected
  }

  /** The result that a dry run's batch would have if all preceding documents had been written. */
  #simulated(
    file: Pick<SourceFile, 'database'>,
    records: readonly DocumentRecord[],
    result: BatchResult,
  ): BatchResult {
    const missing: MissingReference[] = []
    const reported = new Set(this.#report.data.schema.map(({ kind, name }) => `${kind} ${name}`))
    for (const [record, { collection, fields, id }] of records.entries()) {
      const { kind } = result.outcomes[record] as Outcome
      if (kind === 'bad' || kind === 'expired') continue
      this.#coming.add(shownCollection(collection, file), id)
      for (const reference of referencesIn(fields)) {
        const { target } = reference
        const name = target.type === 'document' ? neededCollection(reference) : undefined
        if (target.type !== 'document' || name === undefined) continue
        reported.add(referenceText(reference))
        if (!this.#coming.has(shownCollection(name, file), target.id))
          missing.push({ record, collection: name, id: target.id })
      }
    }
    return { ...result, missing, unresolved: result.unresolved.filter(({ what }) => !reported.has(what)) }
  }

  #addBad(finding: Finding): void {
    this.#report.bad(finding)
    const { dryRun, hasRowIds, skipBad } = this.#options
    if (++this.#bad <= skipBad || dryRun) return
    const limit = skipBad === 0 ? '--skip-bad N skips N of them' : `bad record ${this.#bad}`
    const isId = !hasRowIds && finding.reason.includes('data.id: Unexpected field')
    const hint = isId ? `--row-ids uses \`id\` as the id of the document; ${limit}` : limit
    throw new TransferError(`${findingText(finding)} (${hint})`)
  }

  async #checkReferences(): Promise<void> {
    for (const references of this.#state.references()) {
      const byDatabase = Map.groupBy(references, ({ database }) => database.join('/'))
      for (const group of byDatabase.values()) {
        const database = group[0]?.database ?? []
        const path = [...this.#options.database, ...database]
        const documents = group.map(({ collection, id }) => ({ collection, id: BigInt(id) }))
        const isThere = !this.#options.dryRun || (await this.#exists(path))
        const missing = isThere ? await this.#connection.missing(path, documents) : undefined
        for (const [at, { collection, from, id, place }] of group.entries()) {
          const isComing = this.#coming.has([...database, collection].join('/'), BigInt(id))
          if ((missing?.[at] ?? true) && !isComing) this.#report.dangling(from, collection, `${place}: ${id}`)
        }
      }
    }
  }
}

/** Terrarium's exports store histories in a separate folder. */
function isHistory({ shown }: SourceFile): boolean {
  return /(?:^|[\\/])history[\\/]/.test(shown)
}

/** Formats the name of a collection for the report. */
function shownCollection(collection: string, { database }: Pick<SourceFile, 'database'>): string {
  const name = collection === credentialsName ? 'credentials' : collection
  return [...database, name].join('/')
}
