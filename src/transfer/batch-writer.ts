// Writes the records of a batch to the store in one transaction, without queries. Ids, password hashes, references and
// the past times of new documents are written exactly as the records contain them. Existing documents are changed only
// if `onConflict` is `replace`.

import { limits } from '../base/limits.ts'
import { micros } from '../base/micros.ts'
import type { Memo } from '../base/pending.ts'
import { RequestError } from '../base/request-errors.ts'
import { upsert } from '../base/upsert.ts'
import { encodeValue } from '../storage/keys/value-codec.ts'
import type { IndexDefinition, IndexField } from '../storage/store/index-definition.ts'
import type { Store } from '../storage/store/store.ts'
import {
  type Transaction,
  type TransactionCounters,
  type Version,
  WriteRejected,
} from '../storage/store/store-contract.ts'
import { equalValues } from '../values/equality.ts'
import {
  type DatabaseId,
  firstUserCollection,
  type Lambda,
  native,
  type ObjectValue,
  Ref,
  sameRef,
  Time,
} from '../values/value.ts'
import type { DocumentRecord } from './record.ts'
import { recordFault } from './record-check.ts'
import { Resolver } from './resolve.ts'

/** The reaction to a record whose document already exists with different content. */
export type OnConflict = 'fail' | 'keep' | 'replace'

export interface BatchOptions {
  readonly onConflict: OnConflict
  /** If true, the import only computes the outcomes and writes nothing. */
  readonly dryRun: boolean
  /**
   * When documents are checked against the rules of their collections:
   * - undefined: each document when it is written. A failed check has the outcome `bad`.
   * - `each`: each document when it is written. A failed check has the outcome `unmet`, because it may succeed once
   *   other documents exist.
   * - `together`: all documents of the batch, after the whole batch was written in one transaction.
   */
  readonly checks?: 'each' | 'together' | undefined
}

/** Thrown when a written document fails the checks of its collection. */
export class DocumentRejection {
  readonly reason: string
  constructor(reason: string) {
    this.reason = reason
  }
}

/** Thrown by `runTogether` with the outcomes of the records that failed. The caller retries the batch without them. */
export class RecordRejections {
  readonly outcomes: ReadonlyMap<number, Outcome>
  constructor(outcomes: ReadonlyMap<number, Outcome>) {
    this.outcomes = outcomes
  }
}

/** Thrown when an inserted version is not visible, because the history contains a later deletion of its document. */
export class HiddenVersion {}

/**
 * Maximum number of bytes that the store needs for one character of a record's text. For example, the four characters
 * `0.0,` need nine bytes.
 */
const bytesOfCharacter = 3

/** The outcome of writing one record. */
export type Outcome =
  | { readonly kind: 'written' | 'equal' | 'kept' | 'replaced' | 'expired' }
  /** The record was not written because of `reason`. */
  | { readonly kind: 'conflict' | 'bad' | 'unmet'; readonly reason: string }

/** A reference from a record to a document that does not exist (yet). */
export interface MissingReference {
  /** Index in the batch. */
  readonly record: number
  readonly collection: string
  readonly id: bigint
}

export interface BatchResult {
  /** Outcomes of each processed record, in order. */
  readonly outcomes: readonly Outcome[]
  readonly missing: readonly MissingReference[]
  /**
   * References to schema objects (for example collections) that do not exist in the database. `record`: the record's
   * index.
   */
  readonly unresolved: readonly { readonly record: number; readonly what: string }[]
}

const done = {
  written: { kind: 'written' },
  equal: { kind: 'equal' },
  kept: { kind: 'kept' },
  replaced: { kind: 'replaced' },
  expired: { kind: 'expired' },
} as const

/** Limits the load that an import causes. */
interface Pace {
  /** Milliseconds after which a transaction writes no further record. */
  readonly batchMs: number
  /** Resolves when this process may compute index bindings (computed index fields) of `database` again. */
  waitForBindingPauses(database: DatabaseId): Promise<void>
}

/** The rules that collections define for their documents. Both methods may throw `Pending` and RequestErrors. */
interface DocumentRules {
  /**
   * Adds missing fields: first from `existing`, then from the defaults of the collection. Returns the complete fields,
   * or the reason of a rejection.
   */
  complete(
    ref: Ref,
    fields: ObjectValue,
    existing: ObjectValue | undefined,
  ): ObjectValue | { readonly reason: string }
  /** Why a written document is rejected; undefined when it is accepted. */
  rejection(ref: Ref): string | undefined
}

