// One transaction: reads of a snapshot with the transaction's own writes laid over it. The parts do the work
// (documents, document-writer, index-scan, catalogue, schema-writer); this file says how they go together.

import { assert } from '../base/assert.ts'
import { RequestError } from '../errors.ts'
import {
  builtinIndexes,
  documentKey,
  historyRange,
  indexTermsPrefix,
  keyHomeKey,
  metaKey,
} from '../keys/keyspace.ts'
import { prefixRange } from '../keys/prefix.ts'
import { encodeTerms, termsSize } from '../keys/terms.ts'
import type { View, Write } from '../kv/contract.ts'
import { Overlay } from '../kv/overlay.ts'
import { limits } from '../limits.ts'
import { extentOf } from '../values/extent.ts'
import {
  type CollectionId,
  type DatabaseId,
  firstUserCollection,
  type Micros,
  namedNatives,
  native,
  type ObjectValue,
  Ref,
  type Value,
} from '../values/value.ts'
import type { BindingBudget } from './binding-budget.ts'
import { type SchemaCache, StoreCatalogue } from './catalogue.ts'
import { encodeChanges, readCollectionChanges, recordSince, recordSinceKey } from './change-log.ts'
import {
  type CommittedTransaction,
  type EntryChange,
  type EntryScan,
  type EventScan,
  type IndexDefinition,
  type IndexEntry,
  type IndexEvent,
  type Transaction,
  type TransactionCounters,
  type Version,
  WriteNeeded,
} from './contract.ts'
import { namedCollections } from './definitions.ts'
import {
  checkTransactionBytes,
  DocumentWriter,
  indexRows,
  storedRows,
  type WriteContext,
} from './document-writer.ts'
import { isVisible, scanDocuments, storedVersions, storedVersionsAscending, validAt } from './documents.ts'
import { orderIsComplete } from './due-order.ts'
import { entryChanges, termsKey } from './entry-changes.ts'
import { entryDocument, entryTtl } from './entry-records.ts'
import { type IdGenerator, idMs } from './ids.ts'
import { type EntrySet, scanEntries, scanEvents } from './index-scan.ts'
import { documentsTables, type Row, type StoredVersion } from './index-tables.ts'
import { decodeHomes } from './key-homes.ts'
import type { KnownDocuments } from './known-documents.ts'
import type { KnownEntries } from './known-entries.ts'
import { encodeTime, versionAction, versionTime, versionTtl, withAction } from './records.ts'
import { checkValidTime, minimumValidTime } from './retention.ts'
import { SchemaWriter } from './schema-writer.ts'
import { isExpired, noExpiry, read, type Snapshot } from './snapshot.ts'
import { isStored } from './taken-ids.ts'
import { VersionReader } from './version-reader.ts'

/** Where the secret of the store is kept. */
const secretKeyRow = metaKey('secret key')

/** What transactions share. */
export interface TransactionParts {
  readonly schemas: SchemaCache
  readonly documents: KnownDocuments
  readonly entries: KnownEntries
  readonly ids: IdGenerator
  readonly hooks: BindingBudget
  /** Whether it is known since when changes are recorded by collection. */
  readonly record: { isBegun: boolean }
}

/** The times of one transaction. */
export interface TransactionTimes {
  /** What its reads see. */
  readonly time: Micros
  /** {@link Snapshot.schemaTime}. */
  readonly schemaTime: Micros
  /** The time of the newest commit they see. */
  readonly lastCommitTime: Micros
  /** {@link CommitRecord.givenIdsMs} of that. */
  readonly givenIdsMs: number
  /** {@link Transaction.settledTime}. */
  readonly settledTime: Micros
  /** When it commits; given to transactions that may write. Until its rows hold it elsewhere, it may still get later. */
  readonly commitTime?: Micros
  /** The time to commit at once that has to be certain, not before `commitTime`; absent: that one. */
  readonly stampTime?: () => Micros
}

interface Writers {
  readonly context: Omit<WriteContext, 'schemaWritten'>
  readonly documents: DocumentWriter
  readonly schema: SchemaWriter
}

