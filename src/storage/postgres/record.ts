// The SQL statements for the record (the store's tables in PostgreSQL), which contains the log of committed batches.
// The head is the newest batch of the log. With {@link LogRetention}, a node prevents the removal of log rows that it
// still needs.

import { epoch, type Micros, micros } from '../../base/micros.ts'
import { encodeBatch } from '../kv/batch.ts'
import type { Bytes, Entry } from '../kv/kv-contract.ts'
import { StoreUnavailableError } from '../kv/store-errors.ts'
import { isRejection } from './failures.ts'
import type { CommitOutcome, PostgresSession } from './postgres-session.ts'
import { assertSupportedVersion } from './tables.ts'

/** The newest committed batch, with related times. */
export interface Head {
  readonly seq: number
  /** Time in microseconds. All commits after this batch have later times. */
  readonly closed: Micros
  /** The database's time of day at the read (microseconds). */
  readonly clock: Micros
}

/** A committed batch. */
export interface LogRow {
  readonly seq: number
  /**
   * A random name from the node that committed the batch, by which the node recognizes its own batch after a lost
   * connection.
   */
  readonly batch: string
  /**
   * The name of the previous batch; empty if there is none, or if its row was removed. Shows whether two logs have the
   * same history.
   */
  readonly before: string
  readonly body: Bytes
}

const clock = '(extract(epoch from clock_timestamp()) * 1000000)::bigint AS clock'

/** Maximum number of rows per fetch. A row usually contains some tens of transactions, or one large transaction. */
const rowsMax = 64
/** Maximum number of bytes of all rows of a fetch except the last row. */
const rowsBytesMax = 4 << 20
/** The time limit for reading rows in milliseconds. It is sufficient for a slow network. */
const rowsTimeoutMs = 30_000

function headOf(row: Readonly<Record<string, unknown>> | undefined): Head {
  if (row === undefined) throw new StoreUnavailableError('the log of the store is empty')
  return { seq: Number(row.seq), closed: micros(Number(row.closed)), clock: micros(Number(row.clock)) }
}

const selectHead = (session: PostgresSession) =>
  `SELECT seq, closed, ${clock}, (SELECT version FROM ${session.table('meta')} WHERE id = 1) AS version
   FROM ${session.table('log')} ORDER BY seq DESC LIMIT 1`

/** Does not wait for commits. Throws {@link StoreUnavailableError} when a newer program has changed the tables. */
export async function readHead(session: PostgresSession): Promise<Head> {
  const [row] = await session.prepared('read head', selectHead(session), [])
  if (row) assertSupportedVersion(session, Number(row.version))
  return headOf(row)
}

/** Begins a transaction; no other node commits until it ends. Takes one round trip. */
export async function lockHead(session: PostgresSession): Promise<Head> {
  const begun = session.query('BEGIN ISOLATION LEVEL READ COMMITTED')
  const statement = `SELECT id FROM ${session.table('head')} WHERE id = 1 FOR UPDATE`
  const locked = session.prepared('lock head', statement, [])
  // A separate statement, so that the head includes commits that were made during the wait for the lock.
  const [, , head] = await Promise.all([begun, locked, readHead(session)])
  return head
}

interface NewRow extends LogRow {
  readonly node: string
  readonly closed: Micros
}

function append(session: PostgresSession, { seq, batch, node, closed, body }: NewRow) {
  return session.prepared(
    'append batch',
    `INSERT INTO ${session.table('log')} (seq, batch, node, closed, body)
     SELECT $1::bigint, $2::text, $3::text, $4::bigint, $5::bytea WHERE $1::bigint > 0`,
    [seq, batch, node, closed, Buffer.from(body.buffer, body.byteOffset, body.byteLength)],
  )
}

/**
 * Makes the database parse the statement that appends a batch on a new session; batch 0 is not inserted. Otherwise, the
 * database would parse the statement during a commit, before its long parameter arrives, and wait for the parameter
 * without a time limit, even if the session has locked the head.
 */
