// How far each worker has reserved ids, kept in the store: see ids.ts. The mark only grows, and every stretch begins
// where the one before it ends or later, so even two processes with one worker number draw different ids.

import { metaKey } from '../keys/keyspace.ts'
import { type IdStretch, idEpochMs, idStretchMs } from './ids.ts'
import { decodeTime, encodeTime } from './records.ts'
import type { TransactionStore } from './store.ts'

/** Reserves the next stretch for a worker. Resolves when the reservation is durable. */
export async function reserveStretch(store: TransactionStore, worker: number): Promise<IdStretch> {
  const { result } = await store.transact(transaction => {
    const { overlay } = transaction.internals().context
    const key = metaKey(`ids of worker ${worker}`)
    const mark = overlay.get(key)
    const { lastCommitTime, snapshotTime } = transaction
    // Folders of before version 0.2 have no mark, and ids up to about the last commit.
    const reservedMs = mark === undefined ? Math.floor(lastCommitTime / 1000) + 1 : decodeTime(mark) / 1000
    const startMs = Math.max(reservedMs, Math.floor(snapshotTime / 1000), idEpochMs)
    const endMs = startMs + idStretchMs
    overlay.set(key, encodeTime(endMs * 1000))
    return { startMs, endMs }
  })
  return result
}
