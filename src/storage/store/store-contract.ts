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

/** The ids of a collection: its database, and its number in this database. */
export type CollectionIds = Pick<Ref, 'database' | 'collection'>

/** A version in stored form, including hidden fields. */
export interface Version {
  readonly ref: Ref
  /** {@link TransactionTime} while the transaction that writes the version is running. */
  readonly ts: Micros | TransactionTime
  readonly action: 'create' | 'update' | 'delete'
  /** Top-level fields in stored order: `data`, `ttl`, `name` …; empty for a delete. */
  readonly fields: ObjectValue
  /** The time at which the collection had the shape (the structure of fields) of the fields; by default `ts`. */
  readonly shapeTime?: Micros
  /** Rendered text; present if the version is read often. */
  readonly renderCache?: RenderCache
}

/** An entry of an index, or of the set of all documents of a collection. */
export interface IndexEntry {
  /** Empty for an index without values and for the set of a collection. */
  readonly values: readonly Value[]
  readonly document: Ref
}

/** The addition or the removal of an entry. */
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

export interface EntryScan {
  /** Entries before this bound are not returned. `side` decides about entries that match the bound. */
  readonly from?: TupleBound
  /** Entries after this bound are not returned. `side` decides about entries that match the bound. */
  readonly to?: TupleBound
  /** The last entry is returned first. `from` and `to` still refer to the order of the set. */
  readonly reverse?: boolean
  /** The past time at which entries are read; by default the present state with the transaction's writes. */
  readonly at?: number
}

/**
 * Events are ordered by `ts`, then by action (removes first), then by the document's id and collection, then by values.
 */
export interface EventBound {
  readonly ts: Micros
  readonly action?: 'add' | 'remove'
  readonly document?: Pick<Ref, 'id' | 'collection'>
  readonly values?: readonly Value[]
  readonly side: 'low' | 'high'
}

export interface EventScan {
  readonly from?: EventBound
  readonly to?: EventBound
  readonly reverse?: boolean
}

export interface DatabaseDefinition {
  readonly ref: Ref
  readonly name: string
  readonly parent: DatabaseId
  readonly container: boolean
  readonly protected: boolean
  /** Static types of queries are checked before they run. Undefined: the parent database decides. */
  readonly typechecked: boolean | undefined
  /** The default if neither the database nor an ancestor has `typechecked`. */
  readonly isCheckedByDefault: boolean
}

/** The properties that the store needs. */
export interface CollectionDefinition {
  readonly name: string
  /** How long old versions are retained; undefined: forever. */
  readonly historyDays: number | undefined
  readonly ttlDays: number | undefined
}

/** Finds schema objects by name and by reference, also those that the transaction has written. */
export interface Catalogue {
  /** A live schema object in a native (built-in) collection, such as `native.collections`. */
  resolve(database: DatabaseId, nativeCollection: number, name: string): Ref | undefined
  /** Returns the name of a schema object. If the object is deleted, returns its last name. */
  nameOf(ref: Ref): string | undefined
  /**
   * Live and deleted schema objects whose last name is `name`, the newest object first. Writes of the transaction are
   * not included.
   */
  namesakes(database: DatabaseId, nativeCollection: number, name: string): readonly Ref[]
  /**
   * The last change of a database's schema in the snapshot; 0 without a schema. Must be called before the transaction
   * writes.
   */
  schemaVersion(database: DatabaseId): Micros
  /** Undefined if the database does not exist or is deleted. */
  database(id: DatabaseId): DatabaseDefinition | undefined
  /**
   * The live database that a reference names; undefined if its parent is not `ref.database`. The reference may come
   * from data, so its numbers may be arbitrary.
   */
  databaseAt(ref: Ref): DatabaseDefinition | undefined
  /**
   * A database and its ancestors, innermost first, without the root. The list ends before a database that is not live.
   */
  lineage(database: DatabaseId): readonly DatabaseDefinition[]
  /** The default of type checks in the root database. True if a version that checks by default created the store. */
  readonly isRootCheckedByDefault: boolean
  collection(ref: Ref): CollectionDefinition | undefined
  index(ref: Ref): IndexDefinition | undefined
  /** Native collections always exist. */
  hasCollection(database: DatabaseId, collection: CollectionId): boolean
  indexesOf(database: DatabaseId, collection: number): readonly IndexDefinition[]
  /** Returns whether the database and its ancestors are live; always true for the root. */
  isLive(database: DatabaseId): boolean
  /**
   * Caches the result of `derive` under `name` until the schema of the database changes. `derive` must use only named
   * schema objects of this database (roles, functions …).
   */
  derived<T>(database: DatabaseId, name: string, derive: () => T): T
  /** Memory of derived results, for the cache of schemas, beyond the estimate from the stored schema objects. */
  countDerived(database: DatabaseId, bytes: number): void
}

