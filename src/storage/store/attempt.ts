// An attempt is a transaction that was evaluated without the writer lock, which commits need. It consists of a read
// set, writes and a result. Before its commit, an attempt has no effect on the store, so it can be dropped or evaluated
// again.

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

/** The outcome of evaluating a transaction on one state of the store. */
export interface Evaluation<T> {
  readonly result: T
  /** The earliest possible commit time. The writes are made for it; {@link writesAt} changes the time. */
  readonly commitTime: Micros
  /** The writes of the transaction. The record of the commit is not included. */
  readonly writes: readonly Write[]
  readonly changesSchema: boolean
  /** See {@link StoreTransaction.chosenIdsMs}. */
  readonly chosenIdsMs: number
  /** The latest expiry time among the expired documents that the transaction read. */
  readonly latestExpiry: Micros
  /** The earliest expiry time among the unexpired documents that the transaction read. */
  readonly nextExpiry: Micros
  readonly counters: TransactionCounters
}

/** A transaction that was evaluated on a snapshot. `Store.commit` commits the attempt. */
export interface Attempt<T> extends Evaluation<T> {
  /** True if written values contain the commit time. The writes then cannot be changed to another commit time. */
  readonly isStamped: boolean
  /** The newest commit in the snapshot of the attempt. */
  readonly since: CommitRecord
  readonly reads: ReadSet
  /** The parts of cached schemas on which the attempt relies. */
  readonly schemas: ReadonlyMap<DatabaseId, SchemaRead>
  readonly evaluationMicros: number
  /** Present if another process sent a large attempt; `writes` is then empty. `time`: the commit time. */
  readonly pieces?: (time: Micros) => EncodedWrites
}

/** The fields of an attempt that are sent to another process as a structured clone. */
export interface AttemptHead extends Omit<Attempt<undefined>, 'writes' | 'pieces' | 'reads'> {
  /** The number of writes. */
  readonly rows: number
  /** The body consists of the packed read set and the encoded writes. */
  readonly readsBytes: number
}

/** An attempt in the encoding for another process. */
export interface PackedAttempt {
  readonly head: AttemptHead
  readonly body: Bytes
}

type WritingTimes = TransactionTimes & { readonly commitTime: Micros }

/** Evaluates `work` on the state in `view`, without recording the read set. */
export function evaluateOn<T>(
  parts: TransactionParts,
  view: View,
  times: WritingTimes,
  work: (transaction: StoreTransaction) => T,
): Evaluation<T> & { readonly transaction: StoreTransaction } {
  const transaction = new StoreTransaction(parts, view, times)
  const result = work(transaction)
  const provisional = { commitTime: times.commitTime, writes: transaction.finish() }
  const { catalogue, committableAt: commitTime, counters, chosenIdsMs } = transaction
  const changesSchema = catalogue.changed.size > 0
  const writes = writesAt(provisional, commitTime)
  const { latest: latestExpiry, next: nextExpiry } = transaction.snapshot.expiry
  const expiry = { latestExpiry, nextExpiry }
  return { result, commitTime, writes, changesSchema, chosenIdsMs, ...expiry, counters, transaction }
}

/**
 * Version numbers of schemas are not in the read set, because {@link Attempt.schemas} records the schema parts on which
 * the attempt relies.
 */
function isRecorded(key: Bytes): boolean {
  return key[0] !== keyTags.schemaVersion
}

/** Evaluates `work` on a snapshot whose newest commit is `since`. */
export function attemptOn<T>(
  parts: TransactionParts,
  view: View,
  since: CommitRecord,
  times: WritingTimes,
  work: (transaction: StoreTransaction) => T,
): Omit<Attempt<T>, 'evaluationMicros'> {
  const recording = new RecordingView(view, isRecorded)
  const { transaction, ...evaluated } = evaluateOn(parts, recording, times, work)
  return {
    ...evaluated,
    since,
    reads: recording.reads(),
    schemas: transaction.catalogue.schemaReads,
    isStamped: transaction.isStamped,
  }
}

/** Maximum number of keys and rows of the read set that are read again. Reading 4,000 rows takes some milliseconds. */
const rereadsMax = { 'own process': 250_000, 'other process': 4_000 } as const

/** `long`: the changed part of the read set is too large to read again, so the other process must validate it. */
type Validity = 'valid' | 'stale' | 'long'

/**
 * Returns whether an attempt of `by` would have the same result on the state in `view`, with the newest commit `last`,
 * and a commit at `time`.
 */
export function validate(
  attempt: Attempt<unknown>,
  view: View,
  last: CommitRecord,
  time: Micros,
  recent: RecentWrites,
  by: keyof typeof rereadsMax,
): Validity {
  const { commitTime, isStamped, nextExpiry, reads, schemas, since } = attempt
  if (nextExpiry < time || (isStamped && time !== commitTime)) return 'stale'
  if (last.time === since.time) return 'valid'
  if (last.schemaTime !== since.schemaTime && !schemasAgree(schemas, view)) return 'stale'
  const changedReads = recent.changedReads(reads, since.time, last.time) ?? reads
  if (sizeOf(changedReads) > rereadsMax[by]) return 'long'
  return isReadSetValid(changedReads, view) ? 'valid' : 'stale'
}

export function writesAt(
  { commitTime, writes }: Pick<Evaluation<unknown>, 'commitTime' | 'writes'>,
  time: Micros,
): readonly Write[] {
  return time === commitTime ? writes : rebased(writes, commitTime, time)
}
