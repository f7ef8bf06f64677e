// Writes a batch of documents in one transaction, below the query layer: identifiers, times, hashes and references come
// as they were. What is there already is left as it is, so a batch may be written any number of times. This is the one
// file that writes to the store.

import { micros } from '../base/micros.ts'
import { Memo, Pending } from '../base/pending.ts'
import { upsert } from '../base/upsert.ts'
import { RequestError } from '../errors.ts'
import { encodeValue } from '../keys/value-codec.ts'
import { limits } from '../limits.ts'
import type { Attempt } from '../store/attempt.ts'
import { batchEnd } from '../store/batch.ts'
import {
  ContendedTransaction,
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
}

/** A document has been written that its collection does not take. */
class DocumentRefused {
  readonly reason: string
  constructor(reason: string) {
    this.reason = reason
  }
}

/** A version was put behind the end of its document, where it cannot be seen. */
class HiddenByEnd {}

/** What a character of a record's text takes in the store, at most: `0.0,` takes nine bytes. */
const bytesOfCharacter = 3

/** What became of a record. */
export type Outcome =
  | { readonly kind: 'written' | 'equal' | 'kept' | 'replaced' | 'expired' }
  /** Nothing was written; the reason says what stands in the way. */
  | { readonly kind: 'conflict' | 'bad'; readonly reason: string }

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

/**
 * Writes the records of a batch, all that can be written at once. A batch that is too large for a transaction, or takes
 * longer than `pace` allows, is written in parts; a record that the store refuses is bad and hinders no other.
 */
export async function writeBatch(
  target: BatchTarget,
  database: DatabaseId,
  records: readonly DocumentRecord[],
  options: BatchOptions,
): Promise<BatchResult> {
  await target.pace?.rest(database)
  let first: BatchResult
  try {
    first = await writeSome(target, database, records, options)
  } catch (error) {
    // Others got in the way of a batch that takes long; small ones take so little time that this cannot happen.
    const isContended = error instanceof ContendedTransaction && records.length > 1
    const isRefused =
      error instanceof WriteRefused || error instanceof RequestError || error instanceof DocumentRefused
    if (isRefused && records.length === 1)
      return { outcomes: [bad(reasonOf(error))], missing: [], unresolved: [] }
    if (!isContended && !isRefused) throw error
    first = await writeBatch(target, database, records.slice(0, records.length >> 1), options)
  }
  const count = first.outcomes.length
  if (count === records.length) return first
  const second = await writeBatch(target, database, records.slice(count), options)
  const shifted = <T extends { readonly record: number }>(found: readonly T[]) =>
    found.map(each => ({ ...each, record: each.record + count }))
  return {
    outcomes: [...first.outcomes, ...second.outcomes],
    missing: [...first.missing, ...shifted(second.missing)],
    unresolved: [...first.unresolved, ...shifted(second.unresolved)],
  }
}

/** Writes the first records in one transaction: all of them, unless that takes long. */
async function writeSome(
  target: BatchTarget,
  database: DatabaseId,
  records: readonly DocumentRecord[],
  options: BatchOptions,
): Promise<BatchResult> {
  const { pace, store } = target
  const memo = new Memo()
  const run = (isCareful: boolean) => (transaction: Transaction) => {
    memo.begin()
    const writer = new BatchWriter(transaction, database, options, isCareful, target, memo)
    if (pace === undefined) return writer.run(records)
    const limited = <T>(work: () => T) => store.bindings.perDocument(work, limits.recordBindingsMs)
    return store.counted(database, () => writer.run(records, batchEnd(pace.batchMs), limited))
  }
  let isCareful = options.dryRun
  for (;;) {
    try {
      const { counters, result } = options.dryRun
        ? withoutWrites(store.attempt(run(isCareful)))
        : await store.write(run(isCareful))
      target.onSpent?.(counters)
      return result
    } catch (error) {
      if (error instanceof Pending) await memo.settle(error)
      else if (error instanceof HiddenByEnd) isCareful = true
      else throw error
    }
  }
}

/** What is not committed costs no writes. */
function withoutWrites<T>({ counters, result }: Attempt<T>): Pick<Attempt<T>, 'counters' | 'result'> {
  return { result, counters: { ...counters, writeBytes: 0, writeOps: 0 } }
}

/** Which of some documents are not there. */
export function missingOf(
  store: Store,
  database: DatabaseId,
  documents: readonly { readonly collection: string; readonly id: bigint }[],
  onSpent?: OnSpent,
): readonly boolean[] {
  const { counters, result } = store.read(transaction => {
    const resolver = new Resolver(transaction.catalogue, database)
    return documents.map(({ collection, id }) => {
      const number = resolver.container(collection)
      return number === undefined || transaction.get(new Ref(database, number, id)) === undefined
    })
  })
  onSpent?.(counters)
  return result
}

function bad(reason: string): Outcome {
  return { kind: 'bad', reason }
}

function conflict(reason: string): Outcome {
  return { kind: 'conflict', reason }
}

function reasonOf(error: WriteRefused | RequestError | DocumentRefused): string {
  if (error instanceof DocumentRefused) return error.reason
  if (error instanceof RequestError) return error.description
  return error.reason === 'not unique' ? 'document is not unique.' : 'Key already exists.'
}

class BatchWriter {
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
    limited: (work: () => Outcome) => Outcome = work => work(),
  ): BatchResult {
    const outcomes: Outcome[] = []
    for (const [index, record] of records.entries()) {
      if (index > 0 && isOver()) break
      outcomes.push(limited(() => this.#record(record, index)))
    }
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
    const refused = this.#within(() => this.#rules.refusal(ref))
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
