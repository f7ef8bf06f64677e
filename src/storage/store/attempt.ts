// A transaction evaluated outside the writer's lock: what it read, what it wants to write, its result. Nothing has
// happened yet. It can be thrown away, or made again.

import type { DatabaseId, Micros } from '../../values/value.ts'
import { keyTags } from '../keys/keyspace.ts'
import type { Bytes, EncodedWrites, View, Write } from '../kv/contract.ts'
import { NotingView, type ReadSet, readsAgree, sizeOf } from '../kv/noted-reads.ts'
import type { RecentWrites } from '../kv/recent-writes.ts'
import { type SchemaRead, schemasAgree } from './catalogue.ts'
import type { TransactionCounters } from './contract.ts'
import type { CommitRecord } from './last-commit.ts'
import type { TransactionParts, TransactionTimes } from './reader.ts'
import { retimed } from './retime.ts'
import { StoreTransaction } from './transaction.ts'

/** What a transaction decided, on whatever state it was evaluated. */
export interface Evaluated<T> {
  readonly result: T
  /** The earliest time of the commit, for which the writes are made. */
  readonly commitTime: Micros
  /** Without the record of the commit itself. */
  readonly writes: readonly Write[]
  readonly changesSchema: boolean
  /** {@link StoreTransaction.givenIdsMs}. */
  readonly givenIdsMs: number
  /** When the last of what it saw to have expired did. */
  readonly latestExpiry: Micros
  /** When something that it saw expires. */
  readonly nextExpiry: Micros
  readonly counters: TransactionCounters
}

/** A transaction evaluated on a snapshot, for {@link Store.commit}. */
export interface Attempt<T> extends Evaluated<T> {
  /** Its commit time went into other values, too: the writes cannot be made for another one. */
  readonly isStamped: boolean
  /** The newest commit that it saw. */
  readonly since: CommitRecord
  readonly reads: ReadSet
  /** Decodes the read set that another process has sent. Then `reads` is empty, and the attempt is not compared without it. */
  readonly loadReads?: () => Promise<ReadSet>
  /** What it relied on of remembered schemas. */
  readonly schemas: ReadonlyMap<DatabaseId, SchemaRead>
  /** How long its evaluation took, in microseconds. */
  readonly evaluationMicros: number
  /** Writes before the others, of a large attempt that another process has made, as of the time of the commit. */
  readonly pieces?: (time: Micros) => EncodedWrites
  /** A large attempt as another process has sent it. */
  readonly packed?: PackedAttempt
}

/** What is sent of an attempt as a structured clone. */
export interface AttemptHead
  extends Omit<Attempt<undefined>, 'writes' | 'pieces' | 'reads' | 'loadReads' | 'packed'> {
  readonly rows: number
  /** A small read set; absent: it is in the body, in portions. */
  readonly reads?: ReadSet
  /** Bytes of the encoded writes, then of each portion of the read set: the parts of the body. */
  readonly lengths: readonly number[]
}

/** An attempt as it is sent. */
export interface PackedAttempt {
  readonly head: AttemptHead
  readonly body: Bytes
}

type WritingTimes = TransactionTimes & { readonly commitTime: Micros }

/** Evaluates `work` on a state; its reads are not noted. */
export function evaluateOn<T>(
  parts: TransactionParts,
  view: View,
  times: WritingTimes,
  work: (transaction: StoreTransaction) => T,
): Evaluated<T> & { readonly transaction: StoreTransaction } {
  const transaction = new StoreTransaction(parts, view, times)
  const result = work(transaction)
  const made = { commitTime: times.commitTime, writes: transaction.finish() }
  const { committableAt: commitTime, counters, givenIdsMs, movesSchemaTime: changesSchema } = transaction
  const writes = writesAt(made, commitTime)
  const { latest: latestExpiry, next: nextExpiry } = transaction.snapshot.expiry
  const expiry = { latestExpiry, nextExpiry }
  return { result, commitTime, writes, changesSchema, givenIdsMs, ...expiry, counters, transaction }
}

/** The versions of schemas are compared by what was relied on of them ({@link Attempt.schemas}). */
function isNoted(key: Bytes): boolean {
  return key[0] !== keyTags.schemaVersion
}

/** Evaluates `work` on a snapshot that ends with the commit `since`. */
export function attemptOn<T>(
  parts: TransactionParts,
  view: View,
  since: CommitRecord,
  times: WritingTimes,
  work: (transaction: StoreTransaction) => T,
): Omit<Attempt<T>, 'evaluationMicros'> {
  const noting = new NotingView(view, isNoted)
  const { transaction, ...evaluated } = evaluateOn(parts, noting, times, work)
  return {
    ...evaluated,
    since,
    reads: noting.reads(),
    schemas: transaction.catalogue.relied,
    isStamped: transaction.isStamped,
  }
}

/**
 * Keys and entries that are read again before a commit at most, by the process that has made the attempt. What the service
 * evaluates itself is short and reads far less.
 */
const rereadsMax = 250_000
/** The same, by the service for another process: some milliseconds. */
const rereadsElsewhereMax = 4_000

/** What a comparison of an attempt with a newer state finds; `unread`: its read set has to be loaded first. */
type Validity = 'valid' | 'stale' | 'long' | 'unread'

/** Whether `attempt` would come out the same on `view`, which ends with the commit `last`, if it committed at `time`. */
export function stillHolds(
  attempt: Attempt<unknown>,
  view: View,
  last: CommitRecord,
  time: Micros,
  recent: RecentWrites,
): boolean {
  return validateHere(attempt, view, last, time, recent) === 'valid'
}

/** What {@link stillHolds} finds, in a word; `long`: it read too much to be compared. */
export function validateHere(
  attempt: Attempt<unknown>,
  view: View,
  last: CommitRecord,
  time: Micros,
  recent: RecentWrites,
): Validity {
  return validate(attempt, view, last, time, recent, rereadsMax)
}

/** The same for an attempt of another process; `long`: that process is to read again what it has read. */
export function validateElsewhere(
  attempt: Attempt<unknown>,
  view: View,
  last: CommitRecord,
  time: Micros,
  recent: RecentWrites,
): Validity {
  return validate(attempt, view, last, time, recent, rereadsElsewhereMax)
}

function validate(
  attempt: Attempt<unknown>,
  view: View,
  last: CommitRecord,
  time: Micros,
  recent: RecentWrites,
  sizeMax: number,
): Validity {
  const { commitTime, isStamped, nextExpiry, reads, schemas, since } = attempt
  if (nextExpiry < time || (isStamped && time !== commitTime)) return 'stale'
  if (last.time === since.time) return 'valid'
  if (last.schemaTime !== since.schemaTime && !schemasAgree(schemas, view)) return 'stale'
  if (attempt.loadReads) return 'unread'
  const doubtful = recent.written(reads, since.time, last.time) ?? reads
  if (sizeOf(doubtful) > sizeMax) return 'long'
  return readsAgree(doubtful, view) ? 'valid' : 'stale'
}

/** What an attempt writes when it commits at `time`. */
export function writesAt(
  { commitTime, writes }: Pick<Evaluated<unknown>, 'commitTime' | 'writes'>,
  time: Micros,
): readonly Write[] {
  return time === commitTime ? writes : retimed(writes, commitTime, time)
}
