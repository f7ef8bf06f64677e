// Writes records of a batch in one transaction, below the query layer: identifiers, times, hashes and references come as they
// were, and what is there already is left as it is. This is the one file that writes to the store.

import { micros } from '../base/micros.ts'
import type { Memo } from '../base/pending.ts'
import { upsert } from '../base/upsert.ts'
import { RequestError } from '../errors.ts'
import { encodeValue } from '../keys/value-codec.ts'
import { limits } from '../limits.ts'
import {
  type IndexDefinition,
  type IndexField,
  type Transaction,
  type TransactionCounters,
  type Version,
  WriteRefused,
} from '../store/contract.ts'
import type { Store } from '../store/store.ts'
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

/** What to do with a document that is there with another content. */
export type OnConflict = 'fail' | 'keep' | 'replace'

export interface BatchOptions {
  readonly onConflict: OnConflict
  /** Only looks what would happen. */
  readonly dryRun: boolean
  /**
   * When documents meet the checks of their collections. Absent: each when it is written, or it is bad. `each`: the same, but
   * what is refused is unmet, and may pass when others are there. `together`: when all of the batch is
   * written, in one transaction.
   */
  readonly checks?: 'each' | 'together' | undefined
}

/** A document has been written that its collection does not take. */
export class DocumentRefused {
  readonly reason: string
  constructor(reason: string) {
    this.reason = reason
  }
}

/** Records of a batch that is written together are refused: it begins again without them. */
export class RecordsRefused {
  readonly outcomes: ReadonlyMap<number, Outcome>
  constructor(outcomes: ReadonlyMap<number, Outcome>) {
    this.outcomes = outcomes
  }
}

/** A version was put behind the end of its document, where it cannot be seen. */
export class HiddenByEnd {}

/** What a character of a record's text takes in the store, at most: `0.0,` takes nine bytes. */
const bytesOfCharacter = 3

/** What became of a record. */
export type Outcome =
  | { readonly kind: 'written' | 'equal' | 'kept' | 'replaced' | 'expired' }
  /** Nothing was written; the reason says what stands in the way. */
  | { readonly kind: 'conflict' | 'bad' | 'unmet'; readonly reason: string }

/** A reference to a document that is not there (yet). */
export interface MissingReference {
  /** Of the record in its batch. */
  readonly record: number
  readonly collection: string
  readonly id: bigint
}

/** What became of the records of a batch. */
export interface BatchResult {
  /** For each record, in order. */
  readonly outcomes: readonly Outcome[]
  readonly missing: readonly MissingReference[]
  /** What records refer to and this database does not have at all, such as collections. */
  readonly unresolved: readonly { readonly record: number; readonly what: string }[]
}

const done = {
  written: { kind: 'written' },
  equal: { kind: 'equal' },
  kept: { kind: 'kept' },
  replaced: { kind: 'replaced' },
  expired: { kind: 'expired' },
} as const

/** Keeps an import out of the way of others. */
interface Pace {
  /** Milliseconds after which a transaction ends, at the next record. */
  readonly batchMs: number
  /** Resolves when bindings of a database may be computed. */
  rest(database: DatabaseId): Promise<void>
}

/** What the definitions of their collections ask of documents. Both may throw `Pending`, and RequestErrors. */
interface DocumentRules {
  /** The fields with defaults, as far as `existing` has nothing in their place; or why they are refused. */
  complete(
    ref: Ref,
    fields: ObjectValue,
    existing: ObjectValue | undefined,
  ): ObjectValue | { readonly reason: string }
  /** Why a document that has been written is refused. */
  refusal(ref: Ref): string | undefined
}

/** What the languages know of what is written. */
interface BatchRules {
  /** Whether a lambda is one of the language. */
  isExpression(lambda: Lambda): boolean
  /** The rules in one transaction; `memo` is the same in all tries of it. */
  documents(transaction: Transaction, database: DatabaseId, memo: Memo): DocumentRules
}

/** Where batches are written, and by which rules. */
export interface BatchTarget {
  readonly store: Store
  readonly rules: BatchRules
  /** Absent: no others are served. */
  readonly pace?: Pace | undefined
  /** Told what each transaction has read and written. */
  readonly onSpent?: OnSpent | undefined
}

/** Told what a transaction has read and written. */
export type OnSpent = (counters: Readonly<TransactionCounters>) => void

/** Does the work of one record within its limits. */
export type Limited = <T>(work: () => T) => T

/** For imports that keep out of nobody's way. */
export const unlimited: Limited = work => work()

/** Nothing was written, and never will be. */
export function bad(reason: string): Outcome {
  return { kind: 'bad', reason }
}

