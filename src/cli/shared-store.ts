// Checks a store that several machines share, copies it to a folder, and fills it from a folder.

import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pino } from 'pino'
import type { Config } from '../app/config/settings.ts'
import { prepareDataFolder } from '../app/data-folder.ts'
import { engineOver } from '../app/open-engine.ts'
import { openControlStore } from '../app/open-query-log.ts'
import { nodeName, openConfiguredStore, withStoreSession } from '../app/open-store.ts'
import { hostName, parseDatabaseAddress } from '../base/addresses.ts'
import { systemRandom } from '../base/random.ts'
import { queryLogFolder } from '../query-log/segment-files.ts'
import { allControlRows, controlRows } from '../query-log/shared-log.ts'
import type { TaskProgress } from '../server/operation/health.ts'
import { openServiceLog } from '../server/service-log.ts'
import { controlKey } from '../storage/keys/keyspace.ts'
import { printKey } from '../storage/keys/printer.ts'
import {
  type Entry,
  everyKey,
  type KeyRange,
  type KeyValueStore,
  type View,
} from '../storage/kv/kv-contract.ts'
import { waitUntilCurrent } from '../storage/kv/replicated-store.ts'
import { StoreUnavailableError } from '../storage/kv/store-errors.ts'
import { dataFileName } from '../storage/lmdb/data-file.ts'
import { openLmdb } from '../storage/lmdb/lmdb.ts'
import { openFollower } from '../storage/log/follower.ts'
import {
  type CopyProgress,
  compareCopy,
  copiedShare,
  copyRecord,
  type Difference,
  differencesMax,
} from '../storage/postgres/copy-state.ts'
import { fillRecord } from '../storage/postgres/fill-record.ts'
import { ReplicaView, removeNote } from '../storage/postgres/replica.ts'
import { openForComparison } from '../storage/postgres/replica-folder.ts'
import { lastCommit } from '../storage/store/last-commit.ts'
import type { OnCheckProgress } from '../storage/store/store-contract.ts'
import { exitDiverged } from './fatal.ts'
import { type OnProgress, withProgress } from './progress.ts'

export type SharedConfig = Config & { readonly store: string }

export function isShared(config: Config): config is SharedConfig {
  return config.store !== undefined
}

/** Returns the address without the password. */
export function addressOf({ store, storeSchema }: SharedConfig): string {
  const { database, hosts, user } = parseDatabaseAddress(store)
  return `${hosts.map(hostName).join(',')}/${database ?? user ?? ''} schema ${storeSchema}`
}

interface SharedCheck {
  /**
   * Contradictions in the record (the state in PostgreSQL), and differences between the record and this node's replica.
   */
  readonly contradictions: readonly string[]
  /** Number of the batch of transactions after which record and replica were compared; undefined without a replica. */
  readonly comparedAt: number | undefined
}

/**
 * Checks the record, and compares it with this node's replica in the data directory. A node may serve the replica at
 * the same time.
 */