export class StoreTransaction implements Transaction {
  readonly snapshotTime: Micros
  readonly lastCommitTime: Micros
  readonly settledTime: Micros
  readonly commitTime: Micros | undefined
  readonly catalogue: StoreCatalogue
  readonly reader: VersionReader
  readonly counters: TransactionCounters = { readBytes: 0, writeBytes: 0, writeOps: 0, indexUnits: 0 }
  readonly #snapshot: Snapshot
  readonly #parts: TransactionParts
  readonly #times: TransactionTimes
  readonly #writers: Writers | undefined
  /** The commit time, once it has gone into other values. */
  #stamped: Micros | undefined
  #editsPast = false
  readonly #knownIdsMs: number
  #givenIdsMs = 0
  /** A document is written right after its id has been drawn. */
  #lastDrawn: bigint | undefined
  /** The commit time where it becomes part of other values; undefined while only reading. */
  #stamp: (() => Micros) | undefined

  constructor(parts: TransactionParts, view: View, times: TransactionTimes) {
    const { commitTime, givenIdsMs, lastCommitTime, schemaTime, settledTime, stampTime, time } = times
    this.#parts = parts
    this.#times = times
    this.#knownIdsMs = givenIdsMs
    this.snapshotTime = time
    this.lastCommitTime = lastCommitTime
    this.settledTime = settledTime
    this.commitTime = commitTime
    const overlay = commitTime === undefined ? undefined : new Overlay(view)
    const { counters } = this
    const expiry = noExpiry()
    this.#snapshot = {
      view: overlay ?? view,
      time,
      commitTime,
      schemaTime,
      lastCommitTime,
      counters,
      expiry,
    }
    this.catalogue = new StoreCatalogue(this.#snapshot, parts.schemas)
    this.reader = new VersionReader(this.catalogue, parts.hooks)
    if (overlay !== undefined && commitTime !== undefined)
      this.#writers = this.#makeWriters(overlay, commitTime, stampTime)
  }

  #makeWriters(overlay: Overlay, commitTime: Micros, stampTime: (() => Micros) | undefined): Writers {
    const { catalogue, reader } = this
    const stamp = () => {
      this.#stamped ??= Math.max(stampTime?.() ?? commitTime, this.#parts.ids.newest)
      return this.#stamped
    }
    this.#stamp = stamp
    const { hooks } = this.#parts
    const context = { snapshot: this.#snapshot, overlay, catalogue, reader, hooks, commitTime, stamp }
    const documents: DocumentWriter = new DocumentWriter({
      ...context,
      schemaWritten: (version, journal) => schema.written(version, journal),
    })
    const schema = new SchemaWriter(context, documents)
    return { context, documents, schema }
  }

