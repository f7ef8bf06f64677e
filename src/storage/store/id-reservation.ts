// Reserves ranges of ids (ids.ts). For each worker number, the store contains the end of the last reserved range. The
// next range with this worker number begins at this end or later, so no two processes generate the same ids.

import { assert } from '../../base/assert.ts'
import { micros } from '../../base/micros.ts'
import { metaKey } from '../keys/keyspace.ts'
import { prefixRange } from '../keys/prefix.ts'
import type { Bytes, View } from '../kv/kv-contract.ts'
import { type IdRange, idEpochMs, idRangeMs, workersMax } from './ids.ts'
import { lastCommit } from './last-commit.ts'
import { checksumBytes, isIntact, sealedTimes, timeAt } from './records.ts'
import type { TransactionOutcome } from './store-contract.ts'
import type { StoreTransaction } from './transaction.ts'

const keyPrefix = 'ids of worker '
const reservedEndBytes = 8 + checksumBytes

interface WritableStore {
  write<T>(work: (transaction: StoreTransaction) => T): Promise<TransactionOutcome<T>>
}

/**
 * Resolves when the reservation is durable. If `current` is still the last range of its worker number, the new range
 * has the same worker number. Otherwise, it has the first free worker number, beginning with `preferred`. A worker
 * number is free if its reserved ranges have ended.
 */
export async function reserveIdRange(
  store: WritableStore,
  preferred: number,
  current: IdRange | undefined,
): Promise<IdRange> {
  const { result } = await store.write(transaction => {
    const { overlay } = transaction.rows
    const nowMs = Math.max(Math.floor(transaction.snapshotTime / 1000), idEpochMs)
    const isMine = current !== undefined && reservedEndOf(overlay, current.worker) === current.endMs
    const worker = isMine ? current.worker : freeNumber(overlay, preferred, nowMs)
    const startMs = Math.max(reservedEndOf(overlay, worker), nowMs)
    const endMs = startMs + idRangeMs
    overlay.set(reservedEndKey(worker), encodeEndMs(endMs))
    return { worker, startMs, endMs }
  })
  return result
}

/** The row with the end of the last reserved range of a worker number. */
const reservedEndKey = (worker: number) => metaKey(`${keyPrefix}${worker}`)

// The row has the encoding of a time in microseconds, but contains milliseconds.
const encodeEndMs = (endMs: number): Bytes => sealedTimes(micros(endMs))
const decodeEndMs = (row: Bytes): number => timeAt(row, 0)

/** The end of the last reserved range of a worker number, in milliseconds of the Unix epoch. */
function reservedEndOf(view: View, worker: number): number {
  const row = view.get(reservedEndKey(worker))
  assert(
    row === undefined || row.length === reservedEndBytes,
    'the reserved end of ids has 8 bytes and a checksum',
  )
  return row === undefined ? 0 : decodeEndMs(row)
}

/**
 * The first worker number, beginning with `preferred`, whose reserved ranges have ended at `nowMs`. If there is none,
 * the worker number whose last range ends first.
 */
function freeNumber(view: View, preferred: number, nowMs: number): number {
  let best = preferred
  for (let step = 0; step < workersMax; step++) {
    const worker = (preferred + step) % workersMax
    const end = reservedEndOf(view, worker)
    if (end <= nowMs) return worker
    if (end < reservedEndOf(view, best)) best = worker
  }
  return best
}

/**
 * A time, in milliseconds, that no id of a stored document exceeds. The time of a generated id is within a reserved
 * range. The time of an id that a client chose is recorded in the last commit if it was in the future; otherwise, it is
 * before the time of the last commit.
 */
export function latestIdMs(view: View): number {
  const { chosenIdsMs, time } = lastCommit(view)
  let latest = Math.max(chosenIdsMs, Math.floor(time / 1000))
  for (const { value } of view.range(prefixRange(metaKey(keyPrefix)))) {
    if (isIntact(value)) latest = Math.max(latest, decodeEndMs(value))
  }
  return latest
}

/** If the stored end of a reserved range is damaged, ids could be generated twice. */
export function checkReservedEnds(view: View, report: (finding: string) => void): void {
  for (const { key, value } of view.range(prefixRange(metaKey(keyPrefix)))) {
    if (isIntact(value)) continue
    const worker = Buffer.from(key).toString('utf8', metaKey(keyPrefix).length)
    report(`the reserved end of the ids of worker number ${worker} is damaged`)
  }
}
