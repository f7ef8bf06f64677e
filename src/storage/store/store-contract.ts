// The interface of the store to the higher layers: transactions over versioned documents, indexes and the catalogue of
// schema objects. All functions are synchronous. A transaction that waits for an asynchronous result is replayed from
// the start with this result, on a newer snapshot.

import type { Code } from '../../values/code.ts'
import type {
  ActionName,
  CollectionId,
  DatabaseId,
  Micros,
  ObjectValue,
  Ref,
  TransactionTime,
  Value,
  VersionRenderCache,
} from '../../values/value.ts'
import type { TupleBound } from '../keys/tuple.ts'
import type { IndexDefinition } from './index-definition.ts'

/** A collection of a database. */
export type CollectionPlace = Pick<Ref, 'database' | 'collection'>

/** A version of a document as stored, including hidden fields. */
export interface Version {
  readonly ref: Ref
  /** {@link TransactionTime} while the transaction that writes the version is running. */
  readonly ts: Micros | TransactionTime
  readonly action: 'create' | 'update' | 'delete'
  /** Top-level fields in stored order: `data`, `ttl`, `name` …; empty for a delete. */
  readonly fields: ObjectValue
  /** The fields have the shape that their collection had at this schema time; absent: at `ts`. */
  readonly shapeTime?: Micros
  /** The cache of the version's text, if the version is read often. */
  readonly shown?: VersionRenderCache
}

/** One entry of an index (or of a collection seen as a set). */
export interface IndexEntry {
  /** The covered values; empty for an index without values and for collections. */
  readonly values: readonly Value[]
  readonly document: Ref
}

/** The addition or removal of an entry, in a set's history. */
export interface IndexEvent extends IndexEntry {
  readonly ts: Micros | TransactionTime
  readonly action: 'add' | 'remove'
}

/** An entry that one write removed from an index or added to it. */
export interface EntryChange {
  readonly action: 'add' | 'remove'
  readonly terms: readonly Value[]
  readonly values: readonly Value[]
  /** Terms that are equal in the index have the same key. */
  readonly termsKey: string
}

export type { TupleBound as EntryBound } from '../keys/tuple.ts'

/** The range and the direction of a scan of entries. */
export interface EntryScan {
  /** Entries at or after this position (in the set's own order). */
  readonly from?: TupleBound
  /** Entries before this position (in the set's own order). */
  readonly to?: TupleBound
  /** True: the last entry comes first. `from` and `to` keep their meaning. */
  readonly reverse?: boolean
  /** A past time whose state is read; when absent, the present with the transaction's own writes. */
  readonly at?: number
}

/** A position in a set's history: `ts`, then removes before adds, then document id, collection, values. */
export interface EventBound {
  readonly ts: Micros
  readonly action?: 'add' | 'remove'
  readonly document?: Pick<Ref, 'id' | 'collection'>
  readonly values?: readonly Value[]
  readonly side: 'low' | 'high'
}

/** The range and the direction of a scan of events. */
export interface EventScan {
  readonly from?: EventBound
  readonly to?: EventBound
  readonly reverse?: boolean
}

/** A database in the catalogue. */
export interface DatabaseDefinition {
  readonly id: DatabaseId
  readonly ref: Ref
  readonly name: string
  /** The parent database. */
  readonly parent: DatabaseId
  readonly container: boolean
  readonly protected: boolean
}

/** The properties of a collection that the store needs. */
export interface CollectionDefinition {
  readonly ref: Ref
  readonly name: string
  /** In days; undefined: all versions are retained. */
  readonly historyDays: number | undefined
  readonly ttlDays: number | undefined
}

