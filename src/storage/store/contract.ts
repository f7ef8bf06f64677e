// What the layers above see of the store: transactions over versioned documents, indexes and the catalogue of schema
// objects. Everything here is synchronous; a transaction can be replayed: again from the start, on a newer snapshot,
// with what was waited for remembered.

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

/** A collection of a database. */
export type CollectionPlace = Pick<Ref, 'database' | 'collection'>

/** One version of a document as stored, hidden fields included. */
export interface Version {
  readonly ref: Ref
  /** {@link TransactionTime} while the transaction that writes it runs. */
  readonly ts: Micros | TransactionTime
  readonly action: 'create' | 'update' | 'delete'
  /** Top-level fields in stored order: `data`, `ttl`, `name` …; empty for a delete. */
  readonly fields: ObjectValue
  /**
   * The time of the schema that the fields are in the shape of; absent: of the one under which the version was written.
   */
  readonly shapeTime?: Micros
  /** Of a version that is read often: where its text is remembered. */
  readonly shown?: VersionRenderCache
}

/** One entry of an index (or of a collection seen as a set). */
export interface IndexEntry {
  /** The covered values; empty for an index without values and for collections. */
  readonly values: readonly Value[]
  readonly document: Ref
}

/** An entry's coming or going in a set's history. */
export interface IndexEvent extends IndexEntry {
  readonly ts: Micros | TransactionTime
  readonly action: 'add' | 'remove'
}

/** An entry that one write took out of an index or put into it. */
export interface EntryChange {
  readonly action: 'add' | 'remove'
  readonly terms: readonly Value[]
  readonly values: readonly Value[]
  /** The same text for all terms that the index holds to be the same. */
  readonly termsKey: string
}

export type { TupleBound as EntryBound } from '../keys/tuple.ts'

/** Which entries of an index, in which direction. */
export interface EntryScan {
  /** Entries at or after this place (in the set's own order). */
  readonly from?: TupleBound
  /** Entries before this place (in the set's own order). */
  readonly to?: TupleBound
  /** Last entry first. `from` and `to` keep their meaning. */
  readonly reverse?: boolean
  /** The state at a past time; now, with the transaction's own writes, when absent. */
  readonly at?: number
}

/** A place in a set's history: `ts`, then removes before adds, then document id, collection, values. */
export interface EventBound {
  readonly ts: Micros
  readonly action?: 'add' | 'remove'
  readonly document?: Pick<Ref, 'id' | 'collection'>
  readonly values?: readonly Value[]
  readonly side: 'low' | 'high'
}

/** Which events of an index, in which direction. */
export interface EventScan {
  readonly from?: EventBound
  readonly to?: EventBound
  readonly reverse?: boolean
}

/** A database as the catalogue knows it. */
export interface DatabaseDefinition {
  readonly id: DatabaseId
  readonly ref: Ref
  readonly name: string
  /** The database that holds it. */
  readonly parent: DatabaseId
  readonly container: boolean
  readonly protected: boolean
}

/** What the store has to know of a collection. */
export interface CollectionDefinition {
  readonly ref: Ref
  readonly name: string
  /** Days; undefined keeps everything. */
  readonly historyDays: number | undefined
  readonly ttlDays: number | undefined
}

/** One term or value of an index. */
export interface IndexField {
  readonly path: readonly (string | bigint)[] | undefined
  readonly binding: string | undefined
  /** Where in the value of the binding. */
  readonly within: readonly (string | bigint)[] | undefined
  readonly reverse: boolean
  readonly casefold: boolean
  /** False: an array or object is one value as a whole. */
  readonly multiValue: boolean
}

/** Which documents an index covers: collections by number (`'_'`: every user collection), with computed fields. */
export interface IndexSource {
  readonly collections: readonly number[] | '_'
  readonly bindings: ReadonlyMap<string, Code>
}

/** What the store has to know of an index. */
export interface IndexDefinition {
  readonly ref: Ref
  readonly name: string
  readonly sources: readonly IndexSource[]
  readonly terms: readonly IndexField[]
  readonly values: readonly IndexField[]
  readonly unique: boolean
  /**
   * It is part of its collection's definition: it has no name and is not listed, and it has entries whose values are all null.
   */
  readonly isOwn: boolean
  readonly serialized: boolean
  readonly active: boolean
  readonly partitions: number
  /** Every caller of its database may read the set, such as a login page with a client key. */
  readonly publicRead: boolean
}

