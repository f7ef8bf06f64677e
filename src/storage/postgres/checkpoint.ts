// Applies the log in PostgreSQL to the state rows (table `kv`), and removes log rows that no node needs any more. Only
// the holder of a lease does this work. Two holders would cause no harm: the transaction of each step checks the
// checkpoint (the newest batch whose writes are in the state rows).

import { byteText } from '../../base/byte-text.ts'
import { systemClock } from '../../base/clock.ts'
import { secondsPerDay } from '../../base/micros.ts'
import { decodeBatch } from '../kv/batch.ts'
import type { Write } from '../kv/kv-contract.ts'
import type { PostgresSession } from './postgres-session.ts'
import { byteaArray, putState, readLog } from './record.ts'
import { assertSupportedVersion } from './tables.ts'
import { holdLease, releaseLease, type UpkeepTask } from './upkeep.ts'

const leaseName = 'checkpoint'
const leaseSeconds = 5
/** Milliseconds between two steps when there is no work. */
export const checkpointEveryMs = 2_000
/** Milliseconds between two removals of log rows. */
const trimEveryMs = 10_000
/** A transaction that changes this number of keys applies no further log rows. */
const stepKeysMax = 5_000
/** A transaction that applies log rows with this number of bytes applies no further ones. */
const stepBytesMax = 8 << 20
/** Maximum number of log rows that one statement removes. */
const trimRowsMax = 1_000
/** Seconds without a report (record.ts, `LogRetention`) after which a node no longer delays the removal of log rows. */
const nodeGoneSeconds = 60
/** Seconds without a report after which the row of a node is removed. */
const nodeForgottenSeconds = secondsPerDay

export class Checkpointer implements UpkeepTask {
  readonly #node: string
  readonly #retentionSeconds: number
  #trimmedMs = Number.NEGATIVE_INFINITY
  /** The log has no row before this batch number. */
  #firstRow = 0

  /**
   * `node` identifies this process as the holder of the lease. Every log row is kept for `retentionSeconds`, so that a
   * node finds all rows after it was disconnected or off.
   */
  constructor(node: string, retentionSeconds: number) {
    this.#node = node
    this.#retentionSeconds = retentionSeconds
  }

  async run(session: PostgresSession): Promise<boolean> {
    const isTrimDue = systemClock.elapsedMs() - this.#trimmedMs >= trimEveryMs
    const { from, head } = await readBounds(session)
    // A process that finds no work does not take the lease.
    if ((from === head && !isTrimDue) || !(await holdLease(session, leaseName, this.#node, leaseSeconds)))
      return false
    const isBusy = await advanceCheckpoint(session)
    if (isTrimDue && !isBusy) {
      this.#trimmedMs = systemClock.elapsedMs()
      this.#firstRow = await trimLog(session, this.#firstRow, this.#retentionSeconds)
    }
    return isBusy
  }

  stop(session: PostgresSession): Promise<void> {
    return releaseLease(session, leaseName, this.#node)
  }
}

/**
 * `from`: the checkpoint. `head`: the newest batch of the log. Throws `StoreUnavailableError` when a newer program has
 * changed the tables.
 */
async function readBounds(
  session: PostgresSession,
): Promise<{ readonly from: number; readonly head: number }> {
  const [row] = await session.query(
    `SELECT seq, (SELECT max(seq) FROM ${session.table('log')}) AS head,
       (SELECT version FROM ${session.table('meta')} WHERE id = 1) AS version
     FROM ${session.table('checkpoint')} WHERE id = 1`,
  )
  assertSupportedVersion(session, Number(row?.version))
  return { from: Number(row?.seq), head: Number(row?.head) }
}

/** Resolves with true when there are more batches to apply. */
export async function advanceCheckpoint(session: PostgresSession): Promise<boolean> {
  const { from, head } = await readBounds(session)
  const changed = new Map<string, Write>()
  let reached = from
  let bytes = 0
  while (reached < head && changed.size < stepKeysMax && bytes < stepBytesMax) {
    const rows = await readLog(session, reached, head)
    if (rows.length === 0) break
    for (const { seq, body } of rows) {
      for (const write of decodeBatch(body)) changed.set(byteText(write.key), write)
      reached = seq
      bytes += body.length
      if (changed.size >= stepKeysMax || bytes >= stepBytesMax) break
    }
  }
  if (reached === from) return false
  await writeStep(session, from, reached, [...changed.values()])
  return reached < head
}

/**
 * Writes the changes of the batches after `from`, up to `to`, to the state rows in a single transaction. Does nothing
 * when another node has already moved the checkpoint.
 */
async function writeStep(
  session: PostgresSession,
  from: number,
  to: number,
  writes: readonly Write[],
): Promise<void> {
  const checkpoint = session.table('checkpoint')
  const present = writes.flatMap(({ key, value }) => (value === undefined ? [] : [{ key, value }]))
  const deleted = writes.flatMap(({ key, value }) => (value === undefined ? [key] : []))
  try {
    await session.query('BEGIN')
    const [row] = await session.query(`SELECT seq FROM ${checkpoint} WHERE id = 1 FOR UPDATE`)
    if (Number(row?.seq) !== from) {
      await session.query('ROLLBACK')
      return
    }
    if (deleted.length > 0) {
      await session.query(`DELETE FROM ${session.table('kv')} WHERE key = ANY($1::bytea[])`, [
        byteaArray(deleted),
      ])
    }
    if (present.length > 0) await putState(session, present)
    await session.query(`UPDATE ${checkpoint} SET seq = $1 WHERE id = 1`, [to])
    await session.query('COMMIT')
  } catch (error) {
    // The session is in a failed transaction, so it must not be used any more.
    session.close()
    throw error
  }
}

/**
 * Removes log rows that are older than the retention and applied to the state, and that no live node needs. `first`:
 * the log has no row before this batch number; resolves with `first` for the next call. The search begins at `first`,
 * because it would otherwise scan removed rows: PostgreSQL keeps these rows in the table while a transaction reads an
 * older state of the database.
 */
async function trimLog(session: PostgresSession, first: number, retentionSeconds: number): Promise<number> {
  const log = session.table('log')
  let from = first
  for (;;) {
    const rows = await session.query(
      `DELETE FROM ${log}
       WHERE seq >= $3 AND seq < (SELECT MIN(seq) FROM ${log} WHERE seq >= $3) + ${trimRowsMax}
         AND seq < (SELECT seq FROM ${session.table('checkpoint')} WHERE id = 1)
         AND seq < (SELECT COALESCE(MIN(needs), 9223372036854775807) FROM ${session.table('node')}
                    WHERE seen > now() - $2 * interval '1 second')
         AND at < now() - $1 * interval '1 second' RETURNING seq`,
      [retentionSeconds, nodeGoneSeconds, from],
    )
    for (const { seq } of rows) from = Math.max(from, Number(seq) + 1)
    if (rows.length < trimRowsMax) break
  }
  await session.query(`DELETE FROM ${session.table('node')} WHERE seen < now() - $1 * interval '1 second'`, [
    nodeForgottenSeconds,
  ])
  return from
}
