// A transaction reads the state in its snapshot, and its own writes. A reader of the past reads the state at a time
// before its snapshot: it ignores later commits, but uses the present schemas.

import type { CpuBudget } from '../../base/admission/time-budget.ts'
import { byteText } from '../../base/byte-text.ts'
import { limits } from '../../base/limits.ts'
import { endOfTime, micros } from '../../base/micros.ts'
import { extentOf } from '../../values/extent.ts'
import {
  type CollectionId,
  type DatabaseId,
  type Micros,
  native,
  Ref,
  type Value,
} from '../../values/value.ts'
import { documentKey } from '../keys/keyspace.ts'
import { encodeTerms, termsSize } from '../keys/terms.ts'
import type { View } from '../kv/kv-contract.ts'
import type { RecentWrites } from '../kv/recent-writes.ts'
import { StoreCatalogue } from './catalogue.ts'
import { readCollectionChanges, recordSince } from './change-log.ts'
import { StoreDirectory } from './directory.ts'
import type { DocumentCache } from './document-cache.ts'
import {
  everyDocument,
  idMax,
  isVisible,
  scanDocuments,
  storedVersions,
  storedVersionsAscending,
  validAt,
} from './documents.ts'
import type { EntryCache } from './entry-cache.ts'
import { documentsBelow } from './id-distribution.ts'
import type { IdGenerator } from './ids.ts'
import { type IndexDefinition, namedCollections } from './index-definition.ts'
import { keyTooLong } from './index-entries.ts'
import { type EntrySet, scanEntries } from './index-scan.ts'
import { documentsTables, entryChanges, userIndex } from './index-tables.ts'
import { RecordedEvents } from './recorded-events.ts'
import { versionAction, versionTime, versionTtl, withAction } from './records.ts'
import { checkValidTime, minimumValidTime } from './retention.ts'
import type { SchemaCache } from './schema-cache.ts'
import { entryEvents, storedEvents } from './set-events.ts'
import { isExpired, noCounts, noExpiry, read, type Snapshot } from './snapshot.ts'
import type {
  CommittedTransaction,
  EntryChange,
  EntryScan,
  EventScan,
  IndexEntry,
  IndexEvent,
  StoredSize,
  StoreHooks,
  TransactionCounters,
  Version,
  VersionScan,
} from './store-contract.ts'
import { sizeOfCollection, sizeOfIndex } from './stored-size.ts'
import { isRevoked, revocationRef } from './token-revocation.ts'
import { VersionReader } from './version-reader.ts'

/** Parts of all transactions of one store. */
export interface TransactionParts {
  readonly schemas: SchemaCache
  readonly documents: DocumentCache
  readonly entries: EntryCache
  readonly hooks: StoreHooks
  /** Time limit for the bindings (computed index fields) of one document. */
  readonly bindingBudget: CpuBudget
  readonly ids: IdGenerator
  /** Commits of this process. */
  readonly recent: RecentWrites
  /** `isBegun`: the store is known to contain the start time of the change record (change-log.ts). */
  readonly changeRecord: { isBegun: boolean }
}

export interface TransactionTimes {
  /** See {@link Snapshot.time}. */
  readonly time: Micros
  /** See {@link Snapshot.schemaTime}. */
  readonly schemaTime: Micros
  /** The newest commit in the snapshot. */
  readonly lastCommitTime: Micros
  /** See `CommitRecord.chosenIdsMs`. */
  readonly chosenIdsMs: number
  /** See `Transaction.readTimestamp`. */
  readonly readTimestamp: Micros
  /**
   * Undefined for a transaction that cannot write. If no written value contains this time, the commit may get a later
   * time.
   */
  readonly commitTime?: Micros
  /**
   * Called when a written value will contain the commit time. Returns the final commit time, at or after `commitTime`.
   * If undefined, `commitTime` is final.
   */
  readonly stampTime?: () => Micros
  /** The past time at which the transaction reads the store; by default the state in the snapshot. */
  readonly past?: Micros
}

