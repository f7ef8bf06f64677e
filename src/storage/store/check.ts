// The integrity check verifies that data derived from documents agrees with the documents. For example, exactly the
// index rows that the versions of a document determine must exist. The check ignores rows that the sweeper (the
// background removal of expired data) may remove at any time.

import { epoch } from '../../base/micros.ts'
import {
  type CollectionId,
  type DatabaseId,
  firstUserCollection,
  type Micros,
  native,
  Ref,
  rootDatabase,
  unlisted,
} from '../../values/value.ts'
import { decodeKeyOf, idAt } from '../keys/key-reader.ts'
import {
  counterKey,
  documentKey,
  expiryMarkKey,
  historyRange,
  keyHomeKey,
  tagRange,
} from '../keys/keyspace.ts'
import type { View } from '../kv/kv-contract.ts'
import { parentKey, StoreCatalogue } from './catalogue.ts'
import { ChangeLogCheck } from './check-change-log.ts'
import { type CheckContext, nameRef } from './check-context.ts'
import { IndexCheck, type IndexState } from './check-indexes.ts'
import { decodeHomes } from './directory.ts'
import { rewriteKey } from './document-rewriter.ts'
import { everyDocument, scanDocuments, storedVersionsAscending } from './documents.ts'
import { expiryTime } from './expiry-marks.ts'
import { actionOfVersion } from './history-writer.ts'
import { checkReservedEnds, latestIdMs } from './id-reservation.ts'
import { idMs } from './ids.ts'
import { pendingBuildsIn } from './index-builder.ts'
import type { IndexTables, StoredVersion } from './index-tables.ts'
import { decodeTime, decodeVersion, isIntact, never, ttlOf } from './records.ts'
import { minimumValidTime, shortNatives } from './retention.ts'
import { indexesOf } from './rows.ts'
import { SchemaCache } from './schema-cache.ts'
import { schemaWriterLimits } from './schema-writer.ts'
import { noCounts, noExpiry, type Snapshot } from './snapshot.ts'
import type { CheckStep, OnCheckProgress, StoreHooks } from './store-contract.ts'
import { workOf } from './sweeper-work.ts'
import { VersionReader } from './version-reader.ts'

/** Maximum number of reported contradictions. One bug or one damaged row often causes many contradictions. */
const findingsMax = 100
/** Number of rows between two progress reports. */
const rowsPerReport = 100
/** Number of rows after which the check forgets the schemas that it has used. */
const rowsPerSchemas = 200
/** Approximate maximum size of the cached schemas. The check reads one database after the other, so few are enough. */
const schemasBytesMax = 1_000_000

/** Returns the contradictions as sentences, at most {@link findingsMax}. */
export function checkStore(
  view: View,
  hooks: StoreHooks,
  time: Micros,
  onProgress: OnCheckProgress = () => undefined,
): string[] {
  const snapshot: Snapshot = {
    view,
    time,
    commitTime: undefined,
    schemaTime: epoch,
    lastCommitTime: epoch,
    counters: noCounts(),
    expiry: noExpiry(),
  }
  const findings: string[] = []
  const report = (finding: string) => {
    if (findings.length < findingsMax) findings.push(finding)
  }
  const catalogue = new StoreCatalogue(snapshot, new SchemaCache(schemasBytesMax))
  const rows = new Map<CheckStep, number>()
  const onStep = (step: CheckStep) => {
    const count = (rows.get(step) ?? 0) + 1
    rows.set(step, count)
    if (count % rowsPerReport === 0) onProgress(step, count)
    if (count % rowsPerSchemas === 0) catalogue.forget()
  }
  try {
    const context: CheckContext = {
      snapshot,
      catalogue,
      reader: new VersionReader(catalogue, hooks),
      databases: liveDatabases(snapshot),
      garbage: new Set(Array.from(workOf(view, 'object'), ({ target }) => nameRef(target))),
      minimumOf: (database, collection) =>
        minimumValidTime(collection, catalogue.userCollection(database, collection), time),
      report,
      onStep,
    }
    new StoreCheck(context, hooks).run()
  } catch (error) {
    // A damaged row may be unreadable. The check then ends without checking the remaining rows.
    if (!(error instanceof Error)) throw error
    report(`a stored row cannot be read: ${error.message}`)
  }
  return findings
}