/** Schema objects by name and by reference, with the transaction's own writes. */
export interface Catalogue {
  /** The live schema object of that native collection (`native.collections`, …) with that name. */
  resolve(database: DatabaseId, nativeCollection: number, name: string): Ref | undefined
  /** The name of a schema object, or the last one it had if it is gone. */
  nameOf(ref: Ref): string | undefined
  /** When the schema of a database was last changed, by the snapshot; 0 where there is none. Asked before anything is written. */
  schemaVersion(database: DatabaseId): Micros
  /** Live definitions; undefined when the object does not exist (any more). */
  database(id: DatabaseId): DatabaseDefinition | undefined
  /** The live database that a reference names, if it still lies where the reference says: numbers may come from data. */
  databaseAt(ref: Ref): DatabaseDefinition | undefined
  /**
   * A database and those around it, from the inside out, the root left out. Ends early where one is not live (any more).
   */
  lineage(database: DatabaseId): readonly DatabaseDefinition[]
  collection(ref: Ref): CollectionDefinition | undefined
  index(ref: Ref): IndexDefinition | undefined
  /** Whether documents of a collection can be reached: native ones always, others while the collection lives. */
  hasCollection(database: DatabaseId, collection: CollectionId): boolean
  /** The live indexes that cover a collection. */
  indexesOf(database: DatabaseId, collection: number): readonly IndexDefinition[]
  /** The database and its ancestors are live. The root always is. */
  isLive(database: DatabaseId): boolean
  /**
   * What `derive` computes from the named schema objects of a database (roles, functions …) and from nothing else:
   * remembered under `name` until one of them changes.
   */
  derived<T>(database: DatabaseId, name: string, derive: () => T): T
}

/** The schema object that had a name at some moment: by native collection and name, within one database. */
export type NameLookup = (nativeCollection: CollectionId, name: string) => Ref | undefined

/** What the store must ask the layers above for, which know the languages: running the computed fields of indexes. */
export interface StoreHooks {
  /**
   * The value of a binding for a document, or undefined when it has none (error, object, unresolved); without `names` one
   * that looks a name up has none.
   */
  evaluateBinding(binding: Code, document: Version, names?: NameLookup): Value | undefined
  /**
   * What the steps mean that a collection keeps of the changes to the shape of its documents. Absent where there are none.
   */
  readonly readMigration?: (steps: Value) => Migration
}

/** How documents get from the shapes that their collection once had to the one that it has. */
export interface Migration {
  /** When the shape was last changed. */
  readonly lastTime: Micros
  /** Fields of a document in the present shape; `shapeTime`: the time of the schema whose shape they have. */
  apply(fields: ObjectValue, shapeTime: Micros): ObjectValue
}

/** What a write costs and reads cost, for the metrics headers. */
export interface TransactionCounters {
  readBytes: number
  writeBytes: number
  /** Sum over touched documents of ceil(bytes / 1024). */
  writeOps: number
  /** Evaluated units of computing index entries: one for each term and value of a version. */
  indexUnits: number
}

/** The sizes of some rows of an index, or of a collection. */
export interface StoredSize {
  /** Live entries of an index, live documents of a collection. */
  readonly count: number
  /** Keys and values of all rows, past ones included. */
  readonly bytes: number
  /** The key of the last row, where there may be more. */
  readonly last: Uint8Array | undefined
}

/**
 * A transaction over the whole data directory: it sees a snapshot of that, its own writes included. Nothing in it checks
 * permissions or validates schema objects: the layers above do. Refused writes throw {@link WriteRefused}; a write in one
 * that only reads throws {@link WriteNeeded}.
 */
export interface Transaction {
  readonly catalogue: Catalogue
  readonly directory: Directory
  readonly counters: TransactionCounters
  /** The time reads see: everything committed at or before it. Constant. */
  readonly snapshotTime: Micros
  /**
   * The time of the newest commit that reads see; every later commit, of any process, has a later time. Commits under
   * way may have times before {@link snapshotTime}.
   */
  readonly lastCommitTime: Micros
  /**
   * A time for responses of what is not committed, such as a failed write: reads see everything committed up to it, and
   * no later commit has a time up to it. At most {@link snapshotTime}.
   */
  readonly settledTime: Micros
  /**
   * The time that the response will tell, where it becomes part of the result: a transaction that has written anything commits
   * at that very time then, or is evaluated again.
   */
  resultTime(): Micros
  /** False: any write throws {@link WriteNeeded}, and the runner starts again with a writing transaction. */
  readonly writable: boolean
  /** Grows with each write: while it stays, what was read is what would be read again. */
  readonly writes: number

  /** The live version at `at`, whatever number that is (now, with own writes, when absent): not deleted, its ttl not passed. */
  get(ref: Ref, at?: number): Version | undefined
  /** All retained versions, oldest first, own pending one included; ttl does not hide them. */
  versions(ref: Ref, options?: { readonly reverse?: boolean }): Iterable<Version>
  /** Entries of an index for these terms, in order. Lazy. */
  match(index: IndexDefinition, terms: readonly Value[], scan: EntryScan): Iterable<IndexEntry>
  /** Live documents of a collection (native ones too), by id. Lazy. */
  documents(database: DatabaseId, collection: number, scan: EntryScan): Iterable<IndexEntry>
  /** What replacing one version of a document by the next does to an index, remove events first. Undefined: none was live. */
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
   * What transactions from `from` on have changed in a collection, oldest first; of what was committed before
   * {@link changesSince} nothing. Lazy.
   */
  collectionChanges(
    database: DatabaseId,
    collection: CollectionId,
    from: Micros,
  ): Iterable<CommittedTransaction>
  /** The time after which the changes of collections were recorded. */
  readonly changesSince: Micros
  /** The oldest time at which reads of a collection are exact (retention). Reads before it fail with 400. */
  minimumValidTime(database: DatabaseId, collection: number): Micros

