// An attempt: a transaction that was evaluated outside the writer's lock, with its read set, its writes and its result.
// It has no effect yet, and can be dropped or evaluated again.

import type { DatabaseId, Micros } from '../../values/value.ts'
import { keyTags } from '../keys/keyspace.ts'
import type { Bytes, EncodedWrites, View, Write } from '../kv/kv-contract.ts'
import { isReadSetValid, type ReadSet, RecordingView, sizeOf } from '../kv/read-set.ts'
import type { RecentWrites } from '../kv/recent-writes.ts'
import { type SchemaRead, schemasAgree } from './catalogue.ts'
import type { CommitRecord } from './last-commit.ts'
import type { TransactionParts, TransactionTimes } from './reader.ts'
import { rebased } from './rebase.ts'
import type { TransactionCounters } from './store-contract.ts'
import { StoreTransaction } from './transaction.ts'

/** The outcome of a transaction on some state. */
export interface Evaluation<T> {
  readonly result: T
  /** The earliest possible time of the commit. The writes contain this time. */
  readonly commitTime: Micros
  /** The writes of the transaction, without the record of the commit itself. */
  readonly writes: readonly Write[]
  readonly changesSchema: boolean
  /** {@link StoreTransaction.chosenIdsMs}. */
  readonly chosenIdsMs: number
  /** The latest expiry among the documents that the transaction read as expired. */
  readonly latestExpiry: Micros
  /** The earliest expiry among the other documents that the transaction read. */
  readonly nextExpiry: Micros
  readonly counters: TransactionCounters
}

/** A transaction evaluated on a snapshot, for {@link Store.commit}. */
export interface Attempt<T> extends Evaluation<T> {
  /** True if other values contain the commit time, so that the writes are valid only for this time. */
  readonly isStamped: boolean
  /** The newest commit in its snapshot. */
  readonly since: CommitRecord
  readonly reads: ReadSet
  /** The parts of cached schemas on which the attempt relies. */
  readonly schemas: ReadonlyMap<DatabaseId, SchemaRead>
  /** The duration of its evaluation in microseconds. */
  readonly evaluationMicros: number
  /** Writes that precede the others in a large attempt of another process, for a given commit time. */
  readonly pieces?: (time: Micros) => EncodedWrites
}

/** The part of an attempt that is sent as a structured clone. */
export interface AttemptHead extends Omit<Attempt<undefined>, 'writes' | 'pieces' | 'reads'> {
  /** The number of writes. */
  readonly rows: number
  /** Bytes of the packed read set, the first part of the body; the encoded writes follow. */
  readonly readsBytes: number
}

/** An attempt in the form in which it is sent. */
export interface PackedAttempt {
  readonly head: AttemptHead
  readonly body: Bytes
}

type WritingTimes = TransactionTimes & { readonly commitTime: Micros }

/** Evaluates `work` on a state, without recording its read set. */
export function evaluateOn<T>(
  parts: TransactionParts,
  view: View,
  times: WritingTimes,
  work: (transaction: StoreTransaction) => T,
): Evaluation<T> & { readonly transaction: StoreTransaction } {
  const transaction = new StoreTransaction(parts, view, times)
  const result = work(transaction)
  const made = { commitTime: times.commitTime, writes: transaction.finish() }
  const { committableAt: commitTime, counters, chosenIdsMs, movesSchemaTime: changesSchema } = transaction
  const writes = writesAt(made, commitTime)
  const { latest: latestExpiry, next: nextExpiry } = transaction.snapshot.expiry
  const expiry = { latestExpiry, nextExpiry }
  return { result, commitTime, writes, changesSchema, chosenIdsMs, ...expiry, counters, transaction }
}

/**
 * The read set does not contain the versions of schemas: {@link Attempt.schemas} contains the parts of schemas on which
 * the attempt relies.
 */
function isRecorded(key: Bytes): boolean {
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
  const noting = new RecordingView(view, isRecorded)
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
 * Maximum number of keys and entries that are read again before a commit, by the process that has evaluated the
 * attempt. Attempts of the service itself are short and read far less.
 */
const rereadsMax = 250_000
/** The maximum when the service validates an attempt of another process: this takes some milliseconds. */
const rereadsElsewhereMax = 4_000

/** The result of validating an attempt. */
type Validity = 'valid' | 'stale' | 'long'

/**
 * Returns whether `attempt` would have the same result on `view`, which ends with the commit `last`, if it committed at
 * `time`.
 */
export function isStillValid(
  attempt: Attempt<unknown>,
  view: View,
  last: CommitRecord,
  time: Micros,
  recent: RecentWrites,
): boolean {
  return validateHere(attempt, view, last, time, recent) === 'valid'
}

/** Validates an attempt; `long`: its read set is too large. */
export function validateHere(
  attempt: Attempt<unknown>,
  view: View,
  last: CommitRecord,
  time: Micros,
  recent: RecentWrites,
): Validity {
  return validate(attempt, view, last, time, recent, rereadsMax)
}

/** Validates an attempt of another process; `long`: that process must validate its own read set. */
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
  const changedReads = recent.written(reads, since.time, last.time) ?? reads
  if (sizeOf(changedReads) > sizeMax) return 'long'
  return isReadSetValid(changedReads, view) ? 'valid' : 'stale'
}

/** The writes of an attempt that commits at `time`. */
export function writesAt(
  { commitTime, writes }: Pick<Evaluation<unknown>, 'commitTime' | 'writes'>,
  time: Micros,
): readonly Write[] {
  return time === commitTime ? writes : rebased(writes, commitTime, time)
}
