// A transaction evaluated outside the writer's lock: what it read, what it wants to write, its result. Nothing has
// happened yet. It can be thrown away, or made again.

import type { DatabaseId, Micros } from '../../values/value.ts'
import { keyTags } from '../keys/keyspace.ts'
import type { Bytes, View, Write } from '../kv/contract.ts'
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
  /** What it relied on of remembered schemas. */
  readonly schemas: ReadonlyMap<DatabaseId, SchemaRead>
  /** How long its evaluation took, in microseconds. */
  readonly evaluationMicros: number
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
 * Keys and entries that are read again under the writer's lock at most: about as long as the largest transactions hold it.
 * What the service evaluates itself is short and reads far less.
 */
const rereadsMax = 250_000

/** Whether `attempt` would come out the same on `view`, which ends with the commit `last`, if it committed at `time`. */
export function stillHolds(
  attempt: Attempt<unknown>,
  view: View,
  last: CommitRecord,
  time: Micros,
  recent: RecentWrites,
): boolean {
  const { commitTime, isStamped, nextExpiry, reads, schemas, since } = attempt
  if (nextExpiry < time || (isStamped && time !== commitTime)) return false
  if (last.time === since.time) return true
  if (last.schemaTime !== since.schemaTime && !schemasAgree(schemas, view)) return false
  const doubtful = recent.written(reads, since.time, last.time) ?? reads
  return sizeOf(doubtful) <= rereadsMax && readsAgree(doubtful, view)
}

/** What an attempt writes when it commits at `time`. */
export function writesAt(
  { commitTime, writes }: Pick<Evaluated<unknown>, 'commitTime' | 'writes'>,
  time: Micros,
): readonly Write[] {
  return time === commitTime ? writes : retimed(writes, commitTime, time)
}
