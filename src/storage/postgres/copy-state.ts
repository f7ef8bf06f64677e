// Copies the state of the record (the store's tables in PostgreSQL) into an empty replica, page by page, while commits
// continue. The pages therefore show the state at different times, so the log is applied to the copy, from the
// checkpoint at which the copy began. (The checkpoint is the newest batch of the log that the state contains.) Log rows
// contain complete values, so a row may be applied again to a page that already contains it, and the result is the
// state at one time.
//
// Also copies the record as of one batch into a key-value store: for backups, for the move back into a data directory,
// and for comparisons with a node's replica.

import { systemClock } from '../../base/clock.ts'
import { mergeJoin } from '../../base/merge-join.ts'
import { bootId } from '../../base/system-process.ts'
import {
  type Bytes,
  type Entry,
  everyKey,
  type KeyValueStore,
  type View,
  type Write,
} from '../kv/kv-contract.ts'
import { StoreUnavailableError } from '../kv/store-errors.ts'
import { logMismatch, redoLog } from './catch-up.ts'
import { PostgresSession, type RecordLocation, type ResultRow } from './postgres-session.ts'
import { LogRetention, readBatch, retainLog } from './record.ts'
import { noteIn, noteWrite, type ReplicaNote, ReplicaView, readNote } from './replica.ts'
import { readStoreId } from './tables.ts'

export interface CopyProgress {
  /** The keys that this run has copied. */
  readonly keys: number
  /** The keys that were not copied yet when this run began; undefined until they have been counted. */
  readonly keysTotal: number | undefined
}

/** `keys` divided by `keysTotal`, from 0 to 1; undefined until the keys have been counted. */
export function copiedShare({ keys, keysTotal }: CopyProgress): number | undefined {
  return keysTotal === undefined ? undefined : Math.min(1, keys / Math.max(1, keysTotal))
}

/** The target size of a page in bytes. */
const pageBytesAim = 4 << 20
const pageRowsMin = 16
const pageRowsMax = 16_384

/**
 * Copies the state into `local`, which must be empty or contain an interrupted copy, and resolves when the log can be
 * applied. An interrupted copy is continued if the log still contains all batches since it began.
 */
export async function copyState(
  session: PostgresSession,
  local: KeyValueStore,
  node: string,
  onProgress: (progress: CopyProgress) => void,
): Promise<void> {
  const interrupted = await interruptedCopy(session, local)
  if (interrupted === undefined) await removeAll(local)
  const note = interrupted?.note ?? (await pinCheckpoint(session, node))
  const retention = new LogRetention(node, systemClock.elapsedMs)
  await retention.renew(session, note.seq)
  if (interrupted === undefined)
    await local.transact(() => ({ result: undefined, writes: [noteWrite(note)] }))
  const first = interrupted?.last ?? Buffer.alloc(0)
  let keysTotal: number | undefined
  const count = countKeys(session, first, counted => {
    keysTotal = counted
  })
  let keys = 0
  try {
    for await (const writes of pages(session, first)) {
      keys += writes.length
      await local.transact(() => ({ result: undefined, writes }))
      onProgress({ keys, keysTotal })
      await retention.renew(session, note.seq)
    }
  } finally {
    count.stop()
  }
  await local.transact(() => ({ result: undefined, writes: [noteWrite({ ...note, isComplete: true })] }))
}

/** Fetches the next page while a page is stored. */
async function* pages(session: PostgresSession, after: Buffer): AsyncGenerator<readonly Write[]> {
  let rowsLimit = pageRowsMin
  let next = readPage(session, after, rowsLimit)
  for (;;) {
    const rows = await next
    const writes = rows.map((row): Write => ({ key: row.key as Buffer, value: row.value as Buffer }))
    const isLast = rows.length < rowsLimit
    if (!isLast) {
      const bytes = writes.reduce((sum, { key, value }) => sum + key.length + (value?.length ?? 0), 0)
      const fitting = Math.floor((rowsLimit * pageBytesAim) / Math.max(bytes, 1))
      rowsLimit = Math.max(pageRowsMin, Math.min(fitting, rowsLimit * 4, pageRowsMax))
      next = readPage(session, rows.at(-1)?.key as Buffer, rowsLimit)
      // If the caller stops the iteration, no code waits for this page, so its failure is ignored.
      next.catch(() => undefined)
    }
    yield writes
    if (isLast) return
  }
}

function readPage(session: PostgresSession, after: Buffer, rowsLimit: number): Promise<readonly ResultRow[]> {
  const statement = `SELECT key, value FROM ${session.table('kv')} WHERE key > $1 ORDER BY key LIMIT ${rowsLimit}`
  return session.query(statement, [after])
}

/**
 * Counts the keys after `after` over a second connection. The copy does not wait, because counting takes long and is
 * only needed to show progress.
 */
