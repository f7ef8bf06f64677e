// How far each worker has reserved ids, kept in the store: see ids.ts. The mark only grows, and every stretch begins
// where the one before it ends or later, so even two processes with one worker number draw different ids.

import { metaKey } from '../keys/keyspace.ts'
import { prefixRange } from '../keys/prefix.ts'
import type { View } from '../kv/contract.ts'
import type { TransactionOutcome } from './contract.ts'
import { type IdStretch, idEpochMs, idStretchMs } from './ids.ts'
import { lastCommit } from './last-commit.ts'
import { decodeIdMark, encodeIdMark, isIntact } from './records.ts'
import type { StoreTransaction } from './transaction.ts'

const markName = 'ids of worker '

/** Commits what a function writes that knows the store's own transactions. */
interface Transactor {
  transact<T>(work: (transaction: StoreTransaction) => T): Promise<TransactionOutcome<T>>
}

/** Reserves the next stretch for a worker. Resolves when the reservation is durable. */
export async function reserveStretch(store: Transactor, worker: number): Promise<IdStretch> {
  const { result } = await store.transact(transaction => {
    const { overlay } = transaction.internals().context
    const key = metaKey(`${markName}${worker}`)
    const mark = overlay.get(key)
    const { lastCommitTime, snapshotTime } = transaction
    // Folders of before version 0.2 have no mark, and ids up to about the last commit.
    const reservedMs = mark === undefined ? Math.floor(lastCommitTime / 1000) + 1 : decodeIdMark(mark)
    const startMs = Math.max(reservedMs, Math.floor(snapshotTime / 1000), idEpochMs)
    const endMs = startMs + idStretchMs
    overlay.set(key, encodeIdMark(endMs))
    return { startMs, endMs }
  })
  return result
}

/** Up to which time ids of documents may go, in milliseconds: drawn ones, and given ones as far as that is noted. */
export function latestIdMs(view: View): number {
  const { givenIdsMs, time } = lastCommit(view)
  let latest = Math.max(givenIdsMs, Math.floor(time / 1000))
  for (const { value } of view.range(prefixRange(metaKey(markName)))) {
    if (isIntact(value)) latest = Math.max(latest, decodeIdMark(value))
  }
  return latest
}

/** Reports marks that are not what was written: ids could be given a second time. */
export function checkIdMarks(view: View, report: (finding: string) => void): void {
  for (const { key, value } of view.range(prefixRange(metaKey(markName)))) {
    if (!isIntact(value))
      report(`the mark of the ${Buffer.from(key.subarray(1)).toString()} is not what was written`)
  }
}