function liveDatabases(snapshot: Snapshot): Set<DatabaseId> {
  const databases = new Set<DatabaseId>([rootDatabase])
  for (const database of databases) {
    for (const { document } of scanDocuments(snapshot, database, native.databases)) databases.add(document.id)
  }
  return databases
}

class StoreCheck {
  readonly #context: CheckContext
  readonly #hooks: StoreHooks
  readonly #indexes: IndexCheck
  readonly #changeLog: ChangeLogCheck
  readonly #building: ReadonlySet<string>
  readonly #latestIdMs: number

  constructor(context: CheckContext, hooks: StoreHooks) {
    this.#context = context
    this.#hooks = hooks
    this.#building = new Set(pendingBuildsIn(context.snapshot.view).map(nameRef))
    this.#indexes = new IndexCheck(context, (database, collection) => this.#tablesOf(database, collection))
    this.#changeLog = new ChangeLogCheck(context)
    this.#latestIdMs = latestIdMs(context.snapshot.view)
  }

  run(): void {
    const { databases } = this.#context
    for (const database of databases) this.#checkDatabase(database)
    this.#indexes.checkRows((database, index) => this.#stateOf(database, index))
    this.#changeLog.checkLog()
    this.#checkKeyHomes()
    checkReservedEnds(this.#context.snapshot.view, this.#context.report)
  }

  #checkDatabase(database: DatabaseId): void {
    const { catalogue, report, snapshot } = this.#context
    const natives = [...Object.values(native), ...Object.values(unlisted)]
    const collections = [...natives, ...catalogue.collectionsOf(database)]
    for (const collection of collections) {
      for (const ref of everyDocument(snapshot, database, collection)) this.#checkDocument(ref)
    }
    for (const { document } of scanDocuments(snapshot, database, native.databases)) {
      const parent = snapshot.view.get(parentKey(document.id))
      if (parent === undefined || idAt(parent, 0) !== database) {
        report(`${nameRef(document)} is not recorded as a child of its database`)
      }
    }
    for (const { document } of scanDocuments(snapshot, database, native.indexes)) {
      const isBuilding = this.#building.has(nameRef(document))
      if (catalogue.index(document)?.active === false && !isBuilding) {
        report(`${nameRef(document)} is an inactive index without a build`)
      }
    }
    this.#checkCounter(database, native.collections)
    this.#checkCounter(database, native.indexes)
  }