/** The schema object that had `name` in a native collection, in a fixed database and at a fixed time. */
export type NameLookup = (nativeCollection: CollectionId, name: string) => Ref | undefined

/** Higher layers implement these functions, because the store does not depend on the query languages. */
export interface StoreHooks {
  /**
   * The value of a binding (a computed field). Undefined if the evaluation fails, or if the result is an object or an
   * unresolved reference. `names`: looks up names; if undefined, a lookup fails.
   */
  evaluateBinding(binding: Code, document: Version, names?: NameLookup): Value | undefined
  /** Decodes the migration steps of a collection. May be undefined if no collection has such steps. */
  readonly readMigration?: (steps: Value) => Migration
}

/** Migrates documents from earlier shapes of their collection to the present shape. */
export interface Migration {
  /** The last change of the shape. */
  readonly lastTime: Micros
  /** `shapeTime`: the time at which the collection had the shape of `fields`. */
  apply(fields: ObjectValue, shapeTime: Micros): ObjectValue
}

/** Costs of writes and reads, for the metrics headers. */
export interface TransactionCounters {
  readBytes: number
  writeBytes: number
  /** The sum of ceil(bytes / 1024) over the written documents, and one for each changed version in the past. */
  writeOps: number
  /** Units of work for the computation of index entries: one for each term and value of a version. */
  indexUnits: number
}

/** The size of a page of the rows of an index or a collection. */
export interface StoredSize {
  /** The live entries of an index, or live documents of a collection, in the page. */
  readonly count: number
  /** Keys and values of all rows in the page, including ended entries and past versions. */
  readonly bytes: number
  /** The key of the last row of the page; undefined if no rows follow. */
  readonly last: Uint8Array | undefined
}

export interface VersionScan {
  /** The newest version comes first. */
  readonly reverse?: boolean
  /** The first version is the one that was valid at this time; only with `reverse`. */
  readonly notAfter?: Micros | undefined
  /** The first version is the one that was valid at this time; only without `reverse`. */
  readonly notBefore?: Micros | undefined
}

/** Reads schemas and documents. Functions that only read have a parameter of this type. */
export interface ReadTransaction {
  readonly catalogue: Catalogue
  readonly directory: Directory
  /**
   * The reads see all commits up to this time. For a transaction that may write, the store verifies this only at the
   * commit.
   */
  readonly snapshotTime: Micros
  /** False: any write throws {@link WriteNeeded}, and the query begins again in a writing transaction. */
  readonly writable: boolean
  /**
   * The version of a document at `at`, or the present version with the writes of this transaction. Undefined if the
   * document is deleted, or if its `ttl` has passed.
   */
  get(ref: Ref, at?: number): Version | undefined
  /** All retained versions, oldest first, including the pending version, and versions whose `ttl` has passed. */
  versions(ref: Ref, options?: VersionScan): Iterable<Version>
  /** Returns the entries in order. Entries are read when they are needed. */
  match(index: IndexDefinition, terms: readonly Value[], scan: EntryScan): Iterable<IndexEntry>
  /** The live documents of a user or native collection, by id. Documents are read when they are needed. */
  documents(database: DatabaseId, collection: number, scan: EntryScan): Iterable<IndexEntry>
}