export async function checkShared(
  config: SharedConfig,
  report: (progress: TaskProgress) => void = () => undefined,
): Promise<SharedCheck> {
  prepareDataFolder(config.data)
  const folder = await mkdtemp(join(config.data, 'check-'))
  try {
    const record = openLmdb({ path: folder, durable: false })
    try {
      await copyWithProgress('copy of the record', config, record, (step, share) => report({ step, share }))
      const differences = await compareReplica(config, record)
      const kv = readOnly(read => record.read(view => read(new ReplicaView(view))))
      const { store } = engineOver({ kv, config, log: pino({ level: 'silent' }) })
      return {
        contradictions: [...store.check(checkReporter(report)), ...(differences?.texts ?? [])],
        comparedAt: differences?.seq,
      }
    } finally {
      await record.close()
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

export function checkReporter(report: (progress: TaskProgress) => void): OnCheckProgress {
  return (step, rows) => report({ step: `${step}: ${rows} checked` })
}

async function compareReplica(
  config: SharedConfig,
  record: KeyValueStore,
): Promise<{ readonly seq: number; readonly texts: readonly string[] } | undefined> {
  return withStoreSession(config, async session => {
    const replica = await openForComparison(session, config.data)
    if (replica === undefined) return undefined
    try {
      const { seq, differences } = await compareCopy(session, record, replica)
      const texts = differences.map(differenceText)
      if (differences.length === differencesMax) texts.push('and more')
      return { seq, texts }
    } finally {
      await replica.close()
    }
  })
}

function differenceText(difference: Difference): string {
  const where = { copy: 'only in the replica', record: 'only in the record', both: 'differs' }
  return `${textOf(difference.key)}: ${where[difference.in]}`
}

/** Returns the bytes in hexadecimal for an invalid key. */
function textOf(key: Uint8Array): string {
  try {
    return printKey(key)
  } catch {
    return `key ${Buffer.from(key).toString('hex')}`
  }
}

/**
 * Runs `use` on the control rows, such as account keys: data of the service, not of a database. The data directory must
 * contain a replica of the store. A node may serve this replica at the same time.
 */
export async function withControlRows<T>(
  config: SharedConfig,
  use: (rows: KeyValueStore) => Promise<T>,
): Promise<T> {
  // Opened only to check that there is a usable replica.
  const replica = await withStoreSession(config, session => openForComparison(session, config.data))
  if (replica === undefined)
    throw new StoreUnavailableError(
      `there is no replica of the store in ${config.data}: name the data directory of a node that runs`,
    )
  await replica.close()
  const { kv } = await openConfiguredStore(config, openServiceLog(config.logLevel), {
    background: false,
    worker: 0,
    onFatal: exitDiverged,
  })
  try {
    await waitUntilCurrent(kv)
    return await use(controlRows(kv))
  } finally {
    await kv.close()
  }
}

/** Puts the control rows after the rows of a data directory, because their keys are greater than all other keys. */
function addControlRows(source: KeyValueStore, control: KeyValueStore | undefined): KeyValueStore {
  if (control === undefined) return source
  return readOnly(read =>
    source.read(data =>
      control.read(rows =>
        read({ get: key => data.get(key), range: range => withControlEntries(data, rows, range) }),
      ),
    ),
  )
}

function* withControlEntries(data: View, rows: View, range: KeyRange): Generator<Entry> {
  yield* data.range(range)
  for (const { key, value } of rows.range(everyKey)) {
    const own = controlKey(key)
    if (Buffer.compare(own, range.start) >= 0 && Buffer.compare(own, range.end) < 0) yield { key: own, value }
  }
}

/** Moves the control rows of a copied store to the query log of `folder`, where a data directory has them. */
async function moveControlRows(local: KeyValueStore, folder: string): Promise<void> {
  const rows = local.read(allControlRows)
  if (rows.length === 0) return
  const control = openControlStore(folder)
  await control.transact(() => ({ result: undefined, writes: rows }))
  await control.close()
  await local.transact(() => ({
    result: undefined,
    writes: rows.map(({ key }) => ({ key: controlKey(key), value: undefined })),
  }))
}

/**
 * Copies the current record to a data directory, which must be empty or contain an incomplete copy. Resolves when the
 * copy is on disk.
 */
export async function copyShared(config: SharedConfig, folder: string, onShare?: OnProgress): Promise<void> {
  const local = openLmdb({ path: folder })
  try {
    await copyWithProgress('copy', config, local, onShare)
    await removeNote(local)
    await moveControlRows(local, folder)
  } finally {
    await local.close()
  }
  await rm(join(folder, 'lock.mdb'), { force: true })
}

async function copyWithProgress(
  name: string,
  config: SharedConfig,
  local: KeyValueStore,
  onShare?: OnProgress,
): Promise<void> {
  let progress: CopyProgress = { keys: 0, keysTotal: undefined }
  const location = { url: config.store, schema: config.storeSchema }
  const share = () => copiedShare(progress) ?? 0
  const copy = () =>
    copyRecord(location, local, `copy-${nodeName}`, made => {
      progress = made
    })
  await withProgress(name, share, copy, onShare)
}

interface FillResult {
  /** Keys that this run moved, without those of an interrupted earlier run. */
  readonly keys: number
  readonly bytes: number
  /** Microseconds of the newest transaction. */
  readonly time: number
}

/**
 * Moves the data of `folder` into the record. No service may serve the folder. The record must be empty, or contain an
 * interrupted move of the same folder.
 */
export async function fillShared(
  config: SharedConfig,
  folder: string,
  bytesTotal: number,
): Promise<FillResult> {
  const source = openFollower({ path: folder })
  const control = existsSync(join(folder, queryLogFolder, 'requests')) ? openControlStore(folder) : undefined
  let done = { keys: 0, bytes: 0 }
  try {
    const newestTime = source.read(view => lastCommit(view).time)
    const fill = () =>
      fillRecord({
        location: { url: config.store, schema: config.storeSchema },
        source: addControlRows(source, control),
        newestTime,
        node: nodeName,
        random: systemRandom,
        onProgress: progress => {
          done = progress
        },
      })
    await withProgress('migrate', () => done.bytes / bytesTotal, fill)
    return { ...done, time: newestTime }
  } finally {
    await control?.close()
    await source.close()
  }
}

/** Returns false for a folder with only a replica. */
export function hasOwnData(folder: string): boolean {
  return existsSync(join(folder, dataFileName))
}

/** Makes a store from its function `read`. To close this store has no effect. */
function readOnly(read: KeyValueStore['read']): KeyValueStore {
  return {
    read,
    transact: () => Promise.reject(new Error('a store that is copied or compared is read-only')),
    watch: () => () => undefined,
    close: () => Promise.resolve(),
  }
}
