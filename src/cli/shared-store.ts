// What the commands do with a store that several machines share: check it, copy it into a folder, fill it from one.

import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pino } from 'pino'
import type { Config } from '../app/config/settings.ts'
import { prepareDataFolder } from '../app/data-folder.ts'
import { engineOver } from '../app/open-engine.ts'
import { openControlStore } from '../app/open-query-log.ts'
import { nodeName, openConfiguredStore, withRecord } from '../app/open-store.ts'
import { hostName, parseDatabaseAddress } from '../base/database-address.ts'
import { systemRandom } from '../base/random.ts'
import { allControlRows, controlRows } from '../query-log/control-store.ts'
import { queryLogFolder } from '../query-log/log-folder.ts'
import type { TaskProgress } from '../server/operation/health.ts'
import { openServiceLog } from '../server/service-log.ts'
import { controlKey } from '../storage/keys/keyspace.ts'
import { printKey } from '../storage/keys/printer.ts'
import { type Entry, everyKey, type KeyRange, type KeyValueStore, type View } from '../storage/kv/contract.ts'
import { StoreUnavailableError } from '../storage/kv/errors.ts'
import { openLmdb } from '../storage/kv/lmdb.ts'
import {
  compareCopy,
  copyRecord,
  type Difference,
  differencesMax,
} from '../storage/kv/postgres/copy-record.ts'
import { type CopyProgress, copiedShare } from '../storage/kv/postgres/copy-state.ts'
import { fillRecord } from '../storage/kv/postgres/fill-record.ts'
import { ReplicaView, removeNote } from '../storage/kv/postgres/replica.ts'
import { openComparable } from '../storage/kv/postgres/replica-folder.ts'
import type { OnCheckProgress } from '../storage/store/contract.ts'
import { lastCommit } from '../storage/store/last-commit.ts'
import { exitDiverged } from './fatal.ts'
import { type OnShare, withProgress } from './progress.ts'

/** Settings that name a shared store. */
export type SharedConfig = Config & { readonly store: string }

/** True when the settings name a store that several machines share. */
export function isShared(config: Config): config is SharedConfig {
  return config.store !== undefined
}

/** The address of the store without its password. */
export function addressOf({ store, storeSchema }: SharedConfig): string {
  const { database, hosts, user } = parseDatabaseAddress(store)
  return `${hosts.map(hostName).join(',')}/${database ?? user ?? ''} schema ${storeSchema}`
}

/** What a check found out. */
interface SharedCheck {
  /** Contradictions in the record, and differences between it and this node's copy. */
  readonly contradictions: readonly string[]
  /** The batch as of which record and copy were compared; undefined when there is no copy to compare. */
  readonly comparedAt: number | undefined
}

/**
 * Checks the record, and that this node's copy in the data directory, which may be served meanwhile, is the same. How far
 * that is goes to `tell`.
 */