/** Schema objects by name and by reference, including the transaction's own writes. */
export interface Catalogue {
  /** The live schema object with a name in a native collection (`native.collections`, …). */
  resolve(database: DatabaseId, nativeCollection: number, name: string): Ref | undefined
  /** The name of a schema object, or its last name if it is deleted. */
  nameOf(ref: Ref): string | undefined
  /**
   * The time of the last change of a database's schema in the snapshot; 0 without a schema. Called before any write.
   */
  schemaVersion(database: DatabaseId): Micros
  /** The definition of a live object; undefined when the object does not exist, or is deleted. */
  database(id: DatabaseId): DatabaseDefinition | undefined
  /**
   * The live database of a reference, if its parent is still the parent in the reference. References in data may
   * contain any numbers.
   */
  databaseAt(ref: Ref): DatabaseDefinition | undefined
  /** A database and its ancestors from the inside out, without the root. Ends early at a database that is not live. */
  lineage(database: DatabaseId): readonly DatabaseDefinition[]
  collection(ref: Ref): CollectionDefinition | undefined
  index(ref: Ref): IndexDefinition | undefined
  /**
   * Returns whether documents of a collection can be reached: native collections always, other collections until they
   * are deleted.
   */
  hasCollection(database: DatabaseId, collection: CollectionId): boolean
  /** The live indexes that cover a collection. */
  indexesOf(database: DatabaseId, collection: number): readonly IndexDefinition[]
  /** Returns whether the database and its ancestors are live; always true for the root. */
  isLive(database: DatabaseId): boolean
  /**
   * The result of `derive`, which uses only the named schema objects of a database (roles, functions …); cached under
   * `name` until one of them changes.
   */
  derived<T>(database: DatabaseId, name: string, derive: () => T): T
}

/** The schema object that had a name at some time: by native collection and name, within one database. */
export type NameLookup = (nativeCollection: CollectionId, name: string) => Ref | undefined

/** Functions of the higher layers, which know the languages: they evaluate the computed fields of indexes. */
export interface StoreHooks {
  /**
   * The value of a binding for a document; undefined when it has no value (an error, an object, an unresolved
   * reference). Without `names`, a binding that looks up a name has no value.
   */
  evaluateBinding(binding: Code, document: Version, names?: NameLookup): Value | undefined
  /** Decodes the migration steps of a collection. Absent where there are none. */
  readonly readMigration?: (steps: Value) => Migration
}

/** Migrates documents from earlier shapes of their collection to the present shape. */
export interface Migration {
  /** The time of the last change of the shape. */
  readonly lastTime: Micros
  /** Fields of a document in the present shape; `shapeTime`: the schema time of their shape. */
  apply(fields: ObjectValue, shapeTime: Micros): ObjectValue
}

/** Costs of writes and reads, for the metrics headers. */
export interface TransactionCounters {
  readBytes: number
  writeBytes: number
  /** Sum over touched documents of ceil(bytes / 1024). */
  writeOps: number
  /** Units of work for the computation of index entries: one for each term and value of a version. */
  indexUnits: number
}

/** The sizes of some rows of an index, or of a collection. */
export interface StoredSize {
  /** Live entries of an index, live documents of a collection. */
  readonly count: number
  /** Bytes of the keys and values of all rows, including rows of the past. */
  readonly bytes: number
  /** The key of the last row, if there may be more rows. */
  readonly last: Uint8Array | undefined
}

/** Reads schemas and documents at the time of one snapshot. Functions that only read take this part of a transaction. */
export interface ReadTransaction {
  readonly catalogue: Catalogue
  readonly directory: Directory
  /** The time of all reads of the transaction. They see all commits up to this time. */
  readonly snapshotTime: Micros
  /** False: any write throws {@link WriteNeeded}, and the runner restarts with a writing transaction. */
  readonly writable: boolean
  /**
   * The live version at `at` (by default now, including the writes of this transaction): not deleted, and its ttl has
   * not passed.
   */
  get(ref: Ref, at?: number): Version | undefined
  /**
   * All retained versions, oldest first, including the pending version of this transaction. A passed ttl does not hide
   * versions.
   */
  versions(ref: Ref, options?: { readonly reverse?: boolean }): Iterable<Version>
  /** Entries of an index for these terms, in order. Lazy. */
  match(index: IndexDefinition, terms: readonly Value[], scan: EntryScan): Iterable<IndexEntry>
  /** Live documents of a collection (native ones too), by id. Lazy. */
  documents(database: DatabaseId, collection: number, scan: EntryScan): Iterable<IndexEntry>
}