/** The rules of the languages for written documents. */
interface BatchRules {
  /** Applies the rules of the lambda's language. */
  isExpression(lambda: Lambda): boolean
  /** Returns the rules for one transaction; all of its attempts have the same `memo`. */
  documents(transaction: Transaction, database: DatabaseId, memo: Memo): DocumentRules
}

/** The store that a batch is written to, and the limits of its request. */
export interface BatchTarget {
  readonly store: Store
  readonly rules: BatchRules
  /** Undefined if the process serves no other requests. */
  readonly pace?: Pace | undefined
  /** Called after each transaction. */
  readonly onCosts?: OnCosts | undefined
  /** Called before each transaction. Throws if the transfer should stop, for example after its client disconnected. */
  readonly throwIfStopped?: (() => void) | undefined
}

/** Receives a transaction's counts of reads and writes. */
export type OnCosts = (counters: Readonly<TransactionCounters>) => void

/** Runs `work`, which handles one record, within the limits for one record. */
export type WorkLimit = <T>(work: () => T) => T

/** Sets no limit, for imports into a process that serves no other requests. */
export const unlimited: WorkLimit = work => work()

/** Returns the outcome of a record that can never be written. */
export function badOutcome(reason: string): Outcome {
  return { kind: 'bad', reason }
}

/** Returns the outcome of a record that was not written. A retry may succeed once other documents exist. */
export function unmetOutcome(reason: string): Outcome {
  return { kind: 'unmet', reason }
}

/** True if the store rejected the write. */
export function isRejection(error: unknown): error is WriteRejected | RequestError {
  return error instanceof WriteRejected || error instanceof RequestError
}

function conflict(reason: string): Outcome {
  return { kind: 'conflict', reason }
}

/** Returns the reason for the report. */
export function reasonOf(error: WriteRejected | RequestError | DocumentRejection): string {
  if (error instanceof DocumentRejection) return error.reason
  if (error instanceof RequestError) return error.description
  return error.reason === 'not unique' ? 'document is not unique.' : 'Key already exists.'
}

export class BatchWriter {
  readonly #transaction: Transaction
  readonly #database: DatabaseId
  readonly #options: BatchOptions
  /**
   * True: checks before each insert whether the history contains a later deletion of the document. False: checks after
   * the insert whether the inserted version is visible, which is faster.
   */
  readonly #isCareful: boolean
  readonly #target: BatchTarget
  readonly #rules: DocumentRules
  readonly #resolver: Resolver
  readonly #missing: MissingReference[] = []
  readonly #unresolved: { readonly record: number; readonly what: string }[] = []
  readonly #uniqueIndexes = new Map<number, readonly IndexDefinition[]>()

  constructor(
    transaction: Transaction,
    database: DatabaseId,
    options: BatchOptions,
    isCareful: boolean,
    target: BatchTarget,
    memo: Memo,
  ) {
    this.#target = target
    this.#rules = target.rules.documents(transaction, database, memo)
    this.#transaction = transaction
    this.#database = database
    this.#options = options
    this.#isCareful = isCareful
    this.#resolver = new Resolver(transaction.catalogue, database)
  }