export async function parseCommit(session: PostgresSession): Promise<void> {
  await append(session, { seq: 0, batch: '', before: '', node: '', closed: epoch, body: Buffer.alloc(0) })
}

/**
 * Appends a batch after the locked head and commits; `rejection` is the error with which the database rejected the
 * commit. If the call throws, the outcome is unknown. Takes one round trip.
 */
export async function appendBatch(
  session: PostgresSession,
  row: NewRow,
): Promise<{ readonly committed: CommitOutcome; readonly rejection?: unknown }> {
  const [appended, commit] = await Promise.allSettled([append(session, row), session.commit()])
  if (commit.status === 'rejected') throw commit.reason
  return { committed: commit.value, ...(appended.status === 'rejected' && { rejection: appended.reason }) }
}

/**
 * Reads batches whose numbers are greater than `after` and at most `upTo`, oldest first: at least the first one, and
 * the following batches that fit into one fetch.
 */
export async function readLog(session: PostgresSession, after: number, upTo: number): Promise<LogRow[]> {
  const rows = await session.queryLong(
    `SELECT seq, batch, before, body FROM (
       SELECT seq, batch, body, lag(batch) OVER (ORDER BY seq) AS before,
         sum(CASE WHEN seq > $1 THEN octet_length(body) ELSE 0 END) OVER (ORDER BY seq) - octet_length(body) AS bytes_before
       FROM ${session.table('log')} WHERE seq >= $1 AND seq <= $2 ORDER BY seq LIMIT ${rowsMax + 1}) AS row
     WHERE seq > $1 AND bytes_before < ${rowsBytesMax} ORDER BY seq`,
    [after, upTo],
    rowsTimeoutMs,
  )
  return rows.map(row => ({
    seq: Number(row.seq),
    batch: String(row.batch),
    before: String(row.before ?? ''),
    body: row.body as Buffer,
  }))
}

/** Prevents the removal of log rows from batch `needs` on while the node is alive. */
export async function retainLog(session: PostgresSession, node: string, needs: number): Promise<void> {
  await session.query(
    `INSERT INTO ${session.table('node')} (name, needs, seen) VALUES ($1, $2, now())
     ON CONFLICT (name) DO UPDATE SET needs = excluded.needs, seen = excluded.seen`,
    [node, needs],
  )
}

/** A commit that waits longer for a synchronous standby is reported. */
const standbyPatienceMs = 1_000

/**
 * Returns why commits of any session wait for a synchronous standby, with the state of the standbys, or undefined if no
 * commit has waited for {@link standbyPatienceMs}. Roles without `pg_monitor` see the number of standbys, but not their
 * names, and only sessions of the same role.
 */
export async function missingStandby(session: PostgresSession): Promise<StoreUnavailableError | undefined> {
  const [row] = await session
    .query(
      `SELECT current_setting('synchronous_standby_names') AS wanted,
         (SELECT count(*) FROM pg_stat_replication) AS count,
         (SELECT string_agg(concat_ws(' ', application_name, state, sync_state), ', ') FROM pg_stat_replication) AS found
       FROM pg_stat_activity
       WHERE wait_event = 'SyncRep' AND state_change < clock_timestamp() - $1 * interval '1 millisecond' LIMIT 1`,
      [standbyPatienceMs],
    )
    // Databases that only speak PostgreSQL's protocol may lack these views.
    .catch(error => (isRejection(error) ? [] : Promise.reject(error)))
  if (row === undefined) return undefined
  const state =
    Number(row.count) === 0
      ? 'no standby is connected'
      : `${row.count} connected: ${row.found || 'state hidden'}`
  return new StoreUnavailableError(
    `commits wait for a synchronous standby (synchronous_standby_names is '${row.wanted}'; ${state})`,
  )
}

