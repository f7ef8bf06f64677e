// Writes a batch of records in as few transactions as possible, and isolates records that fail.

import { Memo, Pending } from '../base/pending.ts'
import type { Attempt } from '../storage/store/attempt.ts'
import { batchEnd } from '../storage/store/batch.ts'
import type { Store } from '../storage/store/store.ts'
import { ContendedTransaction, type Transaction } from '../storage/store/store-contract.ts'
import { type DatabaseId, Ref } from '../values/value.ts'
import {
  type BatchOptions,
  type BatchResult,
  type BatchTarget,
  BatchWriter,
  bad,
  DocumentRejection,
  HiddenVersion,
  isRejection,
  type OnCosts,
  type Outcome,
  RecordRejections,
  reasonOf,
  unlimited,
  unmet,
  type WorkLimit,
} from './batch-writer.ts'
import type { DocumentRecord } from './record.ts'
import { Resolver } from './resolve.ts'

/** Limits of this file; docs/reference/limits.md lists all. An "own limit" is not part of the protocol. */
const writeBatchLimits = {
  /**
   * Maximum number of milliseconds in which the index bindings of one imported record are computed, in total for all
   * document versions that the record changes; own limit.
   */
  recordBindingsMs: 250,
} as const

/**
 * Writes as many records of a batch per transaction as possible. If a batch is too large for a transaction, or takes
 * longer than `pace` allows, the batch is split. A record that the store rejects gets the outcome `bad` and does not
 * affect other records.
 */
export async function writeBatch(
  target: BatchTarget,
  database: DatabaseId,
  records: readonly DocumentRecord[],
  options: BatchOptions,
): Promise<BatchResult> {
  await target.pace?.rest(database)
  if (options.checks === 'together') return writeTogether(target, database, records, options)
  let first: BatchResult
  try {
    first = await writeSome(target, database, records, options)
  } catch (error) {
    // Concurrent transactions conflicted with a long batch. Smaller batches take less time, so they conflict less
    // often.
    const isContended = error instanceof ContendedTransaction && records.length > 1
    const isRefused = isRejection(error) || error instanceof DocumentRejection
    if (isRefused && records.length === 1) {
      const isUnmet = error instanceof DocumentRejection && options.checks !== undefined
      const outcome = isUnmet ? unmet(error.reason) : bad(reasonOf(error))
      return { outcomes: [outcome], missing: [], unresolved: [] }
    }
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

/** Writes records in one transaction: all records, or only the first records if all would take too long. */
function writeSome(
  target: BatchTarget,
  database: DatabaseId,
  records: readonly DocumentRecord[],
  options: BatchOptions,
): Promise<BatchResult> {
  const { pace } = target
  return inTransaction(target, database, options, (writer, limited) =>
    pace === undefined ? writer.run(records) : writer.run(records, batchEnd(pace.batchMs), limited),
  )
}

/**
 * Writes records in one transaction and then checks the written documents. If some records fail, the other records are
 * written in a new transaction.
 */
async function writeTogether(
  target: BatchTarget,
  database: DatabaseId,
  records: readonly DocumentRecord[],
  options: BatchOptions,
): Promise<BatchResult> {
  const refused = new Map<number, Outcome>()
  while (refused.size < records.length) {
    try {
      return await inTransaction(target, database, options, (writer, limited) =>
        writer.runTogether(records, refused, limited),
      )
    } catch (error) {
      if (error instanceof RecordRejections) {
        for (const [index, outcome] of error.outcomes) refused.set(index, outcome)
        continue
      }
      if (!isRejection(error)) throw error
      // The error concerns the whole batch. For example, the batch has too many bytes.
      const outcome = unmet(reasonOf(error))
      for (const index of records.keys()) if (!refused.has(index)) refused.set(index, outcome)
    }
  }
  return { outcomes: records.map((_, index) => refused.get(index) as Outcome), missing: [], unresolved: [] }
}

async function inTransaction(
  target: BatchTarget,
  database: DatabaseId,
  options: BatchOptions,
  work: (writer: BatchWriter, limited: WorkLimit) => BatchResult,
): Promise<BatchResult> {
  const { pace, store } = target
  const memo = new Memo()
  const run = (isCareful: boolean) => (transaction: Transaction) => {
    memo.begin()
    const writer = new BatchWriter(transaction, database, options, isCareful, target, memo)
    if (pace === undefined) return work(writer, unlimited)
    const limited = <T>(work: () => T) => store.bindings.perItem(writeBatchLimits.recordBindingsMs, work)
    return store.counted(database, () => work(writer, limited))
  }
  let isCareful = options.dryRun
  for (;;) {
    try {
      const { counters, result } = options.dryRun
        ? withoutWrites(store.attempt(run(isCareful)))
        : await store.write(run(isCareful))
      target.onCosts?.(counters)
      return result
    } catch (error) {
      if (error instanceof Pending) await memo.resolve(error)
      else if (error instanceof HiddenVersion) isCareful = true
      else throw error
    }
  }
}

/** Returns an attempt whose counters have no writes, because the attempt is not committed. */
function withoutWrites<T>({ counters, result }: Attempt<T>): Pick<Attempt<T>, 'counters' | 'result'> {
  return { result, counters: { ...counters, writeBytes: 0, writeOps: 0 } }
}

/** Returns for each document whether it is missing. */
export function missingOf(
  store: Store,
  database: DatabaseId,
  documents: readonly { readonly collection: string; readonly id: bigint }[],
  onCosts?: OnCosts,
): readonly boolean[] {
  const { counters, result } = store.read(transaction => {
    const resolver = new Resolver(transaction.catalogue, database)
    return documents.map(({ collection, id }) => {
      const number = resolver.container(collection)
      return number === undefined || transaction.get(new Ref(database, number, id)) === undefined
    })
  })
  onCosts?.(counters)
  return result
}