export abstract class StoreReader {
  readonly snapshotTime: Micros
  readonly lastCommitTime: Micros
  readonly readTimestamp: Micros
  readonly catalogue: StoreCatalogue
  readonly counters: TransactionCounters
  readonly directory: StoreDirectory
  /** The snapshot for code of the store that reads rows instead of documents. */
  readonly snapshot: Snapshot
  protected readonly versionReader: VersionReader
  protected readonly parts: TransactionParts
  protected readonly times: TransactionTimes
  /** The commit time for use in a written value. It is final after this call. */
  protected abstract readonly stamp: () => Micros
  readonly #isPast: boolean

  constructor(
    parts: TransactionParts,
    view: View,
    times: TransactionTimes,
    counters: TransactionCounters = noCounts(),
  ) {
    const { commitTime, lastCommitTime, past, schemaTime, readTimestamp, time } = times
    this.parts = parts
    this.times = times
    this.#isPast = past !== undefined
    this.snapshotTime = past ?? time
    this.lastCommitTime = past ?? lastCommitTime
    this.readTimestamp = past ?? readTimestamp
    this.counters = counters
    const expiry = noExpiry()
    this.snapshot = { view, time, commitTime, schemaTime, lastCommitTime, counters, expiry }
    this.catalogue = new StoreCatalogue(this.snapshot, parts.schemas)
    this.versionReader = new VersionReader(this.catalogue, parts.hooks)
    this.directory = new StoreDirectory(this, this.snapshot)
  }

  get writable(): boolean {
    return this.snapshot.commitTime !== undefined
  }

  get(ref: Ref, at?: number): Version | undefined {
    const version = this.#get(ref, at)
    if (ref.collection !== native.tokens || version === undefined) return version
    const instance = version.fields.get('instance')
    if (!(instance instanceof Ref)) return version
    const revocations = this.#get(revocationRef(instance), at)
    return revocations !== undefined && isRevoked(version, instance, revocations.fields) ? undefined : version
  }