export async function putState(session: PostgresSession, rows: readonly Entry[]): Promise<void> {
  await session.query(
    `INSERT INTO ${session.table('kv')} (key, value) SELECT * FROM unnest($1::bytea[], $2::bytea[])
     ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
    [byteaArray(rows.map(({ key }) => key)), byteaArray(rows.map(({ value }) => value))],
  )
}

/** The name of the batch with the number `seq`; undefined when the log has no row of this batch. */
export async function readBatch(session: PostgresSession, seq: number): Promise<string | undefined> {
  const [row] = await session.query(`SELECT batch FROM ${session.table('log')} WHERE seq = $1`, [seq])
  return row === undefined ? undefined : String(row.batch)
}

/**
 * Appends an empty batch after the batch `previous`, so that all later commits have times after `closed`. Does not wait
 * for running commits: resolves with undefined if another batch follows `previous`, or if a running commit has locked
 * the head. The other batch then sets a closed time.
 */
export async function closeTime(
  session: PostgresSession,
  previous: Pick<LogRow, 'seq' | 'batch'>,
  { batch, closed, node }: Pick<NewRow, 'batch' | 'closed' | 'node'>,
): Promise<(Head & LogRow) | undefined> {
  const body = encodeBatch([])
  const log = session.table('log')
  const [row] = await session.prepared(
    'close time',
    `INSERT INTO ${log} (seq, batch, node, closed, body)
     SELECT newest.seq + 1, $1::text, $2::text, GREATEST(newest.closed, $3::bigint), $4::bytea
     FROM (SELECT id FROM ${session.table('head')} WHERE id = 1 FOR UPDATE SKIP LOCKED) AS head,
          (SELECT seq, batch, closed FROM ${log} ORDER BY seq DESC LIMIT 1) AS newest
     WHERE newest.seq = $5::bigint AND newest.batch = $6::text
     ON CONFLICT (seq) DO NOTHING RETURNING seq, closed, ${clock}`,
    [batch, node, closed, body, previous.seq, previous.batch],
  )
  return row === undefined ? undefined : { ...headOf(row), batch, before: previous.batch, body }
}

/** PostgreSQL's object id of the type `bytea`, the same in every database. */
const byteaOid = 17
const headBytes = 20
const lengthBytes = 4

/**
 * A parameter of type `bytea[]` in PostgreSQL's binary format. The driver would send arrays as text, with two
 * characters per byte, and the conversions would take longer than storing the rows.
 */
export function byteaArray(items: readonly Bytes[]): Buffer {
  let size = headBytes
  for (const item of items) size += lengthBytes + item.length
  const array = Buffer.allocUnsafe(size)
  // The number of dimensions, a flag for nulls, the type of the elements, the number of elements, and the first index.
  let at = 0
  for (const number of [1, 0, byteaOid, items.length, 1]) at = array.writeInt32BE(number, at)
  for (const item of items) {
    at = array.writeInt32BE(item.length, at)
    array.set(item, at)
    at += item.length
  }
  return array
}

/** A node reports at this interval which log rows it still needs. */
const renewMs = 5_000

/** Prevents the removal of log rows that a node still needs. */
export class LogRetention {
  readonly #node: string
  readonly #elapsedMs: () => number
  #renewedMs = Number.NEGATIVE_INFINITY

  /** `node`: the name of this process. `elapsedMs`: a monotonic clock. */
  constructor(node: string, elapsedMs: () => number) {
    this.#node = node
    this.#elapsedMs = elapsedMs
  }

  /** The log is needed from batch `from` on. Does nothing if the last renewal was less than {@link renewMs} ago. */
  async renew(session: PostgresSession, from: number): Promise<void> {
    if (this.#elapsedMs() - this.#renewedMs < renewMs) return
    this.#renewedMs = this.#elapsedMs()
    // A promoted standby may lack the row. The node then writes the row again before the retention ends.
    await session.locally(() => retainLog(session, this.#node, from))
  }
}
