// The statements over the record: the log of committed batches and its head.

import type { Bytes } from '../contract.ts'
import type { Committed, Session } from './session.ts'

/** The newest committed batch, and what is known with it. */
export interface Head {
  readonly seq: number
  /** No later commit has a time up to this (microseconds). */
  readonly closed: number
  /** The database's own time of day when it looked (microseconds). */
  readonly clock: number
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
  return { seq: Number(row?.seq), closed: Number(row?.closed), clock: Number(row?.clock) }
}

/** The head, as of now; waits for nobody. */
export async function readHead(session: Session): Promise<Head> {
  const statement = `SELECT seq, closed, ${clock} FROM ${session.table('head')} WHERE id = 1`
  const [row] = await session.prepared('read head', statement, [])
  return headOf(row)
}

/** Begins a transaction and locks the head: nobody else commits until it ends. One round trip. */
export async function lockHead(session: Session): Promise<Head> {
  const begun = session.query('BEGIN ISOLATION LEVEL READ COMMITTED')
  const statement = `SELECT seq, closed, ${clock} FROM ${session.table('head')} WHERE id = 1 FOR UPDATE`
  const locked = session.prepared('lock head', statement, [])
  const [, [row]] = await Promise.all([begun, locked])
  return headOf(row)
}

/** Gives the head free without a change. */
export async function releaseHead(session: Session): Promise<void> {
  await session.query('ROLLBACK')
}

function append(session: Session, row: readonly [seq: number, batch: string, node: string, body: Buffer]) {
  return session.prepared(
    'append batch',
    `INSERT INTO ${session.table('log')} (seq, batch, node, body)
     SELECT $1::bigint, $2::text, $3::text, $4::bytea WHERE $1::bigint > 0`,
    row,
  )
}

/**
 * Has the database parse what a commit sends, on a new session. For one that parses a statement behind which a long text is
 * to come, it waits without a limit, also while the session holds the head.
 */
export async function parseCommit(session: Session): Promise<void> {
  await append(session, [0, '', '', Buffer.alloc(0)])
}

/**
 * Appends a batch behind the locked head, closes the time up to `closed`, and commits. Throwing leaves the outcome open.
 * One round trip.
 */
export async function appendBatch(
  session: Session,
  row: LogRow,
  closed: number,
  node: string,
): Promise<Committed> {
  const body = Buffer.from(row.body.buffer, row.body.byteOffset, row.body.byteLength)
  const steps = await Promise.allSettled([
    append(session, [row.seq, row.batch, node, body]),
    session.prepared(
      'move head',
      `UPDATE ${session.table('head')} SET seq = $1, closed = GREATEST(closed, $2) WHERE id = 1`,
      [row.seq, closed],
    ),
    session.commit(),
  ])
  const commit = steps[2]
  if (commit.status === 'rejected') throw commit.reason
  return commit.value
}

/** The batches after `after` up to `upTo`, oldest first: the first, and as many as are not too much for one fetch. */
export async function readLog(session: Session, after: number, upTo: number): Promise<LogRow[]> {
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

/** The batch with this number; undefined when it is not in the log (any more). */
export async function readBatch(session: Session, seq: number): Promise<string | undefined> {
  const [row] = await session.query(`SELECT batch FROM ${session.table('log')} WHERE seq = $1`, [seq])
  return row === undefined ? undefined : String(row.batch)
}

/**
 * Promises that no later commit has a time up to `time`. Waits for nobody: undefined when a commit has the head, which
 * will close its own time.
 */
export async function closeTime(session: Session, time: number): Promise<Head | undefined> {
  const head = session.table('head')
  const [row] = await session.query(
    `UPDATE ${head} SET closed = GREATEST(closed, $1)
     WHERE id = (SELECT id FROM ${head} WHERE id = 1 FOR UPDATE SKIP LOCKED) RETURNING seq, closed, ${clock}`,
    [time],
  )
  return row === undefined ? undefined : headOf(row)
}