/** Reads events of sets and changes of collections. */
export interface HistoryReader {
  /**
   * The changes of an index's entries when one version of a document replaces another. Removed entries come first. An
   * undefined version has no entries. Undefined elements are pauses: the caller may continue later, also after the end
   * of the transaction.
   */
  entryChanges(
    index: IndexDefinition,
    before: Version | undefined,
    after: Version | undefined,
  ): Iterable<EntryChange | undefined>
  /** See {@link EntryChange.termsKey}. */
  termsKey(terms: readonly Value[]): string
  matchEvents(index: IndexDefinition, terms: readonly Value[], scan: EventScan): Iterable<IndexEvent>
  documentEvents(database: DatabaseId, collection: number, scan: EventScan): Iterable<IndexEvent>
  /** Throws a `RequestError` if the history of a collection no longer contains the time `at`. */
  requireRetained(database: DatabaseId, collection: CollectionId, at: number): void
  /** Returns the documents after the id `after` that have a stored version, also deleted documents, by id. */
  storedDocuments(database: DatabaseId, collection: CollectionId, after: bigint | undefined): Iterable<Ref>
  /**
   * The transactions at or after `from` that changed a collection, oldest first, with their changes in it. Changes up
   * to {@link changesSince} may be missing. Changes are read when they are needed.
   */
  collectionChanges(
    database: DatabaseId,
    collection: CollectionId,
    from: Micros,
  ): Iterable<CommittedTransaction>
  /** The change record begins after this time. */
  readonly changesSince: Micros
  /** The start of the retained history. Reads at an earlier time fail with 400. */
  minimumValidTime(database: DatabaseId, collection: number): Micros
}

interface SizeReader {
  /** Measures at most `rowsMax` rows after the key `after`. */
  indexSize(index: Ref, rowsMax: number, after?: Uint8Array): StoredSize
  collectionSize(collection: Ref, rowsMax: number, after?: Uint8Array): StoredSize
  /** Estimates the share of a collection's documents whose ids are below `id`, from 0 to 1. */
  shareBelow(collection: Ref, id: bigint): number
}

/** Rejected writes throw {@link WriteRejected}. */
interface VersionWriter {
  /** Returns whether this transaction has written documents of a collection. */
  hasWritten(database: DatabaseId, collection: number): boolean
  /**
   * Replaces an earlier write of this transaction to the same document. Throws {@link WriteRejected} if a unique index
   * already has the same terms and values.
   */
  put(ref: Ref, fields: ObjectValue): Version
  /** Deletes a live document with its credentials and tokens; for a schema object, with its data and dependents. */
  delete(ref: Ref): void
  /** Invalidates all tokens of an identity. If there are very many tokens, the sweeper deletes them later. */
  deleteTokens(instance: Ref): void
  /** `ts` is a past time. Without `fields`, inserts a delete. Returns the stored version. */
  insertVersion(ref: Ref, ts: Micros, fields: ObjectValue | undefined): Version
  /**
   * Removes the version at exactly `ts` from the history. `action`: `delete` if it must be a delete, `create` if it
   * must not. Returns the removed version; undefined if no version has this time and action.
   */
  removeVersion(ref: Ref, ts: Micros, action: 'create' | 'delete'): Version | undefined
  /** An unused number for a new collection (from 1024) or a new index (from 32768) of a database. */
  nextSchemaId(database: DatabaseId, nativeCollection: number): bigint
  /** Moves a database with all its data to another parent. */
  moveDatabase(database: Ref, parent: DatabaseId): Version
  /**
   * The secret with which higher layers authenticate cursors and other data. Never changes. If no secret is stored yet,
   * stores the result of `draw`.
   */
  secretKey(draw: () => Uint8Array): Uint8Array
  /**
   * Greater than all earlier ids of this process: see ids.ts. Throws `Pending` if a range of ids must be reserved
   * first.
   */
  newId(): bigint
  /**
   * Returns whether the generated id of a new document is already in use, even by a deleted or expired document. The
   * new document must then get another id.
   */
  isTaken(ref: Ref): boolean
}

/**
 * A transaction over all databases of the data directory. It reads a snapshot, and its own writes. The higher layers
 * check permissions and validate schema objects. A write in a read-only transaction throws {@link WriteNeeded}.
 */
