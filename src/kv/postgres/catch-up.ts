// Brings a copy up to the record by the log, for nodes that serve as well as for backups and comparisons.

import type { KeyValueStore } from '../contract.ts'
import { StoreUnavailableError } from '../errors.ts'
import { type LogRow, readHead, readLog } from './record.ts'
import { applyRows, readNote } from './replica.ts'
import { disagreement } from './same-record.ts'
import type { Session } from './session.ts'

/** What is done with the part of the log that is missing. */
interface CatchUp {
  /** The newest batch in the copy. */
  readonly from: number
  /** The batch that it is to have. */
  readonly to: number
  /** A session to fetch a part over. */
  readonly session: () => Promise<Session>
  /** Applies a part to the copy; resolves with the newest batch in it. */
  readonly apply: (rows: readonly LogRow[]) => Promise<number>
}

/** Fetches and applies the log, a part at a time. Resolves with the newest batch, less than `to` if the log does not go on. */
export async function catchUp({ from, to, session, apply }: CatchUp): Promise<number> {
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
export async function redoLog(session: Session, local: KeyValueStore): Promise<number> {
  const head = await readHead(session)
  const note = readNote(local)
  const reached =
    note &&
    (await catchUp({
      from: note.seq,
      to: head.seq,
      session: async () => session,
      apply: async rows => (await applyRows(local, rows)).seq,
    }))
  if (reached !== undefined && reached >= head.seq) return reached
  const reason = await disagreement(session, readNote(local))
  throw new StoreUnavailableError(`the log cannot be redone on the copy: ${reason}`)
}