  rehearsal(): StoreTransaction {
    const times = { ...this.#times, commitTime: this.commitTime ?? this.snapshotTime + 1 }
    const rehearsal = new StoreTransaction(this.#parts, this.#snapshot.view, times)
    for (const database of this.catalogue.changed) rehearsal.catalogue.noteChange(database)
    return rehearsal
  }

  /** Whether its commit time went into other values than the times of versions and entries. */
  get isStamped(): boolean {
    return this.#stamped !== undefined
  }

  /** The earliest time that its commit may have: of all ids that were drawn, none is later. */
  get committableAt(): Micros {
    return this.#stamped ?? Math.max(this.commitTime ?? 0, this.#parts.ids.newest)
  }

  /** Whether its commit moves the schema time: what is remembered of indexes does not show what is written to the past. */
  get movesSchemaTime(): boolean {
    return this.#editsPast || this.catalogue.changed.size > 0
  }

  /** The latest time in an id that it gave to a document without drawing it, if that lies in the future; else 0. */
  get givenIdsMs(): number {
    return this.#givenIdsMs
  }

  get writable(): boolean {
    return this.#writers !== undefined
  }

  #write(): Writers {
    if (this.#writers === undefined) throw new WriteNeeded()
    return this.#writers
  }

  /** For the store's own background work, which writes below the level of documents. */
  internals(): Pick<Writers, 'context'> {
    return this.#write()
  }

  /** For the store's own background work, which reads below the level of documents. */
  get snapshot(): Snapshot {
    return this.#snapshot
  }

  /** Everything stored for a document with these versions, oldest first. */
  rowsOf(ref: Ref, versions: readonly StoredVersion[]): Iterable<Row> {
    return storedRows({ catalogue: this.catalogue, hooks: this.#parts.hooks }, ref, versions).values()
  }

  /** What indexes hold of a document with these versions, oldest first, whether they are all of its versions or not. */
  indexRowsOf(ref: Ref, versions: readonly StoredVersion[]): Iterable<Row> {
    return indexRows({ catalogue: this.catalogue, hooks: this.#parts.hooks }, ref, versions)
  }

  get(ref: Ref, at?: Micros): Version | undefined {
    if (!this.catalogue.hasCollection(ref.database, ref.collection)) return undefined
    const past = this.#past(at, [ref.collection], ref.database)
    if (past === undefined) return this.#newest(ref)
    const stored = validAt(this.#snapshot, ref, past)
    return stored !== undefined && isVisible(this.#snapshot, stored) ? this.#decode(ref, stored) : undefined
  }

  #newest(ref: Ref): Version | undefined {
    const { documents } = this.#parts
    const key = documentKey(ref)
    const known = documents.find(key, ref)
    // What a transaction that may write reads has to be noted.
    const shapeTime = this.reader.shapeTimeOf(ref)
    const isCurrent = known?.foundAt === this.lastCommitTime && !this.writable
    if (isCurrent) this.counters.readBytes += known.bytes.length
    const stored = isCurrent ? known.bytes : read(this.#snapshot, key, known?.bytes)
    if (stored === undefined || !isVisible(this.#snapshot, stored)) return undefined
    if (stored === known?.bytes && known.shapeTime === shapeTime) {
      if (!this.writable) known.foundAt = this.lastCommitTime
      return known.version
    }
    const version = this.#decode(ref, stored)
    return this.writable ? version : documents.decoded(key, stored, version, shapeTime, this.lastCommitTime)
  }

  /** What this transaction wrote keeps its placeholders. */
  #decode(ref: Ref, stored: Uint8Array): Version {
    if (this.#writers !== undefined && versionTime(stored) === this.#snapshot.commitTime) {
      const pending = this.#writers.documents.pendingVersion(ref)
      if (pending !== undefined) return pending
    }
    return this.reader.read(ref, stored)
  }

  /** The time of a read in the past, checked against retention; undefined for reads of the present. */
  #past(
    at: Micros | undefined,
    collections: readonly CollectionId[] | undefined,
    database: DatabaseId,
  ): Micros | undefined {
    if (at === undefined || at > this.snapshotTime) return undefined
    if (at === this.snapshotTime && !this.writable) return undefined
    checkValidTime(at, this.#minimumOf(database, collections))
    return at
  }

  /** The strictest minimum valid time of some collections; undefined: of all user collections. */
  #minimumOf(database: DatabaseId, collections: readonly CollectionId[] | undefined): Micros {
    let minimum = 0
    for (const collection of collections ?? this.catalogue.collectionsOf(database)) {
      minimum = Math.max(minimum, this.minimumValidTime(database, collection))
    }
    return minimum
  }

  hasWritten(database: DatabaseId, collection: CollectionId): boolean {
    return this.#write().documents.hasWritten(database, collection)
  }

  put(ref: Ref, fields: ObjectValue): Version {
    const { documents, schema } = this.#write()
    this.#noteGiven(ref)
    return ref.collection >= firstUserCollection ? documents.write(ref, fields) : schema.put(ref, fields)
  }

  delete(ref: Ref): void {
    const { documents, schema } = this.#write()
    const isIdentity = ref.collection >= firstUserCollection
    const dependents = isIdentity ? this.#credentialsOf(ref) : schema.dependents(ref)
    documents.write(ref, undefined)
    for (const dependent of dependents) this.delete(dependent)
  }

  /** A document's tokens and credentials go with it, so that a later one with the same id inherits nothing. */
  #credentialsOf(instance: Ref): Ref[] {
    return [
      ...this.#byTerm(instance.database, builtinIndexes.tokensByInstance, instance),
      ...this.#byTerm(instance.database, builtinIndexes.credentialsByInstance, instance),
    ]
  }

  insertVersion(ref: Ref, ts: Micros, fields: ObjectValue | undefined): Version {
    const { documents } = this.#write()
    assert(!namedNatives.has(ref.collection), 'the past of schema objects is not rewritten')
    this.#noteGiven(ref)
    this.#editsPast = true
    return documents.insertVersion(ref, ts, fields)
  }

  removeVersion(ref: Ref, ts: Micros, action: 'create' | 'delete'): Version | undefined {
    const minimum = this.minimumValidTime(ref.database, ref.collection)
    this.#editsPast = true
    return this.#write().documents.removeVersion(ref, ts, action, minimum)
  }

  *versions(ref: Ref, options: { readonly reverse?: boolean } = {}): Generator<Version> {
    const minimum = this.minimumValidTime(ref.database, ref.collection)
    const versions = options.reverse
      ? storedVersions(this.#snapshot, ref)
      : storedVersionsAscending(this.#snapshot, ref, minimum)
    for (const stored of versions) {
      if (versionTime(stored) > minimum) {
        yield this.#decode(ref, stored)
        continue
      }
      // The state at the minimum valid time is where the retained history begins.
      if (versionAction(stored) !== 'delete' && versionTtl(stored) > minimum)
        yield this.#decode(ref, withAction(stored, 'create'))
      if (options.reverse) return
    }
  }

  newId(): bigint {
    return this.#parts.ids.next(this.commitTime ?? this.snapshotTime)
  }

  isTaken(ref: Ref): boolean {
    const { time, view } = this.#snapshot
    if (this.#writers?.documents.hasForgotten(ref)) return true
    const ms = idMs(ref.id)
    // All that was drawn is different, and what was given to documents has times that are past, or up to this one.
    const earliestMs = Math.max(this.#knownIdsMs + 1, this.#givenIdsMs + 1, Math.floor(time / 1000))
    if (ref.collection >= firstUserCollection && ms >= earliestMs)
      view.noteAbsent?.(documentKey(ref), historyRange(ref))
    else if (isStored(view, ref)) return true
    this.#lastDrawn = ref.id
    return false
  }

  /** Ids are drawn for times from the present on: one that was given may not be there already. */
  #noteGiven({ collection, id }: Ref): void {
    if (collection < firstUserCollection || id === this.#lastDrawn) return
    const ms = idMs(id)
    if (ms >= Math.floor((this.commitTime ?? 0) / 1000)) this.#givenIdsMs = Math.max(this.#givenIdsMs, ms)
  }

  nextSchemaId(database: DatabaseId, nativeCollection: number): bigint {
    return this.#write().schema.nextSchemaId(database, nativeCollection)
  }

  match(index: IndexDefinition, terms: readonly Value[], scan: EntryScan): Iterable<IndexEntry> {
    const { database } = index.ref
    const at = this.#past(scan.at, scan.at === undefined ? [] : namedCollections(index), database)
    // What a transaction that may write reads has to be noted.
    const known = this.writable ? undefined : this.#parts.entries
    return scanEntries(this.#snapshot, this.#entrySet(index, terms), withTime(scan, at), known)
  }

  #entrySet(index: IndexDefinition, terms: readonly Value[]): EntrySet {
    const { database } = index.ref
    // Terms whose parts are shared can be small in memory and endless when they are encoded.
    const extent = extentOf(terms)
    const bytes =
      extent > 2 * limits.indexTermsBytesMax ? extent : terms.length === 0 ? 0 : termsSize(terms, this.#stamp)
    if (bytes > limits.indexTermsBytesMax) {
      throw new RequestError(
        'bad request',
        `Key bytes (${bytes}) exceeds threshold (${limits.indexTermsBytesMax})`,
      )
    }
    return {
      database,
      index: Number(index.ref.id),
      terms: encodeTerms(terms, this.#stamp),
      descending: index.values.map(value => value.reverse),
      isLive: collection => this.catalogue.hasCollection(database, collection),
    }
  }

  documents(database: DatabaseId, collection: CollectionId, scan: EntryScan): Iterable<IndexEntry> {
    if (!this.catalogue.hasCollection(database, collection)) return []
    const at = this.#past(scan.at, [collection], database)
    return scanDocuments(this.#snapshot, database, collection, withTime(scan, at))
  }

  entryChanges(
    index: IndexDefinition,
    before: Version | undefined,
    after: Version | undefined,
  ): readonly EntryChange[] {
    const { hooks } = this.#parts
    return entryChanges(index, before, after, { catalogue: this.catalogue, hooks }, this.snapshotTime)
  }

  termsKey(terms: readonly Value[]): string {
    return termsKey(terms)
  }

  matchEvents(index: IndexDefinition, terms: readonly Value[], scan: EventScan): Iterable<IndexEvent> {
    const minimum = this.#minimumOf(index.ref.database, namedCollections(index))
    return scanEvents(this.#snapshot, this.#entrySet(index, terms), scan, minimum)
  }

  documentEvents(database: DatabaseId, collection: CollectionId, scan: EventScan): Iterable<IndexEvent> {
    const set: EntrySet = {
      database,
      index: documentsTables(collection).number,
      terms: encodeTerms([]),
      descending: [],
      isLive: number => this.catalogue.hasCollection(database, number),
    }
    return scanEvents(this.#snapshot, set, scan, this.minimumValidTime(database, collection))
  }

  collectionChanges(
    database: DatabaseId,
    collection: CollectionId,
    from: Micros,
  ): Iterable<CommittedTransaction> {
    return readCollectionChanges(this.#snapshot.view, database, collection, from)
  }

  get changesSince(): Micros {
    return recordSince(this.#snapshot.view, this.lastCommitTime)
  }

  resultTime(): Micros {
    const writes = this.#writers !== undefined && !this.#writers.context.overlay.isEmpty
    return writes && this.#stamp !== undefined ? this.#stamp() : this.settledTime
  }

  /** As of `now`, at or before the time of the snapshot, when that is given. */
  minimumValidTime(database: DatabaseId, collection: CollectionId, now: Micros = this.snapshotTime): Micros {
    const definition =
      collection < firstUserCollection
        ? undefined
        : this.catalogue.collection(new Ref(database, native.collections, BigInt(collection)))
    return minimumValidTime(collection, definition, now)
  }

  credentialOf(instance: Ref): Version | undefined {
    for (const ref of this.#byTerm(instance.database, builtinIndexes.credentialsByInstance, instance)) {
      return this.get(ref)
    }
    return undefined
  }

  tokensOf(instance: Ref): readonly Version[] {
    const tokens: Version[] = []
    for (const ref of this.#byTerm(instance.database, builtinIndexes.tokensByInstance, instance)) {
      const token = this.get(ref)
      if (token !== undefined) tokens.push(token)
    }
    return tokens
  }

  accessProviderByIssuer(database: DatabaseId, issuer: string): Version | undefined {
    for (const ref of this.#byTerm(database, builtinIndexes.providersByIssuer, issuer)) return this.get(ref)
    return undefined
  }

  /** Unexpired entries of an index every database has, by document. */
  *#byTerm(database: DatabaseId, index: number, term: Value): Generator<Ref> {
    const prefix = indexTermsPrefix('live', database, index, encodeTerms([term]))
    for (const row of this.#snapshot.view.range(prefixRange(prefix))) {
      this.counters.readBytes += row.value.length
      if (!isExpired(this.#snapshot, entryTtl(row))) yield entryDocument(database, row)
    }
  }

  keyDatabases(keyId: bigint): readonly DatabaseId[] {
    return decodeHomes(read(this.#snapshot, keyHomeKey(keyId)))
  }

  secretKey(draw: () => Uint8Array): Uint8Array {
    const stored = this.#snapshot.view.get(secretKeyRow)
    if (stored !== undefined) return Uint8Array.from(stored)
    const { overlay } = this.#write().context
    const drawn = draw()
    overlay.set(secretKeyRow, drawn)
    return drawn
  }

  moveDatabase(database: Ref, parent: DatabaseId): Version {
    const { schema } = this.#write()
    const keys = Array.from(this.documents(database.database, native.keys, {}), entry => entry.document)
    return schema.moveDatabase(database, parent, keys)
  }

  /** What the transaction decided to write; empty when it wrote nothing. */
  finish(): Write[] {
    const { context, documents, schema } = this.#write()
    const { overlay, commitTime } = context
    if (overlay.isEmpty) return []
    schema.markChanged()
    const writes = overlay.writes()
    if (writes.length === 0) return []
    if (this.lastCommitTime === 0) writes.push(orderIsComplete)
    writes.push(...encodeChanges(commitTime, documents.changes()))
    const { record } = this.#parts
    // Looked for as every read is: what another commit says meanwhile makes this attempt stale.
    record.isBegun ||= context.snapshot.view.get(recordSinceKey) !== undefined
    if (!record.isBegun) writes.push({ key: recordSinceKey, value: encodeTime(this.lastCommitTime) })
    let bytes = 0
    for (const { key, value } of writes) bytes += key.length + (value?.length ?? 0)
    checkTransactionBytes(bytes)
    this.counters.writeBytes = bytes
    this.counters.writeOps = documents.writeOps()
    return writes
  }
}

function withTime(scan: EntryScan, at: Micros | undefined): EntryScan {
  if (scan.at === at) return scan
  const { at: _, ...present } = scan
  return at === undefined ? present : { ...present, at }
}