  #get(ref: Ref, at?: number): Version | undefined {
    if (!this.catalogue.hasCollection(ref.database, ref.collection)) return undefined
    const past =
      at === undefined && !this.#isPast ? undefined : this.#past(at, [ref.collection], ref.database)
    if (past === undefined) return this.#newest(ref)
    if (!this.#isPast) {
      const { readBytes } = this.counters
      const newest = this.#newest(ref)
      // The newest version is not newer than `past`, so it is also the version at `past`.
      if (typeof newest?.ts === 'number' && newest.ts <= past) return newest
      this.counters.readBytes = readBytes
    }
    const stored = validAt(this.snapshot, ref, past)
    return stored !== undefined && isVisible(this.snapshot, stored) ? this.decode(ref, stored) : undefined
  }

  #newest(ref: Ref): Version | undefined {
    const { documents } = this.parts
    const cached = documents.find(ref)
    const shapeTime = this.versionReader.shapeTimeOf(ref)
    // A transaction that may write must read the row, so that the row is in its read set.
    const mayUseCache = !this.writable
    if (mayUseCache && cached?.validAtCommit === this.lastCommitTime && cached.shapeTime === shapeTime) {
      this.counters.readBytes += cached.size
      return isExpired(this.snapshot, cached.ttl) ? undefined : cached.version
    }
    if (mayUseCache && cached === undefined && documents.isAbsent(ref, this.lastCommitTime)) return undefined
    const stored = read(this.snapshot, documentKey(ref), cached?.bytes)
    if (stored === undefined) {
      if (mayUseCache) documents.addAbsent(ref, this.lastCommitTime)
      return undefined
    }
    if (!isVisible(this.snapshot, stored)) return undefined
    if (stored === cached?.bytes && cached.shapeTime === shapeTime) {
      if (mayUseCache) cached.validAtCommit = this.lastCommitTime
      return cached.version
    }
    const version = this.decode(ref, stored)
    return mayUseCache ? documents.add(stored, version, shapeTime, this.lastCommitTime) : version
  }

  /** Migrates the version to the present shape (structure of fields) of its collection. */
  protected decode(ref: Ref, stored: Uint8Array): Version {
    return this.versionReader.read(ref, stored)
  }

  /** The past time at which to read, if any. Throws a RequestError if it is before the retained history. */
  #past(
    at: number | undefined,
    collections: readonly CollectionId[] | undefined,
    database: DatabaseId,
  ): Micros | undefined {
    const readTime = this.#isPast ? Math.min(at ?? this.snapshotTime, this.snapshotTime) : at
    const present = this.snapshot.time
    // The state at `present` does not include the writes of this transaction.
    if (readTime === undefined || readTime > present || (readTime === present && !this.writable))
      return undefined
    checkValidTime(readTime, this.#minimumOf(database, collections))
    return micros(readTime)
  }

  /** The latest start of the retained history among `collections`, or all user collections. */
  #minimumOf(database: DatabaseId, collections: readonly CollectionId[] | undefined): Micros {
    let minimum = 0
    for (const collection of collections ?? this.catalogue.collectionsOf(database)) {
      minimum = Math.max(minimum, this.minimumValidTime(database, collection))
    }
    return micros(minimum)
  }

  *versions(ref: Ref, { notAfter, notBefore, reverse }: VersionScan = {}): Generator<Version> {
    const minimum = this.minimumValidTime(ref.database, ref.collection)
    const retained = (time: Micros) => micros(Math.max(time, minimum))
    const latest = this.#isPast ? micros(Math.min(notAfter ?? endOfTime, this.snapshotTime)) : notAfter
    const versions = reverse
      ? storedVersions(this.snapshot, ref, latest === undefined ? undefined : retained(latest))
      : storedVersionsAscending(this.snapshot, ref, retained(notBefore ?? minimum))
    for (const stored of versions) {
      if (this.#isPast && versionTime(stored) > this.snapshotTime) {
        if (reverse) continue
        return
      }
      if (versionTime(stored) > minimum) {
        yield this.decode(ref, stored)
        continue
      }
      // The retained history begins with the state at the minimum valid time.
      if (versionAction(stored) !== 'delete' && versionTtl(stored) > minimum)
        yield this.decode(ref, withAction(stored, 'create'))
      if (reverse) return
    }
  }

  indexSize(index: Ref, rowsMax: number, after?: Uint8Array): StoredSize {
    return sizeOfIndex(this.snapshot, index, rowsMax, after)
  }

  collectionSize(collection: Ref, rowsMax: number, after?: Uint8Array): StoredSize {
    return sizeOfCollection(this.snapshot, collection, rowsMax, after)
  }

  shareBelow({ database, id: collection }: Ref, id: bigint): number {
    const { all, below } = documentsBelow(this.snapshot, database, Number(collection), id)
    return all === 0 ? 0 : below / all
  }

  match(index: IndexDefinition, terms: readonly Value[], scan: EntryScan): Iterable<IndexEntry> {
    const { database } = index.ref
    // A read of the present does not need the collections, so they are not computed.
    const at = this.#past(
      scan.at,
      scan.at === undefined && !this.#isPast ? [] : namedCollections(index),
      database,
    )
    // A transaction that may write must read the rows, so that they are in its read set. Under the writer lock, such a
    // transaction may also read a state that no other transaction can see yet, for which cached data is not valid.
    const cache = this.writable ? undefined : this.parts.entries
    return scanEntries(this.snapshot, this.#entrySet(index, terms), scan, at, cache)
  }

  #entrySet(index: IndexDefinition, terms: readonly Value[]): EntrySet {
    const { database } = index.ref
    // Terms that contain the same object many times are small in memory, but their encoding can be very large.
    const extent = extentOf(terms)
    const bytes =
      extent > 2 * limits.indexKeyBytesMax ? extent : terms.length === 0 ? 0 : termsSize(terms, this.stamp)
    if (bytes > limits.indexKeyBytesMax) throw keyTooLong(bytes)
    return {
      database,
      index: Number(index.ref.id),
      terms: encodeTerms(terms, this.stamp),
      collections: namedCollections(index),
      descending: index.values.map(value => value.reverse),
      hasCollection: collection => this.catalogue.hasCollection(database, collection),
    }
  }

  documents(database: DatabaseId, collection: CollectionId, scan: EntryScan): Iterable<IndexEntry> {
    if (!this.catalogue.hasCollection(database, collection)) return []
    const at = this.#past(scan.at, [collection], database)
    return scanDocuments(this.snapshot, database, collection, scan, at)
  }

  entryChanges(
    index: IndexDefinition,
    before: Version | undefined,
    after: Version | undefined,
  ): Iterable<EntryChange | undefined> {
    const tables = userIndex(index, this.parts.hooks, this.catalogue)
    return entryChanges(tables, before, after, this.snapshot.time)
  }

  termsKey(terms: readonly Value[]): string {
    return byteText(encodeTerms(terms))
  }

  matchEvents(index: IndexDefinition, terms: readonly Value[], scan: EventScan): Iterable<IndexEvent> {
    const minimum = this.#minimumOf(index.ref.database, namedCollections(index))
    const set = this.#entrySet(index, terms)
    return entryEvents(this.snapshot, set, this.#untilNow(scan), minimum, this.#recordedEvents(index))
  }

  /**
   * Computes the events of an index from the change record. Undefined for an index over several collections, and for a
   * transaction that may write, because it adds its writes to the change record only at its end.
   */
  #recordedEvents(index: IndexDefinition): RecordedEvents | undefined {
    const [collection, ...others] = namedCollections(index) ?? []
    if (this.writable || collection === undefined || others.length > 0) return undefined
    const { bindingBudget, hooks } = this.parts
    const parts = { snapshot: this.snapshot, reader: this.versionReader, bindingBudget }
    return new RecordedEvents(parts, userIndex(index, hooks, this.catalogue), collection)
  }

  documentEvents(database: DatabaseId, collection: CollectionId, scan: EventScan): Iterable<IndexEvent> {
    const set: EntrySet = {
      database,
      index: documentsTables(collection).number,
      terms: encodeTerms([]),
      collections: [collection],
      descending: [],
      hasCollection: number => this.catalogue.hasCollection(database, number),
    }
    return storedEvents(this.snapshot, set, this.#untilNow(scan), this.minimumValidTime(database, collection))
  }

  requireRetained(database: DatabaseId, collection: CollectionId, at: number): void {
    this.#past(at, [collection], database)
  }

  storedDocuments(database: DatabaseId, collection: CollectionId, after: bigint | undefined): Iterable<Ref> {
    const first = after === undefined ? 0n : after + 1n
    return everyDocument(this.snapshot, database, collection, { first, last: idMax })
  }

  /** Limits a scan to the events up to the time of this reader. */
  #untilNow(scan: EventScan): EventScan {
    if (!this.#isPast || (scan.to !== undefined && scan.to.ts <= this.snapshotTime)) return scan
    return { ...scan, to: { ts: this.snapshotTime, side: 'high' } }
  }

  *collectionChanges(
    database: DatabaseId,
    collection: CollectionId,
    from: Micros,
  ): Generator<CommittedTransaction> {
    for (const committed of readCollectionChanges(this.snapshot.view, database, collection, from)) {
      if (this.#isPast && committed.time > this.snapshotTime) return
      yield committed
    }
  }

  get changesSince(): Micros {
    return recordSince(this.snapshot.view, this.snapshot.lastCommitTime)
  }

  /** `now`: a time at or before the snapshot. */
  minimumValidTime(database: DatabaseId, collection: CollectionId, now: Micros = this.snapshot.time): Micros {
    return minimumValidTime(collection, this.catalogue.userCollection(database, collection), now)
  }
}
