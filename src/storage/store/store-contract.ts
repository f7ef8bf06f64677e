// The store's interface for the higher layers: transactions over versioned documents, indexes and the catalogue of
// schema objects (databases, collections, indexes …). All functions of a transaction are synchronous. If a transaction
// needs an asynchronous result, it ends, and is evaluated again on a newer snapshot when the result is available.

import type { Code } from '../../values/code.ts'
import type {
  ActionName,
  CollectionId,
  DatabaseId,
  Micros,
  ObjectValue,
  Ref,
  RenderCache,
  TransactionTime,
  Value,
} from '../../values/value.ts'
import type { TupleBound } from '../keys/tuple.ts'
import type { IndexDefinition } from './index-definition.ts'

export type CollectionPlace = Pick<Ref, 'database' | 'collection'>

/** A version of a document as stored, including hidden fields. */
export interface Version {
  readonly ref: Ref
  /** {@link TransactionTime} while the transaction that writes the version is running. */
  readonly ts: Micros | TransactionTime
  readonly action: 'create' | 'update' | 'delete'
  /** Top-level fields in stored order: `data`, `ttl`, `name` …; empty for a delete. */
  readonly fields: ObjectValue
  /**
   * The fields have the shape (the structure of fields) that the collection had at this time. If undefined, the fields
   * have the shape at `ts`.
   */
  readonly shapeTime?: Micros
  /** The cache of the version's rendered text; present if the version is read often. */
  readonly shown?: RenderCache
}

/** An entry of an index, or of the set of all documents of a collection. */
export interface IndexEntry {
  /** The values of the entry; empty for an index without values and for the set of a collection. */
  readonly values: readonly Value[]
  readonly document: Ref
}

/** An event in the history of a set: the addition or the removal of an entry. */
export interface IndexEvent extends IndexEntry {
  readonly ts: Micros | TransactionTime
  readonly action: 'add' | 'remove'
}

/** An entry that one write has added to an index or removed from the index. */
export interface EntryChange {
  readonly action: 'add' | 'remove'
  readonly terms: readonly Value[]
  readonly values: readonly Value[]
  /** A key for the terms. Two lists of terms have the same key if the index treats the lists as equal. */
  readonly termsKey: string
}

export type { TupleBound as EntryBound } from '../keys/tuple.ts'

/** The range and the direction of a scan of entries. */
export interface EntryScan {
  /** The scan returns only entries at or after this position in the order of the set. */
  readonly from?: TupleBound
  /** The scan returns only entries before this position in the order of the set. */
  readonly to?: TupleBound
  /** True: the last entry is returned first. `from` and `to` still refer to the order of the set. */
  readonly reverse?: boolean
  /**
   * The past time at which entries are read. If undefined, the scan reads the present state with the transaction's
   * writes.
   */
  readonly at?: number
}

/**
 * A position in the history of a set. Events are ordered by `ts`, then by action (removes first), then by the
 * document's id and collection, then by values.
 */
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
  readonly ref: Ref
  readonly name: string
  readonly parent: DatabaseId
  readonly container: boolean
  readonly protected: boolean
  /** True if the static types of queries are checked before they run. Undefined: the parent database decides. */
  readonly typechecked: boolean | undefined
  /** True if static types are checked in this database when neither the database nor an ancestor has `typechecked`. */
  readonly isCheckedByDefault: boolean
}

/** The properties of a collection that the store needs. */
export interface CollectionDefinition {
  readonly name: string
  /** The number of days for which old versions are retained; undefined: all versions are retained. */
  readonly historyDays: number | undefined
  readonly ttlDays: number | undefined
}