export async function checkShared(
  config: SharedConfig,
  tell: (progress: TaskProgress) => void = () => undefined,
): Promise<SharedCheck> {
  prepareDataFolder(config.data)
  const folder = await mkdtemp(join(config.data, 'check-'))
  try {
    const record = openLmdb({ path: folder, durable: false })
    try {
      await copyWithProgress('copy of the record', config, record, (step, share) => tell({ step, share }))
      const differences = await compared(config, record)
      const kv = readOnly(read => record.read(view => read(new ReplicaView(view))))
      const { store } = engineOver({ kv, config, log: pino({ level: 'silent' }) })
      return {
        contradictions: [...store.check(checkTeller(tell)), ...(differences?.texts ?? [])],
        comparedAt: differences?.seq,
      }
    } finally {
      await record.close()
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Tells how far a check is, in words. */
export function checkTeller(tell: (progress: TaskProgress) => void): OnCheckProgress {
  return (step, rows) => tell({ step: `${step}: ${rows} looked at` })
}

async function compared(
  config: SharedConfig,
  record: KeyValueStore,
): Promise<{ readonly seq: number; readonly texts: readonly string[] } | undefined> {
  return withRecord(config, async session => {
    const copy = await openComparable(session, config.data)
    if (copy === undefined) return undefined
    try {
      const { seq, differences } = await compareCopy(session, record, copy)
      const texts = differences.map(differenceText)
      if (differences.length === differencesMax) texts.push('and more')
      return { seq, texts }
    } finally {
      await copy.close()
    }
  })
}

function differenceText(difference: Difference): string {
  const where = { copy: 'only in the copy', record: 'only in the record', both: 'not the same in both' }
  return `${textOf(difference.key)}: ${where[difference.in]}`
}

/** Comparing has to show whatever is there, also what is no key of ours. */
function textOf(key: Uint8Array): string {
  try {
    return printKey(key)
  } catch {
    return `key ${Buffer.from(key).toString('hex')}`
  }
}

/**
 * Runs `use` on what belongs to the service and no database: account keys and the like. Needs a copy of the store in
 * the data directory, which a node may be serving.
 */
export async function withControlRows<T>(
  config: SharedConfig,
  use: (rows: KeyValueStore) => Promise<T>,
): Promise<T> {
  const copy = await withRecord(config, session => openComparable(session, config.data))
  if (copy === undefined)
    throw new StoreUnavailableError(
      `there is no copy of the store in ${config.data}: name the data directory of a node that runs`,
    )
  await copy.close()
  const { kv } = await openConfiguredStore(config, openServiceLog(config.logLevel), {
    background: false,
    worker: 0,
    onFatal: exitDiverged,
  })
  try {
    const rows = controlRows(kv)
    await rows.ready?.(Number.POSITIVE_INFINITY)
    return await use(rows)
  } finally {
    await kv.close()
  }
}

/** A data directory as one store, with what it keeps of the service itself as control rows, which are behind all others. */
function withOwnRequests(source: KeyValueStore, requests: KeyValueStore | undefined): KeyValueStore {
  if (requests === undefined) return source
  return readOnly(read =>
    source.read(data =>
      requests.read(rows =>
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

/** Moves the control rows of a copied store to where a data directory keeps them. */
async function separateRequests(local: KeyValueStore, folder: string): Promise<void> {
  const rows = local.read(allControlRows)
  if (rows.length === 0) return
  const requests = openControlStore(folder)
  await requests.transact(() => ({ result: undefined, writes: rows }))
  await requests.close()
  await local.transact(() => ({
    result: undefined,
    writes: rows.map(({ key }) => ({ key: controlKey(key), value: undefined })),
  }))
}

/**
 * Copies the record, as of now, to the folder `folder`, which is empty or holds a part of such a copy, as a data
 * directory; resolves when it is on disk.
 */
export async function copyShared(config: SharedConfig, folder: string, onShare?: OnShare): Promise<void> {
  const local = openLmdb({ path: folder })
  try {
    await copyWithProgress('copy', config, local, onShare)
    await removeNote(local)
    await separateRequests(local, folder)
  } finally {
    await local.close()
  }
  await rm(join(folder, 'lock.mdb'), { force: true })
}

async function copyWithProgress(
  name: string,
  config: SharedConfig,
  local: KeyValueStore,
  onShare?: OnShare,
): Promise<void> {
  let progress: CopyProgress = { keys: 0, bytes: 0, keysTotal: undefined }
  const location = { url: config.store, schema: config.storeSchema }
  const share = () => copiedShare(progress) ?? 0
  const copy = () =>
    copyRecord(location, local, `copy-${nodeName}`, made => {
      progress = made
    })
  await withProgress(name, share, copy, onShare)
}

/** What {@link fillShared} has moved. */
interface Filled {
  /** In this run; what an earlier one moved is not moved again. */
  readonly keys: number
  readonly bytes: number
  /** The time of the newest transaction, in microseconds. */
  readonly time: number
}

/** Moves what the folder `folder` holds, which is not served, into the record, which is empty. */
export async function fillShared(config: SharedConfig, folder: string, bytesTotal: number): Promise<Filled> {
  const source = openLmdb({ path: folder })
  const requests = existsSync(join(folder, queryLogFolder, 'requests')) ? openControlStore(folder) : undefined
  let done = { keys: 0, bytes: 0 }
  try {
    const newestTime = source.read(view => lastCommit(view).time)
    const fill = () =>
      fillRecord({
        location: { url: config.store, schema: config.storeSchema },
        source: withOwnRequests(source, requests),
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
    await requests?.close()
    await source.close()
  }
}

/** True when a folder holds data of its own: not only a node's copy. */
export function holdsData(folder: string): boolean {
  return existsSync(join(folder, 'data.mdb'))
}

/** A store that can only be read. What it reads stays open when it is closed. */
function readOnly(read: KeyValueStore['read']): KeyValueStore {
  return {
    read,
    transact: () => Promise.reject(new Error('what is copied or compared is not written to')),
    watch: () => () => undefined,
    close: () => Promise.resolve(),
  }
}