  #checkCounter(database: DatabaseId, collection: CollectionId): void {
    const { snapshot, report } = this.#context
    const stored = snapshot.view.get(counterKey(database, collection))
    const last = stored === undefined ? 0 : decodeTime(stored)
    const [newest] = scanDocuments(snapshot, database, collection, { reverse: true })
    if (newest !== undefined && newest.document.id > last)
      report(`${nameRef(newest.document)} has a number that was never assigned`)
  }

  #checkDocument(ref: Ref): void {
    const { onStep, reader, snapshot } = this.#context
    onStep('documents')
    const versions = Array.from(storedVersionsAscending(snapshot, ref), stored => {
      if (!isIntact(stored)) this.#context.report(`${nameRef(ref)} differs from the written version`)
      this.#checkShape(ref, stored)
      return reader.read(ref, stored)
    })
    if (ref.collection >= firstUserCollection && idMs(ref.id) > this.#latestIdMs)
      this.#context.report(`${nameRef(ref)} has an id in the future that is not recorded as used`)
    this.#checkVersions(ref, versions)
    this.#indexes.checkDocument(ref, versions)
    this.#changeLog.checkDocument(ref, versions)
    checkMarks(this.#context, ref, versions)
    if (ref.collection === native.keys && versions.at(-1)?.action !== 'delete') {
      if (!decodeHomes(snapshot.view.get(keyHomeKey(ref.id))).includes(ref.database)) {
        this.#context.report(`${nameRef(ref)} is a key that is not found by its id`)
      }
    }
  }

  /** A version with an old shape (structure of fields) must belong to a collection with a pending rewrite. */
  #checkShape(ref: Ref, stored: Uint8Array): void {
    const { database, collection } = ref
    if (!this.#context.reader.isOutdated(ref, stored)) return
    if (this.#context.snapshot.view.get(rewriteKey(database, collection)) !== undefined) return
    this.#context.report(`${nameRef(ref)} has an old shape without a rewrite`)
  }

  #checkVersions(ref: Ref, versions: readonly StoredVersion[]): void {
    const { minimumOf, report, snapshot } = this.#context
    const minimum = minimumOf(ref.database, ref.collection)
    for (const [index, version] of versions.entries()) {
      const previous = versions[index - 1]
      if (previous === undefined) continue
      if (previous.ts >= version.ts) report(`${nameRef(ref)} has versions out of order at ${version.ts}`)
      // Some versions before the retained history may already have been removed.
      if (version.ts <= minimum || version.action === 'delete') continue
      if (version.action !== actionOfVersion(previous, version.ts)) {
        report(`${nameRef(ref)} has the wrong action at ${version.ts}`)
      }
    }
    const isLive = snapshot.view.get(documentKey(ref)) !== undefined
    for (const { value } of snapshot.view.range({ ...historyRange(ref), limit: 1 })) {
      const newest = decodeVersion(ref, value)
      if (!isLive && newest.action !== 'delete')
        report(`${nameRef(ref)} has no live version, but was not deleted`)
    }
    if (isLive && versions.at(-1)?.action === 'delete') report(`${nameRef(ref)} is deleted and live`)
  }

  #checkKeyHomes(): void {
    const { databases, report, snapshot } = this.#context
    for (const { key, value } of snapshot.view.range(tagRange('keyHome'))) {
      const { keyId } = decodeKeyOf('keyHome', key)
      for (const database of decodeHomes(value)) {
        const ref = new Ref(database, native.keys, keyId)
        if (databases.has(database) && snapshot.view.get(documentKey(ref)) === undefined)
          report(`${nameRef(ref)} is in the index of keys, but is not a key`)
      }
    }
  }

  /** The indexes that must contain all rows for the documents of a collection. */
  #tablesOf(database: DatabaseId, collection: CollectionId): IndexTables[] {
    const rows = { catalogue: this.#context.catalogue, hooks: this.#hooks }
    return indexesOf(rows, database, collection).filter(
      ({ keeps, number }) => keeps !== 'entries' || !this.#building.has(nameRef(indexRef(database, number))),
    )
  }

  #stateOf(database: DatabaseId, number: number): IndexState {
    if (!this.#context.databases.has(database)) return 'unreachable'
    // Smaller numbers are of built-in indexes, and greater numbers of the sets `documents(collection)`.
    const { firstIndexId, indexIdMax } = schemaWriterLimits
    if (number < firstIndexId || number > indexIdMax) return 'complete'
    const ref = indexRef(database, number)
    if (this.#building.has(nameRef(ref))) return 'building'
    if (this.#context.catalogue.index(ref) !== undefined) return 'complete'
    return this.#context.garbage.has(nameRef(ref)) ? 'unreachable' : 'unknown'
  }
}

function indexRef(database: DatabaseId, number: number): Ref {
  return new Ref(database, native.indexes, BigInt(number))
}

/** Expiry marks (expiry-marks.ts) must exist for the superseded versions of a document and for its `ttl`. */
function checkMarks(context: CheckContext, ref: Ref, versions: readonly StoredVersion[]): void {
  const { minimumOf, report, snapshot } = context
  if (ref.collection < firstUserCollection && !shortNatives.has(ref.collection)) return
  const minimum = minimumOf(ref.database, ref.collection)
  const isMarkedAt = (time: Micros) => snapshot.view.get(expiryMarkKey(ref, time)) !== undefined
  const check = (time: Micros) => {
    if (time > minimum && !isMarkedAt(time))
      report(`${nameRef(ref)} has no expiry mark for its expiry at ${time}`)
  }
  for (const [at, { action, ts }] of versions.entries()) {
    const previous = versions[at - 1]
    if (previous !== undefined && previous.action !== 'delete' && action !== 'delete') check(ts)
  }
  const newest = versions.at(-1)
  if (newest === undefined || newest.action === 'delete') return
  const ttl = ttlOf(newest.fields)
  // Version 0.2 of Terrarium wrote the expiry mark of a `ttl` that had already passed at the `ttl`. The sweeper later
  // writes the correct mark (sweeper.ts).
  if (ttl !== never && !isMarkedAt(ttl)) check(expiryTime(ttl, newest.ts))
}
