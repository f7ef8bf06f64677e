// Whether a copy and the record behind a session have the same past: behind the same address there may be another server
// by now, one that had not received everything when it was promoted, or one on which a backup was restored.

import { StoreUnavailableError } from '../errors.ts'
import { readBatch, readHead } from './record.ts'
import type { CopyNote } from './replica.ts'
import { PostgresSession, type RecordLocation } from './session.ts'
import { readStoreId } from './tables.ts'

/**
 * Why a copy with this note is not shown to be one of that record, on which the log can be redone; undefined when it is. The
 * name of a batch is drawn, so a row of the log that has it proves all that came before. Nothing to compare is no proof.
 * Throws `StoreUnavailableError` when the database is away, or holds no store that this program knows.
 */
export async function disagreement(
  session: PostgresSession,
  note: CopyNote | undefined,
): Promise<string | undefined> {
  if (note === undefined) return 'nothing in it says what it is a copy of'
  if (note.storeId !== (await readStoreId(session))) return 'it is a copy of another store'
  const head = await readHead(session)
  if (note.seq > head.seq) return 'the record is older than it'
  // The state before the first batch is that of the store itself.
  if (note.seq === 0)
    return head.seq === 0 || (await readBatch(session, 1)) !== undefined ? undefined : trimmed
  const batch = await readBatch(session, note.seq)
  if (batch === undefined) return trimmed
  return batch === note.batch ? undefined : 'the record has another past'
}

/**
 * Connects to the store of that id. Throws `StoreUnavailableError` when its address leads to another one by now, or to tables
 * of another version.
 */
export function openSame(location: RecordLocation, node: string, storeId: string): Promise<PostgresSession> {
  return PostgresSession.openChecked(location, node, async session => {
    if ((await readStoreId(session)) !== storeId)
      throw new StoreUnavailableError('the address of the store leads to another one')
  })
}

const trimmed = 'the log no longer reaches back to it'