  /** The sizes of at most `rowsMax` rows of an index, from those behind the key `after` on. */
  indexSize(index: Ref, rowsMax: number, after?: Uint8Array): StoredSize
  /** The same of a collection of documents, which its reference names. */
  collectionSize(collection: Ref, rowsMax: number, after?: Uint8Array): StoredSize

  /** Whether this transaction has written documents of a collection. */
  hasWritten(database: DatabaseId, collection: number): boolean
  /** Writes a version that replaces whatever this transaction wrote before. Checks unique indexes ('instance not unique'). */
  put(ref: Ref, fields: ObjectValue): Version
  /** Deletes a live document; for schema objects also what belongs to them. */
  delete(ref: Ref): void
  /** Writes a version into the past. `fields` undefined stores a delete. Returns the version as stored. */
  insertVersion(ref: Ref, ts: Micros, fields: ObjectValue | undefined): Version
  /** Removes the version at exactly `ts`, if there is one that matches. Returns what was removed. */
  removeVersion(ref: Ref, ts: Micros, action: 'create' | 'delete'): Version | undefined
  /** The number for a new collection (from 1024) or index (from 32768) of a database; never given twice. */
  nextSchemaId(database: DatabaseId, nativeCollection: number): bigint
  /** Puts a database (with everything in it) under another parent. */
  moveDatabase(database: Ref, parent: DatabaseId): Version
  /** A secret that only the store knows and that never changes; where there is none yet, what `draw` gives becomes it. */
  secretKey(draw: () => Uint8Array): Uint8Array
  /**
   * A new id, larger than all this worker has given: milliseconds since 1336258850000 << 20 | sequence << 10 | worker.
   * Throws `Pending` while ids have to be reserved.
   */
  newId(): bigint
  /**
   * Whether an id that was drawn must not be given to a new document: something is stored under it, be it deleted or
   * expired.
   */
  isTaken(ref: Ref): boolean
  /**
   * A transaction over what this one sees and has written so far, which may write, and of which nothing stays.
   */
  rehearsal(): Transaction
  /**
   * What this one saw if the commit at `time` were the newest, but for schemas, which are the present ones; itself when that
   * is so. Nothing can be written through it; what it reads counts here.
   */
  asOf(time: Micros): Transaction
}

/** Documents that are found by what a credential says, not by a reference. */
export interface Directory {
  /** The document of `native.credentials` whose `instance` is this. */
  credentialOf(instance: Ref): Version | undefined
  /** The documents of `native.tokens` whose `instance` is this. */
  tokensOf(instance: Ref): readonly Version[]
  /** The access provider with that issuer. */
  accessProviderByIssuer(database: DatabaseId, issuer: string): Version | undefined
  /** The databases with a key of that id: keys are found by the id in their secret alone. */
  keyDatabases(keyId: bigint): readonly DatabaseId[]
}

export { StoreUnavailableError } from '../kv/errors.ts'

/** Thrown by a write that cannot be: nothing of it was written, and the transaction cannot be committed. */
export class WriteRefused extends Error {
  override name = 'WriteRefused'
  readonly reason: 'not unique' | 'key exists'
  /** The unique indexes that hold the same terms and values. */
  readonly indexes: readonly Ref[]

  constructor(reason: WriteRefused['reason'], indexes: readonly Ref[] = []) {
    super(reason)
    this.reason = reason
    this.indexes = indexes
  }
}

/** Thrown by a write in a read-only transaction: run the query again in a writing one. */
export class WriteNeeded {}

/** Thrown by a read whose snapshot has no time yet that is late enough for its client: run the query again in a moment. */
export class SnapshotTooEarly {}

/** One document touched by a committed transaction, as the change log holds it. */
export interface Change {
  readonly ref: Ref
  /** The version's own time; differs from the transaction's for writes into the past. */
  readonly validTime: Micros
  readonly kind: 'write' | 'history insert' | 'history remove'
  readonly action: ActionName
}

/** What one transaction has touched, or a part of it. */
export interface CommittedTransaction {
  readonly time: Micros
  readonly changes: readonly Change[]
}

/** What a transaction came to. */
export interface TransactionOutcome<T> {
  readonly result: T
  /** Commit time of a write, else the snapshot time. */
  readonly time: Micros
  readonly counters: TransactionCounters
  /** How often it had to be evaluated again because of commits of others. */
  readonly retries: number
}

export interface WriteOptions {
  /** The snapshot time is at least this. */
  readonly notBefore?: Micros
  /** How often a transaction that takes long is tried again, when others got in its way; 4 when absent. */
  readonly retriesMax?: number
}

/** A transaction was given up: others wrote what it had read, each time that it was tried. */
export class ContendedTransaction {
  /** Attempts that met contention. */
  readonly attempts: number

  constructor(attempts: number) {
    this.attempts = attempts
  }
}

/** What a check goes through, in this order. */
export type CheckStep = 'documents' | 'entries of indexes' | 'recorded changes'

/** Told how many rows of a step were looked at so far. */
export type OnCheckProgress = (step: CheckStep, rows: number) => void
