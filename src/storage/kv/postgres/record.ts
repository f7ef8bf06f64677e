// The statements over the record: the log of committed batches and its head.

import { epoch, type Micros, micros } from '../../../base/micros.ts'
import { encodeBatch } from '../batch.ts'
import type { Bytes, Entry } from '../contract.ts'
import { StoreUnavailableError } from '../errors.ts'
import { byteaArray } from './bytea-array.ts'
import type { Committed, PostgresSession } from './session.ts'
import { assertKnown } from './tables.ts'

/** The newest committed batch, and what is known with it. */
export interface Head {
  readonly seq: number
  /** No later commit has a time up to this (microseconds). */
  readonly closed: Micros
  /** The database's own time of day when it looked (microseconds). */
  readonly clock: Micros
}

/** One committed batch. */
export interface LogRow {
  readonly seq: number
  /** Drawn by the node that committed it, so that it can tell its own after a lost connection. */
  readonly batch: string
  /** The batch before it, which it follows in no other log; empty when there is none, or no row of it any more. */
  readonly before: string
  readonly body: Bytes
}

const clock = '(extract(epoch from clock_timestamp()) * 1000000)::bigint AS clock'

/** Rows fetched at a time; a row is a few tens of transactions, or one large one. */
const rowsMax = 64
/** Bytes of those before the last of them. */
const rowsBytesMax = 4 << 20
/** Milliseconds that fetching them may take, over a slow network, too. */
const rowsTimeoutMs = 30_000

function headOf(row: Readonly<Record<string, unknown>> | undefined): Head {
  if (row === undefined) throw new StoreUnavailableError('the log of the store is empty')
  return { seq: Number(row.seq), closed: micros(Number(row.closed)), clock: micros(Number(row.clock)) }
}

const newest = (session: PostgresSession) =>
  `SELECT seq, closed, ${clock}, (SELECT version FROM ${session.table('meta')} WHERE id = 1) AS version
   FROM ${session.table('log')} ORDER BY seq DESC LIMIT 1`

/**
 * The head, as of now; waits for no commit. Throws {@link StoreUnavailableError} when a newer program has changed the tables
 * meanwhile.
 */
export async function readHead(session: PostgresSession): Promise<Head> {
  const [row] = await session.prepared('read head', newest(session), [])
  if (row) assertKnown(session, Number(row.version))
  return headOf(row)
}

/** Begins a transaction and locks the head: no other node commits until it ends. One round trip. */
export async function lockHead(session: PostgresSession): Promise<Head> {
  const begun = session.query('BEGIN ISOLATION LEVEL READ COMMITTED')
  const statement = `SELECT id FROM ${session.table('head')} WHERE id = 1 FOR UPDATE`
  const locked = session.prepared('lock head', statement, [])
  // A statement of its own: it sees what was committed while the one before it waited.
  const [, , head] = await Promise.all([begun, locked, readHead(session)])
  return head
}

/** Gives the head free without a change. */
export async function releaseHead(session: PostgresSession): Promise<void> {
  await session.query('ROLLBACK')
}

/** A row that is appended to the log. */
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
 * Has the database parse what a commit sends, on a new session. For one that parses a statement behind which a long text is
 * to come, it waits without a limit, also while the session holds the head.
 */
export async function parseCommit(session: PostgresSession): Promise<void> {
  await append(session, { seq: 0, batch: '', before: '', node: '', closed: epoch, body: Buffer.alloc(0) })
}

/**
 * Appends a batch behind the locked head and commits; `refusal` is what the database said when it refused. Throwing leaves
 * the outcome open. One round trip.
 */
export async function appendBatch(
  session: PostgresSession,
  row: NewRow,
): Promise<{ readonly committed: Committed; readonly refusal?: unknown }> {
  const [appended, commit] = await Promise.allSettled([append(session, row), session.commit()])
  if (commit.status === 'rejected') throw commit.reason
  return { committed: commit.value, ...(appended.status === 'rejected' && { refusal: appended.reason }) }
}

/** The batches after `after` up to `upTo`, oldest first: the first, and as many as are not too much for one fetch. */
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

/** Says that a node lives, and that it needs the log from batch `needs` on: nothing behind that is removed while it lives. */
export async function keepLog(session: PostgresSession, node: string, needs: number): Promise<void> {
  await session.query(
    `INSERT INTO ${session.table('node')} (name, needs, seen) VALUES ($1, $2, now())
     ON CONFLICT (name) DO UPDATE SET needs = excluded.needs, seen = excluded.seen`,
    [node, needs],
  )
}

/** Puts rows of the state in place of those with the same keys. */
export async function putState(session: PostgresSession, rows: readonly Entry[]): Promise<void> {
  await session.query(
    `INSERT INTO ${session.table('kv')} (key, value) SELECT * FROM unnest($1::bytea[], $2::bytea[])
     ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
    [byteaArray(rows.map(({ key }) => key)), byteaArray(rows.map(({ value }) => value))],
  )
}

/** The batch with this number; undefined when it is not in the log (any more). */
export async function readBatch(session: PostgresSession, seq: number): Promise<string | undefined> {
  const [row] = await session.query(`SELECT batch FROM ${session.table('log')} WHERE seq = $1`, [seq])
  return row === undefined ? undefined : String(row.batch)
}

/**
 * Promises that no later commit has a time up to `closed`, by a batch without writes behind the batch `behind`. Does not
 * wait: undefined when a commit has the head, which will close its own time, or another batch has come in between.
 */
export async function closeTime(
  session: PostgresSession,
  behind: Pick<LogRow, 'seq' | 'batch'>,
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
    [batch, node, closed, body, behind.seq, behind.batch],
  )
  return row === undefined ? undefined : { ...headOf(row), batch, before: behind.batch, body }
}
