// How far the ids of each worker number are reserved, kept in the store: see ids.ts. The mark only grows, and every stretch
// begins where the one before it ends or later, so no two processes draw the same ids.

import { assert } from '../../base/assert.ts'
import { checksumBytes } from '../../base/checksum.ts'
import { micros } from '../../base/micros.ts'
import { metaKey } from '../keys/keyspace.ts'
import { prefixRange } from '../keys/prefix.ts'
import type { View } from '../kv/contract.ts'
import type { TransactionOutcome } from './contract.ts'
import { type IdStretch, idEpochMs, idStretchMs, workersMax } from './ids.ts'
import { lastCommit } from './last-commit.ts'
import { timeAt } from './record-times.ts'
import { isIntact, sealedTimes } from './records.ts'
import type { StoreTransaction } from './transaction.ts'

const markName = 'ids of worker '
const markBytes = 8 + checksumBytes

/** Commits what a function writes that knows the store's own transactions. */
interface Writing {
  write<T>(work: (transaction: StoreTransaction) => T): Promise<TransactionOutcome<T>>
}

/**
 * Reserves a stretch of ids; resolves when that is durable. It continues `held` unless another process has had that number
 * since; else it is of the number `preferred`, or of the next one that is not reserved beyond the present.
 */
export async function reserveStretch(
  store: Writing,
  preferred: number,
  held: IdStretch | undefined,
): Promise<IdStretch> {
  const { result } = await store.write(transaction => {
    const { overlay } = transaction.rows
    const nowMs = Math.max(Math.floor(transaction.snapshotTime / 1000), idEpochMs)
    const isMine = held !== undefined && markOf(overlay, held.worker) === held.endMs
    const worker = isMine ? held.worker : freeNumber(overlay, preferred, nowMs)
    const startMs = Math.max(markOf(overlay, worker), nowMs)
    const endMs = startMs + idStretchMs
    overlay.set(markKey(worker), sealedTimes(micros(endMs)))
    return { worker, startMs, endMs }
  })
  return result
}

const markKey = (worker: number) => metaKey(`${markName}${worker}`)

/** How far ids with a number are reserved, in milliseconds of the Unix epoch. */
function markOf(view: View, worker: number): number {
  const mark = view.get(markKey(worker))
  assert(mark === undefined || mark.length === markBytes, 'a mark of ids has 8 bytes and a checksum')
  return mark === undefined ? 0 : timeAt(mark, 0)
}

/** The first number from `preferred` on that is not reserved beyond `nowMs`; if all are, the one that is least. */
function freeNumber(view: View, preferred: number, nowMs: number): number {
  let best = preferred
  for (let step = 0; step < workersMax; step++) {
    const worker = (preferred + step) % workersMax
    const mark = markOf(view, worker)
    if (mark <= nowMs) return worker
    if (mark < markOf(view, best)) best = worker
  }
  return best
}

/** Up to which time ids of documents may go, in milliseconds: drawn ones, and given ones as far as that is noted. */
export function latestIdMs(view: View): number {
  const { givenIdsMs, time } = lastCommit(view)
  let latest = Math.max(givenIdsMs, Math.floor(time / 1000))
  for (const { value } of view.range(prefixRange(metaKey(markName)))) {
    if (isIntact(value)) latest = Math.max(latest, timeAt(value, 0))
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