/** Nothing was written; when other documents are there it may be. */
export function unmet(reason: string): Outcome {
  return { kind: 'unmet', reason }
}

/** Whether the store refuses what was to be written. */
export function isRefusal(error: unknown): error is WriteRefused | RequestError {
  return error instanceof WriteRefused || error instanceof RequestError
}

function conflict(reason: string): Outcome {
  return { kind: 'conflict', reason }
}

/** What the report says of a refusal. */
export function reasonOf(error: WriteRefused | RequestError | DocumentRefused): string {
  if (error instanceof DocumentRefused) return error.reason
  if (error instanceof RequestError) return error.description
  return error.reason === 'not unique' ? 'document is not unique.' : 'Key already exists.'
}

/** Writes the records of a batch in one transaction. */
export class BatchWriter {
  readonly #transaction: Transaction
  readonly #database: DatabaseId
  readonly #options: BatchOptions
  /** Looks before each write whether the document has ended; else afterwards, which is quicker. */
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

  /** Writes records until `isOver`, at least the first; each within `limited`. */
  run(
    records: readonly DocumentRecord[],
    isOver: () => boolean = () => false,
    limited: Limited = unlimited,
  ): BatchResult {
    const outcomes: Outcome[] = []
    for (const [index, record] of records.entries()) {
      if (index > 0 && isOver()) break
      outcomes.push(limited(() => this.#record(record, index)))
    }
    return { outcomes, missing: this.#missing, unresolved: this.#unresolved }
  }

  /** Writes records but those `refused`, then checks them. Throws {@link RecordsRefused}. */
  runTogether(
    records: readonly DocumentRecord[],
    refused: ReadonlyMap<number, Outcome>,
    limited: Limited,
  ): BatchResult {
    const outcomes = records.map(
      (record, index) =>
        refused.get(index) ?? attributed(index, () => limited(() => this.#record(record, index))),
    )
    const found = new Map<number, Outcome>()
    for (const [index, { collection, id }] of records.entries()) {
      const { kind } = outcomes[index] as Outcome
      if (kind !== 'written' && kind !== 'replaced') continue
      const ref = new Ref(this.#database, this.#resolver.container(collection) as number, id)
      const reason = attributed(index, () => limited(() => this.#within(() => this.#rules.refusal(ref))))
      if (reason !== undefined) found.set(index, unmet(reason))
    }
    if (found.size > 0) throw new RecordsRefused(found)
    return { outcomes, missing: this.#missing, unresolved: this.#unresolved }
  }

  #record(record: DocumentRecord, index: number): Outcome {
    const fault = recordFault(record)
    if (fault !== undefined) return bad(fault)
    const number = this.#resolver.container(record.collection)
    if (number === undefined) {
      return this.#options.dryRun ? done.written : bad(`there is no collection ${record.collection}`)
    }
    const fields = this.#resolver.fields(record.fields)
    const ref = new Ref(this.#database, number, record.id)
    const refused = this.#refusal(ref, fields)
    if (refused !== undefined) return bad(refused)
    if (record.size > limits.documentBytesMax / bytesOfCharacter) {
      const bytes = encodeValue(fields).length
      if (bytes > limits.documentBytesMax)
        return bad(`too large: ${bytes} bytes, allowed are ${limits.documentBytesMax}`)
    }
    const outcome = record.isHistory ? this.#past(ref, fields, record) : this.#present(ref, fields, record)
    if (outcome.kind === 'written' || outcome.kind === 'replaced' || outcome.kind === 'equal')
      this.#note(index)
    return outcome
  }

  /** Why the query layer would not take the resolved fields, either. */
  #refusal(ref: Ref, fields: ObjectValue): string | undefined {
    for (const lambda of this.#resolver.lambdas) {
      if (!this.#target.rules.isExpression(lambda)) return 'a stored lambda that is none of the language'
    }
    if (ref.collection !== native.credentials) return undefined
    const { container } = this.#transaction.catalogue.database(this.#database) ?? {}
    if (container) return 'a container holds no credentials'
    const instance = fields.get('instance')
    const isDocument = instance instanceof Ref && instance.collection >= firstUserCollection
    return isDocument ? undefined : 'its `instance` is no reference to a document'
  }

  /** Notes what the record refers to and is not there. */
  #note(record: number): void {
    for (const what of this.#resolver.unresolved) this.#unresolved.push({ record, what })
    for (const ref of this.#resolver.documents) {
      if (this.#transaction.get(ref) !== undefined) continue
      const collection = this.#nameOf(ref.collection)
      if (collection !== undefined) this.#missing.push({ record, collection, id: ref.id })
    }
  }

  /** The name of a user collection; what natives hold (keys, tokens) does not come along and is not missed. */
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
    const fields = this.#within(() => this.#rules.complete(ref, given, existing?.fields))
    if ('reason' in fields) return bad(fields.reason)
    if (existing !== undefined && equalValues(existing.fields, fields)) return done.equal
    const other = existing ? 'is there with another content' : this.#hindrance(ref, fields, ts)
    if (other !== undefined) {
      if (onConflict === 'keep') return done.kept
      if (onConflict === 'fail') return conflict(other)
    }
    const taken = this.#takenBy(ref, fields)
    if (taken !== undefined) return bad(taken)
    const isPast = ts !== undefined && ts < snapshotTime && other === undefined
    if (isPast) this.#insert(ref, ts, fields)
    else this.#transaction.put(this.#targetOf(ref, fields), fields)
    const isCheckedLater = this.#options.checks === 'together'
    const refused = isCheckedLater ? undefined : this.#within(() => this.#rules.refusal(ref))
    if (refused !== undefined) throw new DocumentRefused(refused)
    return other === undefined ? done.written : done.replaced
  }

  /** What code of a document's collection takes counts as what its bindings take. */
  #within<T>(work: () => T): T {
    return this.#target.store.bindings.within(work)
  }

  #insert(ref: Ref, ts: number, fields: ObjectValue): void {
    this.#transaction.insertVersion(ref, micros(ts), fields)
    if (!this.#isCareful && this.#transaction.get(ref) === undefined) throw new HiddenByEnd()
  }

  /** Other credentials of the same instance are what is replaced, whatever their id. */
  #targetOf(ref: Ref, fields: ObjectValue): Ref {
    return this.#otherCredentials(ref, fields)?.ref ?? ref
  }

  /** Why a document that is not there cannot simply come into being. */
  #hindrance(ref: Ref, fields: ObjectValue, ts: number | undefined): string | undefined {
    if (this.#otherCredentials(ref, fields)) return 'belongs to a document that has another password'
    if (ts === undefined || !this.#isCareful) return undefined
    for (const { action, ts: time } of this.#transaction.versions(ref, { reverse: true })) {
      if (action === 'delete' && typeof time === 'number' && time >= ts) return 'was deleted here'
      break
    }
    return undefined
  }

  #otherCredentials(ref: Ref, fields: ObjectValue): Version | undefined {
    const instance = ref.collection === native.credentials ? fields.get('instance') : undefined
    const found = instance instanceof Ref ? this.#transaction.directory.credentialOf(instance) : undefined
    return found && !sameRef(found.ref, ref) ? found : undefined
  }

  #past(ref: Ref, fields: ObjectValue, { isDelete, ts }: DocumentRecord): Outcome {
    if (ts === undefined || ts >= this.#transaction.snapshotTime)
      return bad('a past version without a time in the past')
    for (const version of this.#transaction.versions(ref, { reverse: true })) {
      if (typeof version.ts !== 'number' || version.ts > ts) continue
      if (version.ts < ts) break
      const isSame = (version.action === 'delete') === isDelete && equalValues(version.fields, fields)
      if (isSame) return done.equal
      if (this.#options.onConflict === 'keep') return done.kept
      if (this.#options.onConflict === 'fail') return conflict('has another version at that time')
      break
    }
    this.#transaction.insertVersion(ref, micros(ts), isDelete ? undefined : fields)
    return done.written
  }

  /** Why a unique index refuses the document. */
  #takenBy(ref: Ref, fields: ObjectValue): string | undefined {
    for (const index of this.#uniqueIndexesOf(ref.collection)) {
      const version: Version = { ref, ts: this.#transaction.snapshotTime, action: 'create', fields }
      for (const { terms, values } of this.#transaction.entryChanges(index, undefined, version)) {
        const from = { values, side: 'low' } as const
        const to = { values, side: 'high' } as const
        for (const { document } of this.#transaction.match(index, terms, { from, to })) {
          if (sameRef(document, ref)) continue
          const collection = this.#nameOf(document.collection) ?? ''
          return `the unique ${nameOf(index)} holds the same of ${collection} ${document.id}`
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

/** The result of the work of one record of several. Throws {@link RecordsRefused} where the store refuses it. */
function attributed<T>(index: number, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!isRefusal(error)) throw error
    throw new RecordsRefused(new Map([[index, bad(reasonOf(error))]]))
  }
}

/** `index NAME`; of what belongs to a collection's definition: `constraint of FIELD, FIELD`. */
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