function countKeys(
  session: PostgresSession,
  after: Buffer,
  onCounted: (count: number) => void,
): { readonly stop: () => void } {
  let second: PostgresSession | undefined
  let isStopped = false
  const count = async () => {
    second = await session.openUntimed()
    if (isStopped) return
    const [row] = await second.query(`SELECT count(*) AS count FROM ${second.table('kv')} WHERE key > $1`, [
      after,
    ])
    onCounted(Number(row?.count))
  }
  const stop = () => {
    isStopped = true
    second?.close()
  }
  // If the database cannot be reached, the copy fails, too, and reports the reason.
  count()
    .catch(() => undefined)
    .finally(stop)
  return { stop }
}

/**
 * The note (replica.ts) and the last key of an interrupted copy; undefined when the copy must start from the beginning.
 */
async function interruptedCopy(
  session: PostgresSession,
  local: KeyValueStore,
): Promise<{ readonly note: ReplicaNote; readonly last: Buffer } | undefined> {
  const note = readNote(local)
  if (note === undefined || note.isComplete || (await logMismatch(session, note)) !== undefined)
    return undefined
  const [entry] = local.read(view => [...view.range({ ...everyKey, reverse: true, limit: 1 })])
  // The key of the note sorts before all other keys, so without another key, copying starts from the beginning.
  return { note, last: Buffer.from(entry?.key ?? []) }
}

/** Uses one transaction for each page of rows. */
async function removeAll(local: KeyValueStore): Promise<void> {
  for (let count = 1; count > 0; ) {
    count = await local.transact(view => {
      const writes = Array.from(view.range({ ...everyKey, limit: pageRowsMax }), ({ key }) => ({
        key,
        value: undefined,
      }))
      return { result: writes.length, writes }
    })
  }
}

/** Prevents the removal of log rows from the checkpoint on, and returns the note of a copy that begins there. */
async function pinCheckpoint(session: PostgresSession, node: string): Promise<ReplicaNote> {
  const storeId = await readStoreId(session)
  // Only the row of the node is written, so a node can start while a synchronous standby is missing.
  await session.beginLocally()
  const [row] = await session.query(`SELECT seq FROM ${session.table('checkpoint')} WHERE id = 1 FOR UPDATE`)
  const seq = Number(row?.seq)
  await retainLog(session, node, seq)
  const batch = seq === 0 ? '' : await readBatch(session, seq)
  await session.query('COMMIT')
  // The log row of the checkpoint's batch is never removed, so a missing row means that the database has lost data.
  if (batch === undefined)
    throw new StoreUnavailableError(
      `the log does not contain batch ${seq}, the newest batch in the store's state: restore a backup`,
    )
  return { storeId, boot: bootId(), seq, batch, isComplete: false }
}

/**
 * Copies the present state into `local`, which must be empty or contain an interrupted copy. Resolves with the number
 * of the newest batch in the copy.
 */
export function copyRecord(
  location: RecordLocation,
  local: KeyValueStore,
  node: string,
  onProgress: (progress: CopyProgress) => void,
): Promise<number> {
  return PostgresSession.use(location, node, async session => {
    await copyState(session, local, node, onProgress)
    return redoLog(session, local)
  })
}

export interface Difference {
  readonly key: Bytes
  /** The stores that contain the key: both, with different values, or only one of them. */
  readonly in: 'copy' | 'record' | 'both'
}

interface Comparison {
  /** The batch at which both stores were compared. */
  readonly seq: number
  /** Contains at most {@link differencesMax} differences. */
  readonly differences: readonly Difference[]
}

/** Maximum number of differences in the result of a comparison. */
export const differencesMax = 100
/**
 * Maximum number of attempts to bring both stores to the same batch: a running node advances its replica during the
 * comparison.
 */
const attemptsMax = 1_000

/** `copy`: a node's replica. `record`: a store with the content of the record, to which no other process writes. */
export async function compareCopy(
  session: PostgresSession,
  record: KeyValueStore,
  copy: KeyValueStore,
): Promise<Comparison> {
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    await redoLog(session, copy)
    await redoLog(session, record)
    const found = record.read(expected => copy.read(actual => compareAt(expected, actual)))
    if (found) return found
  }
  throw new StoreUnavailableError('the replica changes too fast to be compared')
}

/** Returns undefined when the stores are at different batches. */
function compareAt(expected: View, actual: View): Comparison | undefined {
  const seq = noteIn(actual)?.seq
  if (seq === undefined || noteIn(expected)?.seq !== seq) return undefined
  return { seq, differences: differencesOf(new ReplicaView(expected), new ReplicaView(actual)) }
}

function differencesOf(expected: View, actual: View): Difference[] {
  const found: Difference[] = []
  const byKey = (left: Entry, right: Entry) => Buffer.compare(left.key, right.key)
  for (const [record, copy] of mergeJoin(expected.range(everyKey), actual.range(everyKey), byKey)) {
    if (found.length === differencesMax) break
    if (copy === undefined) found.push({ key: (record as Entry).key, in: 'record' })
    else if (record === undefined) found.push({ key: copy.key, in: 'copy' })
    else if (Buffer.compare(record.value, copy.value) !== 0) found.push({ key: record.key, in: 'both' })
  }
  return found
}