/** Past versions, and the changes that created them. */
export interface HistoryReader {
  /**
   * The entries of an index that change when one version of a document replaces another, remove events first. An
   * undefined version has no entries.
   */
  entryChanges(
    index: IndexDefinition,
    before: Version | undefined,
    after: Version | undefined,
  ): readonly EntryChange[]
  /** The {@link EntryChange.termsKey} of some terms. */
  termsKey(terms: readonly Value[]): string
  matchEvents(index: IndexDefinition, terms: readonly Value[], scan: EventScan): Iterable<IndexEvent>
  documentEvents(database: DatabaseId, collection: number, scan: EventScan): Iterable<IndexEvent>
  /**
   * The changes of a collection by transactions from `from` on, oldest first; without transactions before {@link
   * changesSince}. Lazy.
   */
  collectionChanges(
    database: DatabaseId,
    collection: CollectionId,
    from: Micros,
  ): Iterable<CommittedTransaction>
  /** The time after which the changes of collections are recorded. */
  readonly changesSince: Micros
  /** The oldest time at which reads of a collection are exact (retention). Earlier reads fail with 400. */
  minimumValidTime(database: DatabaseId, collection: number): Micros
}

/** The stored sizes of indexes and collections. */
interface SizeReader {
  /** The sizes of at most `rowsMax` rows of an index, after the key `after`. */
  indexSize(index: Ref, rowsMax: number, after?: Uint8Array): StoredSize
  /** The sizes of at most `rowsMax` rows of a collection, after the key `after`. */
  collectionSize(collection: Ref, rowsMax: number, after?: Uint8Array): StoredSize
}

/** Writes of a transaction. Rejected writes throw {@link WriteRejected}. */
interface VersionWriter {
  /** Returns whether this transaction has written documents of a collection. */
  hasWritten(database: DatabaseId, collection: number): boolean
  /**
   * Writes a version of a document. The version replaces an earlier write of this transaction to the document. Checks
   * unique indexes ('instance not unique').
   */
  put(ref: Ref, fields: ObjectValue): Version
  /** Deletes a live document; for schema objects also the data that belongs to them. */
  delete(ref: Ref): void
  /** Writes a version into the past. `fields` undefined stores a delete. Returns the version as stored. */
  insertVersion(ref: Ref, ts: Micros, fields: ObjectValue | undefined): Version
  /** Removes the matching version at exactly `ts`, if any. Returns the removed version. */
  removeVersion(ref: Ref, ts: Micros, action: 'create' | 'delete'): Version | undefined
  /** The number for a new collection (from 1024) or index (from 32768) of a database; never repeated. */
  nextSchemaId(database: DatabaseId, nativeCollection: number): bigint
  /** Moves a database (with all its content) to another parent. */
  moveDatabase(database: Ref, parent: DatabaseId): Version
  /** A secret of the store that never changes; created by `draw` if there is none yet. */
  secretKey(draw: () => Uint8Array): Uint8Array
  /**
   * A new id, greater than all earlier ones of this worker: milliseconds since 1336258850000 << 20 | sequence << 10 |
   * worker. Throws `Pending` while ids must be reserved.
   */
  newId(): bigint
  /**
   * Returns whether a document is stored under a generated id, even a deleted or expired document. If so, a new
   * document must not use the id.
   */
  isTaken(ref: Ref): boolean
}

/**
 * A transaction over the whole data directory: it sees a snapshot, and its own writes. The higher layers check
 * permissions and validate schema objects. A write in a read-only transaction throws {@link WriteNeeded}.
 */
