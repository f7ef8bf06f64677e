// Checks that a replica and the record of a session have the same history: the address may now lead to another server,
// which lacked commits when it was promoted, or on which a backup was restored.

import { StoreUnavailableError } from '../errors.ts'
import { readBatch, readHead } from './record.ts'
import type { CopyNote } from './replica.ts'
import { PostgresSession, type RecordLocation } from './session.ts'
import { readStoreId } from './tables.ts'

/**
 * The reason why a replica with this note does not belong to the record, so that the log cannot be applied; undefined
 * when the replica belongs to the record. Names of batches are random, so a log row with the same name proves that all
 * earlier batches are equal. Without a row to compare, the replica counts as not belonging to the record. Throws
 * `StoreUnavailableError` when the database is unavailable, or has no store that this program supports.
 */
export async function disagreement(
  session: PostgresSession,
  note: CopyNote | undefined,
): Promise<string | undefined> {
  if (note === undefined) return 'it does not name its store'
  if (note.storeId !== (await readStoreId(session))) return 'it is a replica of another store'
  const head = await readHead(session)
  if (note.seq > head.seq) return 'the record is older than it'
  // A replica at batch 0 has applied no batch, so there is no name to compare.
  if (note.seq === 0)
    return head.seq === 0 || (await readBatch(session, 1)) !== undefined ? undefined : trimmed
  const batch = await readBatch(session, note.seq)
  if (batch === undefined) return trimmed
  return batch === note.batch ? undefined : 'the record has another history'
}

/**
 * Connects to the store with this id. Throws `StoreUnavailableError` when the address leads to another store by now, or
 * to tables of another version.
 */
export function openSame(location: RecordLocation, node: string, storeId: string): Promise<PostgresSession> {
  return PostgresSession.openChecked(location, node, async session => {
    if ((await readStoreId(session)) !== storeId)
      throw new StoreUnavailableError('the address of the store leads to another one')
  })
}

const trimmed = 'the log no longer contains its next batch'
