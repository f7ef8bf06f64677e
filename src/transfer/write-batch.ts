// Writes a batch of records in as few transactions as possible, and isolates records that fail.

import { Memo, Pending } from '../base/pending.ts'
import { nextTurn } from '../base/slices.ts'
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
  badOutcome,
  DocumentRejection,
  HiddenVersion,
  isRejection,
  type MissingReference,
  type Outcome,
  RecordRejections,
  reasonOf,
  unlimited,
  unmetOutcome,
  type WorkLimit,
} from './batch-writer.ts'
import type { DocumentRecord } from './record.ts'
import { Resolver } from './resolve.ts'

const writeBatchLimits = {
  /**
   * Maximum number of milliseconds in which the index bindings of one imported record are computed, in total for all
   * document versions that the record changes; own limit.
   */
  recordBindingsMs: 250,
  /**
   * Maximum number of attempts to write a batch whose documents are checked together; own limit. Each attempt writes
   * the whole batch, without the documents that earlier attempts have rejected.
   */
  togetherAttemptsMax: 32,
} as const

/**
 * Writes the records in order. A batch that is too large for a transaction, or takes longer than `pace` allows, is
 * split, unless its documents are checked together. A rejected record does not affect others: it gets the outcome
 * `bad`, or `unmet` if a retry may succeed ({@link BatchOptions.checks}).
 */
export async function writeBatch(
  target: BatchTarget,
  database: DatabaseId,
  records: readonly DocumentRecord[],
  options: BatchOptions,
): Promise<BatchResult> {
  if (options.checks === 'together') {
    await beforeTransaction(target, database)
    return writeTogether(target, database, records, options)
  }
  const outcomes: Outcome[] = []
  const missing: MissingReference[] = []
  const unresolved: BatchResult['unresolved'][number][] = []
  /** The maximum number of records in the next transaction. */
  let size = records.length
  while (outcomes.length < records.length) {
    const from = outcomes.length
    const count = Math.min(size, records.length - from)
    await beforeTransaction(target, database)
    try {
      // Writes only the first records if all would take too long.
      const written = await inTransaction(target, database, options, (writer, limited) =>
        writer.run(records, [from, from + count], batchEnd(target.pace?.batchMs), limited),
      )
      for (const outcome of written.outcomes) outcomes.push(outcome)
      for (const reference of written.missing) missing.push(reference)
      for (const object of written.unresolved) unresolved.push(object)
    } catch (error) {
      const isRejectedRecord = isRejection(error) || error instanceof DocumentRejection
      if (count > 1 && (isRejectedRecord || error instanceof ContendedTransaction)) {
        // A record of the batch was rejected, or concurrent transactions conflicted with a long batch. Smaller batches
        // take less time, so they conflict less often.
        size = count >> 1
        continue
      }
      if (!isRejectedRecord) throw error
      const isUnmet = error instanceof DocumentRejection && options.checks !== undefined
      outcomes.push(isUnmet ? unmetOutcome(error.reason) : badOutcome(reasonOf(error)))
    }
    // The size only doubles, so that a rejected record costs about one further transaction, even if many are rejected.
    size = 2 * count
  }
  return { outcomes, missing, unresolved }
}

/** Waits until the import may compute bindings in this process again. Rejects if the import should stop. */
async function beforeTransaction({ pace, throwIfStopped }: BatchTarget, database: DatabaseId): Promise<void> {
  await pace?.waitForBindingPauses(database)
  throwIfStopped?.()
}

/**
 * Writes records in one transaction and then checks the written documents. If some records fail, the others are written
 * in a new transaction.
 */
async function writeTogether(
  target: BatchTarget,
  database: DatabaseId,
  records: readonly DocumentRecord[],
  options: BatchOptions,
): Promise<BatchResult> {
  const rejected = new Map<number, Outcome>()
  for (let attempt = 1; rejected.size < records.length; attempt++) {
    target.throwIfStopped?.()
    try {
      return await inTransaction(target, database, options, (writer, limited) =>
        writer.runTogether(records, rejected, limited),
      )
    } catch (error) {
      if (error instanceof RecordRejections) {
        for (const [index, outcome] of error.outcomes) rejected.set(index, outcome)
        if (attempt < writeBatchLimits.togetherAttemptsMax) continue
        rejectOthers(rejected, records, unmetOutcome('too many other documents of the batch were rejected'))
        break
      }
      if (!isRejection(error)) throw error
      // The error concerns the whole batch, for example because it has too many bytes.
      rejectOthers(rejected, records, unmetOutcome(reasonOf(error)))
    }
  }
  return { outcomes: records.map((_, index) => rejected.get(index) as Outcome), missing: [], unresolved: [] }
}

function rejectOthers(
  rejected: Map<number, Outcome>,
  records: readonly DocumentRecord[],
  outcome: Outcome,
): void {
  for (const index of records.keys()) if (!rejected.has(index)) rejected.set(index, outcome)
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
    const limited = <T>(each: () => T) => store.bindingBudget.perItem(writeBatchLimits.recordBindingsMs, each)
    return store.pauseAfter(database, () => work(writer, limited))
  }
  // A careful writer checks the history before each insert, which is slower and rarely necessary.
  let isCareful = false
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

/** The attempt is not committed, so its counters have no writes. */
function withoutWrites<T>({ counters, result }: Attempt<T>): Pick<Attempt<T>, 'counters' | 'result'> {
  return { result, counters: { ...counters, writeBytes: 0, writeOps: 0 } }
}

/** Returns for each document whether it is missing. Reads in slices, so that a long list does not block the process. */
export async function missingOf(
  store: Store,
  database: DatabaseId,
  documents: readonly { readonly collection: string; readonly id: bigint }[],
  { onCosts, throwIfStopped }: Pick<BatchTarget, 'onCosts' | 'throwIfStopped'>,
): Promise<readonly boolean[]> {
  const found: boolean[] = []
  while (found.length < documents.length) {
    throwIfStopped?.()
    const isOver = batchEnd(missingSliceMs)
    const { counters } = store.read(transaction => {
      const resolver = new Resolver(transaction.catalogue, database)
      do {
        const { collection, id } = documents[found.length] as (typeof documents)[number]
        const number = resolver.transferredCollection(collection)
        found.push(number === undefined || transaction.get(new Ref(database, number, id)) === undefined)
      } while (found.length < documents.length && !isOver())
    })
    onCosts?.(counters)
    if (found.length < documents.length) await nextTurn()
  }
  return found
}

/** Milliseconds for which {@link missingOf} blocks the process. */
const missingSliceMs = 10