/** Finds schema objects by name and by reference. Includes the schema objects that the transaction has written. */
export interface Catalogue {
  /**
   * Returns the live schema object with the name `name` in a native (built-in) collection, such as
   * `native.collections`.
   */
  resolve(database: DatabaseId, nativeCollection: number, name: string): Ref | undefined
  /** Returns the name of a schema object. If the object is deleted, returns its last name. */
  nameOf(ref: Ref): string | undefined
  /**
   * Returns the live and deleted schema objects whose last name is `name`, the newest object first. Writes of the
   * transaction are not included.
   */
  namesakes(database: DatabaseId, nativeCollection: number, name: string): readonly Ref[]
  /**
   * Returns the time of the last change of a database's schema in the snapshot; 0 if the database has no schema. Must
   * be called before the transaction writes.
   */
  schemaVersion(database: DatabaseId): Micros
  /** Returns the definition of a database; undefined if the database does not exist or is deleted. */
  database(id: DatabaseId): DatabaseDefinition | undefined
  /**
   * Returns the live database that a reference names; undefined if the parent of this database is not `ref.database`.
   * The reference may come from data, so its numbers may be arbitrary.
   */
  databaseAt(ref: Ref): DatabaseDefinition | undefined
  /**
   * Returns a database and its ancestors, innermost first, without the root. If a database in this list is not live,
   * the list ends before this database.
   */
  lineage(database: DatabaseId): readonly DatabaseDefinition[]
  /** True if static types are checked in the root database by default: a version that does so created the store. */
  readonly isRootCheckedByDefault: boolean
  collection(ref: Ref): CollectionDefinition | undefined
  index(ref: Ref): IndexDefinition | undefined
  /** Returns whether a collection exists. Native collections always exist. */
  hasCollection(database: DatabaseId, collection: CollectionId): boolean
  /** Returns the live indexes that cover a collection. */
  indexesOf(database: DatabaseId, collection: number): readonly IndexDefinition[]
  /** Returns whether the database and its ancestors are live; always true for the root. */
  isLive(database: DatabaseId): boolean
  /**
   * Returns the result of `derive`, and caches it under `name` until the schema of the database changes. `derive` must
   * use only named schema objects of this database (roles, functions …).
   */
  derived<T>(database: DatabaseId, name: string, derive: () => T): T
  /**
   * Counts `bytes` of memory of derived results for the cache of schemas, beyond the memory that is estimated from the
   * stored schema objects.
   */
  countDerived(database: DatabaseId, bytes: number): void
}

/** Returns the schema object that had `name` in a native collection, in a fixed database and at a fixed time. */
export type NameLookup = (nativeCollection: CollectionId, name: string) => Ref | undefined

/** Functions that higher layers implement, because the store does not depend on the query languages. */
export interface StoreHooks {
  /**
   * Returns the value of a binding (a computed field) for a document. Returns undefined if the evaluation fails, or if
   * the result is an object or an unresolved reference. `names`: looks up names; if undefined, a look-up of a name
   * fails.
   */
  evaluateBinding(binding: Code, document: Version, names?: NameLookup): Value | undefined
  /** Decodes the migration steps of a collection. May be undefined if no collection has migration steps. */
  readonly readMigration?: (steps: Value) => Migration
}

/** Migrates documents from earlier shapes of their collection to the present shape. */
export interface Migration {
  /** The time of the last change of the shape. */
  readonly lastTime: Micros
  /**
   * Returns the fields in the present shape. `shapeTime`: the time at which the collection had the shape of `fields`.
   */
  apply(fields: ObjectValue, shapeTime: Micros): ObjectValue
}

/** Costs of writes and reads, for the metrics headers. */
export interface TransactionCounters {
  readBytes: number
  writeBytes: number
  /** The sum of ceil(bytes / 1024) over the written documents. */
  writeOps: number
  /** Units of work for the computation of index entries: one for each term and value of a version. */
  indexUnits: number
}

/** The size of one page of the rows of an index or a collection. */
export interface StoredSize {
  /** The number of live entries of an index, or of live documents of a collection, in the page. */
  readonly count: number
  /** The bytes of the keys and values of all rows in the page, including ended entries and past versions. */
  readonly bytes: number
  /** The key of the last row of the page; undefined if no rows follow the page. */
  readonly last: Uint8Array | undefined
}

/** Which versions of a document are read, and in which order. */
export interface VersionScan {
  /** True: the newest version comes first. */
  readonly reverse?: boolean
  /** Only with `reverse`: the first version is the version that was valid at this time. */
  readonly notAfter?: Micros
}

/**
 * The part of a transaction that reads schemas and documents. Functions that only read have a parameter of this type.
 */
