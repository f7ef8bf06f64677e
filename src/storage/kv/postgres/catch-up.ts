// Applies the log to a replica up to the head, for serving nodes, backups and comparisons.

import type { KeyValueStore } from '../contract.ts'
import { StoreUnavailableError } from '../errors.ts'
import { type LogRow, readHead, readLog } from './record.ts'
import { applyRows, readNote } from './replica.ts'
import { disagreement } from './same-record.ts'
import type { PostgresSession } from './session.ts'

/**
 * Fetches and applies the log after the batch `from` up to `to`, a part at a time. `session` returns a session for
 * fetching a part; `apply` applies a part to the replica, and resolves with the number of the replica's newest batch.
 * Resolves with that number, which is less than `to` if the log has a gap.
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
 * Applies the log to a replica up to the present head; resolves with the number of the replica's newest batch. Throws
 * {@link StoreUnavailableError} when the log does not continue the replica.
 */
export async function redoLog(session: PostgresSession, local: KeyValueStore): Promise<number> {
  const head = await readHead(session)
  const note = readNote(local)
  const apply = async (rows: readonly LogRow[]) => (await applyRows(local, rows)).seq
  const reached = note && (await catchUp(note.seq, head.seq, async () => session, apply))
  if (reached !== undefined && reached >= head.seq) return reached
  const reason = await disagreement(session, readNote(local))
  throw new StoreUnavailableError(`the log cannot be applied to the replica: ${reason}`)
}