export interface Transaction extends ReadTransaction, HistoryReader, SizeReader, VersionWriter {
  readonly counters: TransactionCounters
  /**
   * The time of the newest commit that reads see; every later commit, of any process, has a later time. Running commits
   * may have times before {@link snapshotTime}.
   */
  readonly lastCommitTime: Micros
  /**
   * A time for responses of uncommitted transactions, such as failed writes: reads see all commits up to it, and all
   * later commits have later times. At most {@link snapshotTime}.
   */
  readonly readTimestamp: Micros
  /**
   * Returns the time of the response for use in the result. A transaction with writes then commits at exactly this
   * time, or is evaluated again.
   */
  resultTime(): Micros
  /** A number that grows with each write. While the number is unchanged, repeated reads return the same results. */
  readonly writes: number
  /**
   * A transaction that sees the snapshot and the writes of this transaction. It may write; its own writes are dropped.
   */
  rehearsal(): Transaction
  /**
   * A transaction that reads the snapshot as if the commit at `time` were the newest, but with the present schemas. If
   * that commit is the newest, returns this transaction. The returned transaction allows no writes. Its reads belong to
   * the read set and the costs of this transaction.
   */
  asOf(time: Micros): Transaction
}

/** Finds documents by the content of a credential, not by a reference. */
export interface Directory {
  /** The document of the collection `native.credentials` with this `instance`. */
  credentialOf(instance: Ref): Version | undefined
  /** The documents of the collection `native.tokens` with this `instance`. */
  tokensOf(instance: Ref): readonly Version[]
  /** The access provider with this issuer. */
  accessProviderByIssuer(database: DatabaseId, issuer: string): Version | undefined
  /** The databases that contain a key with this id. A secret contains only the id of its key, not the database. */
  keyDatabases(keyId: bigint): readonly DatabaseId[]
}

export { StoreUnavailableError } from '../kv/store-errors.ts'

/** Thrown by an invalid write: nothing was written, and the transaction cannot be committed. */
export class WriteRejected extends Error {
  override name = 'WriteRejected'
  readonly reason: 'not unique' | 'key exists'
  /** The unique indexes that already have these terms and values. */
  readonly indexes: readonly Ref[]

  constructor(reason: WriteRejected['reason'], indexes: readonly Ref[] = []) {
    super(reason)
    this.reason = reason
    this.indexes = indexes
  }
}

/** Thrown by a write in a read-only transaction: the query must be evaluated again in a writing transaction. */
export class WriteNeeded {}

/**
 * Thrown by a read when there is no snapshot time yet that is later than the client's last seen time. The query must be
 * retried soon.
 */
export class SnapshotTooEarly {}

/** One document that a committed transaction changed, as in the change record. */
export interface Change {
  readonly ref: Ref
  /** The time of the version. For a write into the past, it differs from the time of the transaction. */
  readonly validTime: Micros
  readonly kind: 'write' | 'history insert' | 'history remove'
  readonly action: ActionName
}

/** The changes of one transaction, or a part of them. */
export interface CommittedTransaction {
  readonly time: Micros
  readonly changes: readonly Change[]
}

/** The outcome of a transaction. */
export interface TransactionOutcome<T> {
  readonly result: T
  /** The commit time of a write, or the snapshot time of a read. */
  readonly time: Micros
  readonly counters: TransactionCounters
  /** The number of evaluations repeated because of conflicts. */
  readonly retries: number
}

export interface WriteOptions {
  /** The snapshot has at least this time. */
  readonly notBefore?: Micros
  /** The maximum number of retries of a long transaction after conflicts; 4 when absent. */
  readonly retriesMax?: number
}

/** A transaction failed because other transactions wrote a part of its read set during each attempt. */
export class ContendedTransaction {
  /** The number of attempts. */
  readonly attempts: number

  constructor(attempts: number) {
    this.attempts = attempts
  }
}

/** The steps of a check, in this order. */
export type CheckStep = 'documents' | 'entries of indexes' | 'recorded changes'

/** Called with the number of rows of a step that have been checked. */
export type OnCheckProgress = (step: CheckStep, rows: number) => void