  /**
   * Writes the records from index `from` up to `end` in order until `isOver` returns true, but at least one. `limited`
   * runs the work for each record.
   */
  run(
    records: readonly DocumentRecord[],
    [from, end]: readonly [from: number, end: number],
    isOver: () => boolean,
    limited: WorkLimit,
  ): BatchResult {
    const outcomes: Outcome[] = []
    for (let index = from; index < end; index++) {
      if (index > from && isOver()) break
      outcomes.push(limited(() => this.#record(records[index] as DocumentRecord, index)))
    }
    return { outcomes, missing: this.#missing, unresolved: this.#unresolved }
  }

  /**
   * Writes all records whose index is not in `rejected`, and then checks the written documents. Throws {@link
   * RecordRejections} if records fail.
   */
  runTogether(
    records: readonly DocumentRecord[],
    rejected: ReadonlyMap<number, Outcome>,
    limited: WorkLimit,
  ): BatchResult {
    const outcomes = records.map(
      (record, index) =>
        rejected.get(index) ?? attributed(index, () => limited(() => this.#record(record, index))),
    )
    const found = new Map<number, Outcome>()
    for (const [index, { collection, id }] of records.entries()) {
      const { kind } = outcomes[index] as Outcome
      if (kind !== 'written' && kind !== 'replaced') continue
      const ref = new Ref(this.#database, this.#resolver.transferredCollection(collection) as number, id)
      const reason = attributed(index, () =>
        limited(() => this.#runCollectionCode(() => this.#rules.rejection(ref))),
      )
      if (reason !== undefined) found.set(index, unmetOutcome(reason))
    }
    if (found.size > 0) throw new RecordRejections(found)
    return { outcomes, missing: this.#missing, unresolved: this.#unresolved }
  }

  #record(record: DocumentRecord, index: number): Outcome {
    const fault = recordFault(record)
    if (fault !== undefined) return badOutcome(fault)
    const number = this.#resolver.transferredCollection(record.collection)
    if (number === undefined) {
      // A dry run does not create missing collections, unlike a real import.
      return this.#options.dryRun ? done.written : badOutcome(`there is no collection ${record.collection}`)
    }
    const fields = this.#resolver.fields(record.fields)
    const ref = new Ref(this.#database, number, record.id)
    const rejected = this.#rejection(ref, fields)
    if (rejected !== undefined) return badOutcome(rejected)
    if (record.size > limits.documentBytesMax / bytesOfCharacter) {
      const bytes = encodeValue(fields).length
      if (bytes > limits.documentBytesMax)
        return badOutcome(`too large: ${bytes} bytes, allowed are ${limits.documentBytesMax}`)
    }
    const outcome = record.isHistory ? this.#past(ref, fields, record) : this.#present(ref, fields, record)
    if (outcome.kind === 'written' || outcome.kind === 'replaced' || outcome.kind === 'equal')
      this.#reportMissing(index)
    return outcome
  }

  /** Why a query would reject the resolved fields; undefined for valid fields. */
  #rejection(ref: Ref, fields: ObjectValue): string | undefined {
    for (const lambda of this.#resolver.lambdas) {
      if (!this.#target.rules.isExpression(lambda)) return 'a stored lambda that is not valid in the language'
    }
    if (ref.collection !== native.credentials) return undefined
    const { container } = this.#transaction.catalogue.database(this.#database) ?? {}
    if (container) return 'a container database cannot contain credentials'
    const instance = fields.get('instance')
    const isDocument = instance instanceof Ref && instance.collection >= firstUserCollection
    return isDocument ? undefined : 'its `instance` is not a reference to a document'
  }

  /** Reports the documents and schema objects to which the current record refers and which do not exist. */
  #reportMissing(record: number): void {
    for (const what of this.#resolver.unresolved) this.#unresolved.push({ record, what })
    for (const ref of this.#resolver.documents) {
      if (this.#transaction.get(ref) !== undefined) continue
      const collection = this.#nameOf(ref.collection)
      if (collection !== undefined) this.#missing.push({ record, collection, id: ref.id })
    }
  }

  /**
   * Returns undefined for a native collection. Documents of native collections (keys, tokens) are not imported, so
   * references to them are not reported as missing.
   */
  #nameOf(collection: number): string | undefined {
    const ref = new Ref(this.#database, native.collections, BigInt(collection))
    return this.#transaction.catalogue.collection(ref)?.name
  }

  #present(ref: Ref, given: ObjectValue, { ts }: DocumentRecord): Outcome {
    const { onConflict } = this.#options
    const { snapshotTime } = this.#transaction
    if (isExpired(given, snapshotTime)) return done.expired
    const existing = this.#transaction.get(ref)
    if (existing !== undefined && equalValues(existing.fields, given)) return done.equal
    const fields = this.#runCollectionCode(() => this.#rules.complete(ref, given, existing?.fields))
    if ('reason' in fields) return badOutcome(fields.reason)
    if (existing !== undefined && equalValues(existing.fields, fields)) return done.equal
    const hindrance = existing ? 'exists with different content' : this.#hindrance(ref, fields, ts)
    if (hindrance !== undefined) {
      if (onConflict === 'keep') return done.kept
      if (onConflict === 'fail') return conflict(hindrance)
    }
    const taken = this.#takenBy(ref, fields)
    if (taken !== undefined) return badOutcome(taken)
    const isPast = ts !== undefined && ts < snapshotTime && hindrance === undefined
    if (isPast) this.#insert(ref, ts, fields)
    else this.#transaction.put(this.#writtenRef(ref, fields), fields)
    const isCheckedLater = this.#options.checks === 'together'
    const rejected = isCheckedLater ? undefined : this.#runCollectionCode(() => this.#rules.rejection(ref))
    if (rejected !== undefined) throw new DocumentRejection(rejected)
    return hindrance === undefined ? done.written : done.replaced
  }

  /**
   * Runs code that a collection defines. Its CPU time and that of the index bindings are counted together, for the time
   * limit of a record and for the pauses of an import.
   */
  #runCollectionCode<T>(work: () => T): T {
    return this.#target.store.bindingBudget.within(work)
  }

  #insert(ref: Ref, ts: number, fields: ObjectValue): void {
    this.#transaction.insertVersion(ref, micros(ts), fields)
    if (!this.#isCareful && this.#transaction.get(ref) === undefined) throw new HiddenVersion()
  }

  /**
   * Usually `ref`. If `ref` is a credentials document whose `instance` already has credentials with another id, returns
   * the existing ones.
   */
  #writtenRef(ref: Ref, fields: ObjectValue): Ref {
    return this.#otherCredentials(ref, fields)?.ref ?? ref
  }

  /** Why a document that does not exist now cannot be created; undefined when it can. */
  #hindrance(ref: Ref, fields: ObjectValue, ts: number | undefined): string | undefined {
    if (this.#otherCredentials(ref, fields)) return 'belongs to a document that has another password'
    if (ts === undefined || !this.#isCareful) return undefined
    // Before a deletion, the inserted version would not be visible.
    const [newest] = this.#transaction.versions(ref, { reverse: true })
    const isHidden = newest?.action === 'delete' && typeof newest.ts === 'number' && newest.ts >= ts
    return isHidden ? 'was deleted here' : undefined
  }

  #otherCredentials(ref: Ref, fields: ObjectValue): Version | undefined {
    const instance = ref.collection === native.credentials ? fields.get('instance') : undefined
    const found = instance instanceof Ref ? this.#transaction.directory.credentialOf(instance) : undefined
    return found && !sameRef(found.ref, ref) ? found : undefined
  }

  #past(ref: Ref, fields: ObjectValue, { isDelete, ts }: DocumentRecord): Outcome {
    if (ts === undefined || ts >= this.#transaction.snapshotTime)
      return badOutcome('a past version without a time in the past')
    for (const version of this.#transaction.versions(ref, { reverse: true, notAfter: micros(ts) })) {
      if (version.ts !== ts) break
      const isSame = (version.action === 'delete') === isDelete && equalValues(version.fields, fields)
      if (isSame) return done.equal
      if (this.#options.onConflict === 'keep') return done.kept
      if (this.#options.onConflict === 'fail') return conflict('has another version at that time')
      break
    }
    this.#transaction.insertVersion(ref, micros(ts), isDelete ? undefined : fields)
    return done.written
  }

  /** Why a unique index rejects the document; undefined when all accept it. */
  #takenBy(ref: Ref, fields: ObjectValue): string | undefined {
    for (const index of this.#uniqueIndexesOf(ref.collection)) {
      const version: Version = { ref, ts: this.#transaction.snapshotTime, action: 'create', fields }
      for (const change of this.#transaction.entryChanges(index, undefined, version)) {
        if (change === undefined) continue
        const { terms, values } = change
        const from = { values, side: 'low' } as const
        const to = { values, side: 'high' } as const
        for (const { document } of this.#transaction.match(index, terms, { from, to })) {
          if (sameRef(document, ref)) continue
          const collection = this.#nameOf(document.collection) ?? ''
          return `the unique ${nameOf(index)} already contains the values, from ${collection} ${document.id}`
        }
      }
    }
    return undefined
  }

  #uniqueIndexesOf(collection: number): readonly IndexDefinition[] {
    const { catalogue } = this.#transaction
    return upsert(this.#uniqueIndexes, collection, () =>
      catalogue.indexesOf(this.#database, collection).filter(({ unique }) => unique),
    )
  }
}

/** Throws {@link RecordRejections} if the store rejects the record at `index`. */
function attributed<T>(index: number, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!isRejection(error)) throw error
    throw new RecordRejections(new Map([[index, badOutcome(reasonOf(error))]]))
  }
}

/** Returns a name for messages: `index NAME`, or `constraint of FIELD, FIELD` for the index of a constraint. */
function nameOf({ isOwn, name, terms, values }: IndexDefinition): string {
  if (!isOwn) return `index ${name}`
  return `constraint of ${[...terms, ...values].map(textOfField).join(', ')}`
}

function textOfField({ binding, path = [], within = [] }: IndexField): string {
  const steps = binding === undefined ? path.slice(path[0] === 'data' ? 1 : 0) : [binding, ...within]
  return steps.join('.')
}

function isExpired(fields: ObjectValue, now: number): boolean {
  const ttl = fields.get('ttl')
  return ttl instanceof Time && Number(ttl.seconds) * 1e6 + ttl.nanos / 1000 <= now
}