export interface Transaction extends ReadTransaction, HistoryReader, SizeReader, VersionWriter {
  readonly counters: TransactionCounters
  /**
   * The newest commit in the snapshot. All later commits of all processes have later times. A commit that is still
   * running may have a time before {@link snapshotTime}.
   */
  readonly lastCommitTime: Micros
  /**
   * The time for the response if the transaction is not committed, for example because a write fails; at most
   * {@link snapshotTime}. The snapshot contains all commits up to this time, and all later commits have later times.
   */
  readonly readTimestamp: Micros
  /**
   * The time of the response, for use in the result. A transaction with writes must then commit at exactly this time.
   * Otherwise, it is evaluated again.
   */
  resultTime(): Micros
  /** Grows with each write. While it is unchanged, repeated reads return the same results. */
  readonly writes: number
  /** Returns a transaction on the snapshot and the writes of this transaction. Its own writes are never committed. */
  rehearsal(): Transaction
  /**
   * Reads the state after the commit at `time`, but with the present schemas. If `time` is not before the newest
   * commit, returns this transaction. A transaction for an earlier time allows no writes, and its reads are added to
   * the read set and the costs of this transaction.
   */
  asOf(time: Micros): Transaction
}

export interface TokenScan {
  /** The id of the first token; without it, the scan begins at the lowest or, if reversed, at the highest id. */
  readonly from?: bigint
  readonly reverse?: boolean
}

/** Finds documents by the content of a credential, not by a reference. */
export interface Directory {
  /** Finds a document in `native.credentials` by its `instance` (the document that logs in). */
  credentialOf(instance: Ref): Version | undefined
  /** Reads the documents in `native.tokens` with this `instance` on demand, in the order of their ids. */
  tokensOf(instance: Ref, scan?: TokenScan): Iterable<Version>
  accessProviderByIssuer(database: DatabaseId, issuer: string): Version | undefined
  /** The databases with a key of this id. A secret contains the id of its key, but not the key's database. */
  keyDatabases(keyId: bigint): readonly DatabaseId[]
}

export { StoreUnavailableError } from '../kv/store-errors.ts'

/** The transaction cannot be committed after an invalid write. */
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

/** The query must be evaluated again in a writing transaction. */
export class WriteNeeded {}

/**
 * The time of a new snapshot would not be later than the client's last seen time (the time of the newest transaction
 * that it has seen). The query must be retried soon.
 */
export class SnapshotTooEarly {}

/** A document in a committed transaction, as stored in the change record (change-log.ts). */
export interface Change {
  readonly ref: Ref
  /** The time of the version. For a write into the past, it differs from the time of the transaction. */
  readonly validTime: Micros
  readonly kind: 'write' | 'history insert' | 'history remove'
  readonly action: ActionName
}

/** The changes of one transaction, or only those in one collection. */
export interface CommittedTransaction {
  readonly time: Micros
  readonly changes: readonly Change[]
}

export interface TransactionOutcome<T> {
  readonly result: T
  /** The commit time of a write, or the snapshot time of a read. */
  readonly time: Micros
  readonly counters: TransactionCounters
  /** How often the transaction was evaluated again because of conflicts. */
  readonly retries: number
}

export interface WriteOptions {
  /** The time of the newest transaction that the client has seen. The transaction gets a later time. */
  readonly lastSeen?: Micros
  /**
   * The maximum number of retries after conflicts. If undefined, there are a few retries, and the last one holds the
   * writer lock, so that it cannot conflict.
   */
  readonly retriesMax?: number
  /** The owner of the memory of waiting writes. Called after the evaluation. */
  readonly memoryOwner?: () => string
}

/** Other transactions have changed the read set of a transaction during each attempt. */
export class ContendedTransaction {
  readonly attempts: number

  constructor(attempts: number) {
    this.attempts = attempts
  }
}

/** Steps in the order of a check. */
export type CheckStep = 'documents' | 'entries of indexes' | 'recorded changes'

/** `rows`: the number of rows that the current step has checked. */
export type OnCheckProgress = (step: CheckStep, rows: number) => void