export interface ReadTransaction {
  readonly catalogue: Catalogue
  readonly directory: Directory
  /**
   * The time of all reads of the transaction. The reads see all commits up to this time. For a transaction that may
   * write, the store verifies this only when the transaction commits.
   */
  readonly snapshotTime: Micros
  /** False: any write throws {@link WriteNeeded}, and the runner restarts with a writing transaction. */
  readonly writable: boolean
  /**
   * Returns the version of a document at the time `at`; undefined if the document is deleted, or if its `ttl` has
   * passed. If `at` is undefined, returns the present version, including the writes of this transaction.
   */
  get(ref: Ref, at?: number): Version | undefined
  /**
   * Returns all retained versions of a document, oldest first. Includes the pending version of this transaction, and
   * versions whose `ttl` has passed.
   */
  versions(ref: Ref, options?: VersionScan): Iterable<Version>
  /** Returns the entries of an index with the given terms, in order. Entries are read when they are needed. */
  match(index: IndexDefinition, terms: readonly Value[], scan: EntryScan): Iterable<IndexEntry>
  /** Returns the live documents of a user or native collection, by id. Documents are read when they are needed. */
  documents(database: DatabaseId, collection: number, scan: EntryScan): Iterable<IndexEntry>
}

/** The part of a transaction that reads the history: events of sets and changes of collections. */
export interface HistoryReader {
  /**
   * Returns the changes of an index's entries when one version of a document replaces another version. Removed entries
   * come first. An undefined version has no entries.
   */
  entryChanges(
    index: IndexDefinition,
    before: Version | undefined,
    after: Version | undefined,
  ): readonly EntryChange[]
  /** Returns the {@link EntryChange.termsKey} of the given terms. */
  termsKey(terms: readonly Value[]): string
  matchEvents(index: IndexDefinition, terms: readonly Value[], scan: EventScan): Iterable<IndexEvent>
  documentEvents(database: DatabaseId, collection: number, scan: EventScan): Iterable<IndexEvent>
  /**
   * Returns the transactions at or after the time `from` that changed a collection, oldest first. Each transaction
   * contains its changes in this collection. Changes up to {@link changesSince} may be missing. Changes are read when
   * they are needed.
   */
  collectionChanges(
    database: DatabaseId,
    collection: CollectionId,
    from: Micros,
  ): Iterable<CommittedTransaction>
  /** The time after which the changes of collections are recorded. */
  readonly changesSince: Micros
  /** Returns the start of the retained history of a collection. Reads at an earlier time fail with 400. */
  minimumValidTime(database: DatabaseId, collection: number): Micros
}

/** The part of a transaction that measures indexes and collections. */
interface SizeReader {
  /** Measures at most `rowsMax` rows of an index, after the key `after`. */
  indexSize(index: Ref, rowsMax: number, after?: Uint8Array): StoredSize
  /** Measures at most `rowsMax` rows of a collection, after the key `after`. */
  collectionSize(collection: Ref, rowsMax: number, after?: Uint8Array): StoredSize
}

/** The part of a transaction that writes. Rejected writes throw {@link WriteRejected}. */
interface VersionWriter {
  /** Returns whether this transaction has written documents of a collection. */
  hasWritten(database: DatabaseId, collection: number): boolean
  /**
   * Writes a version of a document. The version replaces an earlier write of this transaction to the same document.
   * Throws {@link WriteRejected} if a unique index already has the same terms and values.
   */
  put(ref: Ref, fields: ObjectValue): Version
  /** Deletes a live document. If the document is a schema object, the data of this object is deleted, too. */
  delete(ref: Ref): void
  /** Inserts a version at a past time. If `fields` is undefined, inserts a delete. Returns the stored version. */
  insertVersion(ref: Ref, ts: Micros, fields: ObjectValue | undefined): Version
  /**
   * Removes the version at exactly `ts` from the history. `action`: `delete` if the version must be a delete, `create`
   * if the version must not be a delete. Returns the removed version; undefined if no version has this time and action.
   */
  removeVersion(ref: Ref, ts: Micros, action: 'create' | 'delete'): Version | undefined
  /** Returns an unused number for a new collection (from 1024) or a new index (from 32768) of a database. */
  nextSchemaId(database: DatabaseId, nativeCollection: number): bigint
  /** Moves a database with all its data to another parent. */
  moveDatabase(database: Ref, parent: DatabaseId): Version
  /** Returns the store's secret, which never changes. If there is no secret yet, stores the result of `draw`. */
  secretKey(draw: () => Uint8Array): Uint8Array
  /**
   * Returns a new id, which is greater than all earlier ids of this process: see ids.ts. Throws `Pending` if a range of
   * ids must be reserved first.
   */
  newId(): bigint
  /**
   * Returns whether the generated id of a new document is already in use, even by a deleted or expired document. The
   * new document must then get another id.
   */
  isTaken(ref: Ref): boolean
}

