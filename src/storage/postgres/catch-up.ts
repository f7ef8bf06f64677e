// Applies the log of the record (the store's tables in PostgreSQL) to a replica, when a node serves requests and when a
// backup or a comparison is made. Also checks whether the replica and the record have the same history.

import type { KeyValueStore } from '../kv/kv-contract.ts'
import { StoreUnavailableError } from '../kv/store-errors.ts'
import { PostgresSession, type RecordLocation } from './postgres-session.ts'
import { type LogRow, readBatch, readHead, readLog } from './record.ts'
import { applyRows, type ReplicaNote, readNote } from './replica.ts'
import { readStoreId } from './tables.ts'

/**
 * Applies the batches after `from`, up to `to`, a part at a time. `session` returns a session for fetching a part;
 * `apply` resolves with the number of the replica's newest batch. This number is also the result: less than `to` if the
 * log has a gap.
 */
export async function catchUp(
  from: number,
  to: number,
  session: () => Promise<PostgresSession>,
  apply: (rows: readonly LogRow[]) => Promise<number>,
): Promise<number> {
  let reached = from
  for (let before = -1; reached < to && reached > before; ) {
    before = reached
    reached = await apply(await readLog(await session(), before, to))
  }
  return reached
}

/**
 * Applies the log up to its head (its newest batch at the time of the call). Resolves with the number of the replica's
 * newest batch. Throws {@link StoreUnavailableError} when the log cannot be applied.
 */
export async function redoLog(session: PostgresSession, local: KeyValueStore): Promise<number> {
  const head = await readHead(session)
  const note = readNote(local)
  const apply = async (rows: readonly LogRow[]) => (await applyRows(local, rows)).seq
  const reached = note && (await catchUp(note.seq, head.seq, async () => session, apply))
  if (reached !== undefined && reached >= head.seq) return reached
  const reason = await logMismatch(session, readNote(local))
  throw new StoreUnavailableError(`the log cannot be applied to the replica: ${reason}`)
}

/**
 * The reason why the log cannot be applied to a replica; undefined if the replica belongs to the record. `note`
 * contains the number and the name of the replica's newest batch. Names of batches are random, so a log row with the
 * same name proves that all earlier batches are equal. Throws `StoreUnavailableError` when the database is unavailable,
 * or has no store that this program supports.
 */
export async function logMismatch(
  session: PostgresSession,
  note: ReplicaNote | undefined,
): Promise<string | undefined> {
  if (note === undefined) return 'it does not name its store'
  if (note.storeId !== (await readStoreId(session))) return 'it is a replica of another store'
  const head = await readHead(session)
  if (note.seq > head.seq) return 'the record is older than it'
  // A replica at batch 0 has applied no batch, so there is no name to compare.
  if (note.seq === 0)
    return head.seq === 0 || (await readBatch(session, 1)) !== undefined ? undefined : logTrimmed
  const batch = await readBatch(session, note.seq)
  if (batch === undefined) return logTrimmed
  return batch === note.batch ? undefined : 'the record has another history'
}

/** Throws `StoreUnavailableError` when the address now leads to another store, or to tables of another version. */
export function openSameStore(
  location: RecordLocation,
  node: string,
  storeId: string,
): Promise<PostgresSession> {
  return PostgresSession.openChecked(location, node, async session => {
    if ((await readStoreId(session)) !== storeId)
      throw new StoreUnavailableError('the address of the store leads to another one')
  })
}

const logTrimmed = 'the log no longer contains its next batch'
