// Moves the content of a store into an empty record (the store's tables in PostgreSQL), page by page in the order of
// keys. If this store has not changed, an interrupted move continues after the last written row. To detect changes, the
// record stores the newest commit time of the moved store. No node starts on the record during the move.

import { keyAfter } from '../../base/bytes.ts'
import type { Random } from '../../base/random.ts'
import { type Bytes, type Entry, everyKey, type KeyValueStore } from '../kv/kv-contract.ts'
import { StoreUnavailableError } from '../kv/store-errors.ts'
import { PostgresSession, type RecordLocation } from './postgres-session.ts'
import { putState, readHead } from './record.ts'
import { createTables, readVersion, recordVersion, unfilledVersion } from './tables.ts'
import { holdLease, releaseLease } from './upkeep.ts'

/** The rows that this run has moved, and their bytes. */
interface FillProgress {
  readonly keys: number
  readonly bytes: number
}

interface FillOptions {
  readonly location: RecordLocation
  /** The store to move. No process may write to it during the move. */
  readonly source: KeyValueStore
  /** The newest commit in `source`, in microseconds. */
  readonly newestTime: number
  readonly node: string
  readonly random: Random
  readonly onProgress: (progress: FillProgress) => void
}

const leaseName = 'migration'
const leaseSeconds = 60
/** Size of a page, which one statement writes. */
const pageBytes = 4 << 20
const pageRowsMax = 5_000

/** Throws {@link StoreUnavailableError} when the record already contains a store. */
export async function fillRecord(options: FillOptions): Promise<void> {
  const { location, source, newestTime, node, random } = options
  await PostgresSession.use(location, node, async session => {
    await createTables(session, random, unfilledVersion)
    if (!(await holdLease(session, leaseName, node, leaseSeconds))) throw await busy(session)
    try {
      await fill(session, source, newestTime, async progress => {
        await holdLease(session, leaseName, node, leaseSeconds)
        options.onProgress(progress)
      })
      await finish(session, newestTime)
    } finally {
      if (session.isSound) await releaseLease(session, leaseName, node).catch(() => undefined)
    }
  })
}

/**
 * Another process is moving data into the record. A killed process has not released its lease, so the error names the
 * seconds until the lease expires.
 */
async function busy(session: PostgresSession): Promise<StoreUnavailableError> {
  const [row] = await session.query(
    `SELECT ceil(extract(epoch from until - now())) AS seconds FROM ${session.table('lease')} WHERE name = $1`,
    [leaseName],
  )
  const seconds = Math.max(1, Number(row?.seconds ?? 1))
  return new StoreUnavailableError(
    `another process is moving data into this store; if it was killed, run the command again in ${seconds} seconds: it then continues where the killed process stopped`,
  )
}

/** Writes the pages that the record does not contain yet. */
async function fill(
  session: PostgresSession,
  source: KeyValueStore,
  newestTime: number,
  onPage: (progress: FillProgress) => Promise<void>,
): Promise<void> {
  let last = await beginOf(session, newestTime)
  let keys = 0
  let bytes = 0
  for (;;) {
    const page = source.read(view => pageOf(view.range({ start: last, end: everyKey.end })))
    if (page.length === 0) return
    await putState(session, page)
    last = keyAfter((page.at(-1) as Entry).key)
    keys += page.length
    for (const { key, value } of page) bytes += key.length + value.length
    await onPage({ keys, bytes })
  }
}

/** The first key of the moved store; for an interrupted move of the same store, the key after the last written row. */
async function beginOf(session: PostgresSession, newestTime: number): Promise<Bytes> {
  const lease = session.table('lease')
  const kv = session.table('kv')
  const mark = `filled with the data as of ${newestTime}`
  if ((await readVersion(session)) !== unfilledVersion) {
    const { seq } = await readHead(session)
    const rows = await session.query(`SELECT 1 FROM ${kv} LIMIT 1`)
    if (seq > 0 || rows.length > 0)
      throw new StoreUnavailableError(`the schema ${session.schemaName} already contains a store`)
    await session.query(`UPDATE ${session.table('meta')} SET version = ${unfilledVersion} WHERE id = 1`)
  }
  const marked = await session.query(`SELECT 1 FROM ${lease} WHERE name = $1`, [mark])
  if (marked.length === 0) {
    await session.query(`TRUNCATE ${kv}`)
    await session.query(`DELETE FROM ${lease} WHERE name LIKE 'filled with %'`)
    await session.query(`INSERT INTO ${lease} (name, holder, until) VALUES ($1, '', now())`, [mark])
  }
  const [newest] = await session.query(`SELECT key FROM ${kv} ORDER BY key DESC LIMIT 1`)
  return newest === undefined ? new Uint8Array(0) : keyAfter(newest.key as Buffer)
}

/** Completes the move. After this commit, nodes may start on the record. */
async function finish(session: PostgresSession, newestTime: number): Promise<void> {
  await session.query('BEGIN')
  // All later commits have times after the commits in `source`.
  await session.query(`UPDATE ${session.table('log')} SET closed = $1 WHERE seq = 0`, [newestTime + 1])
  await session.query(`DELETE FROM ${session.table('lease')} WHERE name LIKE 'filled with %'`)
  await session.query(`UPDATE ${session.table('meta')} SET version = ${recordVersion} WHERE id = 1`)
  if ((await session.commit()) !== 'acknowledged')
    throw new StoreUnavailableError(
      'the database has not waited for its synchronous standby: start again with an empty schema',
    )
}

function pageOf(entries: Iterable<Entry>): Entry[] {
  const page: Entry[] = []
  let bytes = 0
  for (const entry of entries) {
    page.push(entry)
    bytes += entry.key.length + entry.value.length
    if (bytes >= pageBytes || page.length >= pageRowsMax) break
  }
  return page
}