/**
 * A transaction over all databases of the data directory. A transaction reads a snapshot, and its own writes. The
 * higher layers check permissions and validate schema objects. A write in a read-only transaction throws {@link
 * WriteNeeded}.
 */
export interface Transaction extends ReadTransaction, HistoryReader, SizeReader, VersionWriter {
  readonly counters: TransactionCounters
  /**
   * The time of the newest commit in the snapshot. All later commits of all processes have later times. A commit that
   * is still running may have a time before {@link snapshotTime}.
   */
  readonly lastCommitTime: Micros
  /**
   * The time for the response if the transaction is not committed, for example because a write fails. The snapshot
   * contains all commits up to this time, and all later commits have later times. This time is at most {@link
   * snapshotTime}.
   */
  readonly readTimestamp: Micros
  /**
   * Returns the time of the response, so that the result can contain this time. A transaction with writes must then
   * commit at exactly this time. If the commit would get another time, the transaction is evaluated again.
   */
  resultTime(): Micros
  /** A number that grows with each write. While the number is unchanged, repeated reads return the same results. */
  readonly writes: number
  /**
   * Returns a new transaction that reads the snapshot and the writes of this transaction. The new transaction may
   * write, but its writes are never committed.
   */
  rehearsal(): Transaction
  /**
   * Returns a transaction that reads the state after the commit at `time`, but with the present schemas. If `time` is
   * not before the newest commit, returns this transaction. A transaction for an earlier time allows no writes, and its
   * reads are added to the read set and the costs of this transaction.
   */
  asOf(time: Micros): Transaction
}

/** Finds documents by the content of a credential, not by a reference. */
export interface Directory {
  /**
   * Returns the document in the collection `native.credentials` with the given `instance` (the document that logs in).
   */
  credentialOf(instance: Ref): Version | undefined
  /** Returns the documents in the collection `native.tokens` with the given `instance`. */
  tokensOf(instance: Ref): readonly Version[]
  /** Returns the access provider with the given issuer. */
  accessProviderByIssuer(database: DatabaseId, issuer: string): Version | undefined
  /** Returns the databases with a key of this id. A secret contains the id of its key, but not the key's database. */
  keyDatabases(keyId: bigint): readonly DatabaseId[]
}

export { StoreUnavailableError } from '../kv/store-errors.ts'

/** Thrown by an invalid write. The transaction then cannot be committed. */
export class WriteRejected extends Error {
  override name = 'WriteRejected'
  readonly reason: 'not unique' | 'key exists'
  /** The unique indexes that already contain the terms and values of the new version. */
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
 * Thrown if the time of a new snapshot would not be later than the client's last seen time (the time of the newest
 * transaction that the client has seen). The query must be retried soon.
 */
export class SnapshotTooEarly {}

/** The change of one document by a committed transaction, as stored in the change record (change-log.ts). */
export interface Change {
  readonly ref: Ref
  /** The time of the version. For a write into the past, this time differs from the time of the transaction. */
  readonly validTime: Micros
  readonly kind: 'write' | 'history insert' | 'history remove'
  readonly action: ActionName
}

/** The changes of one transaction, or only its changes in one collection. */
export interface CommittedTransaction {
  readonly time: Micros
  readonly changes: readonly Change[]
}

export interface TransactionOutcome<T> {
  readonly result: T
  /** The commit time of a write, or the snapshot time of a read. */
  readonly time: Micros
  readonly counters: TransactionCounters
  /** The number of times that the transaction was evaluated again because of conflicts. */
  readonly retries: number
}

export interface WriteOptions {
  /** The last seen time of the client. The transaction gets a later time. */
  readonly notBefore?: Micros
  /**
   * The maximum number of retries after conflicts. If undefined, there are a few retries, and the last retry holds the
   * writer lock, so that it cannot conflict.
   */
  readonly retriesMax?: number
  /** Returns the owner that the memory of waiting writes counts for. Called after the evaluation. */
  readonly memoryOwner?: () => string
}

/** Thrown if a transaction fails because other transactions have changed its read set during each attempt. */
export class ContendedTransaction {
  readonly attempts: number

  constructor(attempts: number) {
    this.attempts = attempts
  }
}

/** The steps of an integrity check, in this order. */
export type CheckStep = 'documents' | 'entries of indexes' | 'recorded changes'

/** Called during a check. `rows`: the number of rows that the current step has checked. */
export type OnCheckProgress = (step: CheckStep, rows: number) => void
