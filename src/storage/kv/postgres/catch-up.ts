// Brings a copy up to the record by the log, for nodes that serve as well as for backups and comparisons.

import type { KeyValueStore } from '../contract.ts'
import { StoreUnavailableError } from '../errors.ts'
import { type LogRow, readHead, readLog } from './record.ts'
import { applyRows, readNote } from './replica.ts'
import { disagreement } from './same-record.ts'
import type { PostgresSession } from './session.ts'

/**
 * Fetches and applies the log behind the batch `from` up to `to`, a part at a time. `session` gives a session to fetch a part over;
 * `apply` applies one to the copy, and resolves with the newest batch in it. Resolves with the newest batch, less than `to` if the
 * log does not go on.
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
 * Brings a copy up to what is the head now; resolves with the newest batch in it. Throws {@link StoreUnavailableError} when the
 * log does not go on from it.
 */
export async function redoLog(session: PostgresSession, local: KeyValueStore): Promise<number> {
  const head = await readHead(session)
  const note = readNote(local)
  const apply = async (rows: readonly LogRow[]) => (await applyRows(local, rows)).seq
  const reached = note && (await catchUp(note.seq, head.seq, async () => session, apply))
  if (reached !== undefined && reached >= head.seq) return reached
  const reason = await disagreement(session, readNote(local))
  throw new StoreUnavailableError(`the log cannot be redone on the copy: ${reason}`)
}
