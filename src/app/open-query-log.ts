// Opens the query log of a data directory and connects its parts:
//
//     query-log/records/    recorded requests
//     query-log/exports/    files for download (unless the files are stored in a bucket)
//     query-log/requests/   export requests and account keys
//
// When several machines share a store, the exports and the requests are in the store.

import { join } from 'node:path'
import type { Logger } from 'pino'
import { megabyte } from '../base/bytes.ts'
import { type Clock, systemClock } from '../base/clock.ts'
import { makeFolder } from '../base/folders.ts'
import { epoch } from '../base/micros.ts'
import { systemRandom } from '../base/random.ts'
import { leapWarning, RemovalTime } from '../base/removal-time.ts'
import { systemTimers } from '../base/timers.ts'
import { Downloads, type ExportStorage, LocalFiles } from '../query-log/export-storage.ts'
import { ExportStore } from '../query-log/export-store.ts'
import { QueryLog } from '../query-log/query-log.ts'
import { makeRecordFolder, recordFolder } from '../query-log/record-folder.ts'
import { RecordWriter } from '../query-log/record-writer.ts'
import { type ChunkBucket, openS3Storage } from '../query-log/s3-storage.ts'
import { queryLogFolder } from '../query-log/segment-files.ts'
import { SegmentWriter } from '../query-log/segment-writer.ts'
import { isUnavailable, rethrowStoreError, type SharedLog } from '../query-log/shared-log.ts'
import { Signer } from '../query-log/signing.ts'
import type { KeyValueStore } from '../storage/kv/kv-contract.ts'
import { isFullDisk } from '../storage/kv/store-errors.ts'
import { openLmdb } from '../storage/lmdb/lmdb.ts'
import type { Config } from './config/settings.ts'
import { languages } from './languages.ts'

const hourMs = 3_600_000
/** A segment is removed as a whole, so small segments free space in small steps. */
const segmentBytesMax = 64 * megabyte
/** Minimum number of segments in a log of the maximum size. */
const segmentsMin = 8

/**
 * `onLoss` is called with the number of records that could not be written. `shared`: the part of the query log that is
 * in a shared store. Throws when the folder cannot be used. On a full disk, recording begins as soon as the disk has
 * space.
 */
export async function openQueryLog(
  config: Config,
  log: Logger,
  onLoss: (records: number) => void,
  shared?: SharedLog,
): Promise<QueryLog> {
  const clock = shared ? { ...systemClock, now: shared.now } : systemClock
  const folder = join(config.data, queryLogFolder)
  const segments = join(folder, recordFolder)
  const exports = join(folder, 'exports')
  unlessFull(() => {
    makeRecordFolder(folder)
    makeFolder(exports, 0o700)
  })
  const kv = shared?.kv ?? openWhenSpace(() => openControlStore(config.data))
  const owner = systemRandom.hex(8)
  try {
    const store = new ExportStore(kv, systemRandom, clock.now)
    const signer = new Signer(() => store.signingKey())
    // Continues on a full disk, which may have space later. If a shared store cannot commit, the start fails with the
    // reason.
    await signer.ready().catch(shared === undefined ? tolerateUnavailable : rethrowStoreError)
    const downloads = new Downloads(shared?.files ?? new LocalFiles(exports, systemRandom), signer)
    const bucket = await openBucket(config, clock)
    const retention = { days: config.queryLogDays, bytes: config.queryLogMegabytes * megabyte }
    const writer = new SegmentWriter({
      folder: segments,
      regionGroup: config.regionGroup,
      writer: owner,
      clock,
      timers: systemTimers,
      segmentBytes: Math.min(segmentBytesMax, retention.bytes / segmentsMin),
      segmentMs: hourMs,
      onFull: cause =>
        log.warn(
          { err: cause },
          'the disk of the query log is full: no requests are recorded until it has room',
        ),
      onLoss: (records, cause) => {
        log.warn({ records, err: cause }, 'lost records of the query log')
        onLoss(records)
      },
    })
    // Registers in the shared store before anything is recorded, so that an export of the records of all machines also
    // waits for this machine. After a failed report, the next upload reports again.
    await shared?.chunks.report(epoch).catch(tolerateUnavailable)
    return new QueryLog({
      folder: segments,
      regionGroup: config.regionGroup,
      records: new RecordWriter(writer, languages),
      writer,
      kv,
      store,
      signer,
      downloads,
      storage: bucket ?? downloads,
      ...(shared && { shared: { ...shared, bucket: bucket?.chunks } }),
      owner,
      random: systemRandom,
      now: clock.now,
      removalTime: new RemovalTime({
        clock,
        load: () => store.timeMemory(),
        save: memory => store.rememberTime(memory),
        onLeap: ahead => log.warn(leapWarning('query logs and exports', ahead)),
      }),
      timers: systemTimers,
      retention,
      recorders: config.workers,
      elapsedMs: clock.elapsedMs,
      exportDays: config.queryLogExportDays,
      exportTimeoutMs: config.queryLogExportTimeoutMs,
      urlSeconds: config.queryLogUrlSeconds,
      onFailure: (what, cause) => log.error({ err: cause }, what),
      onDamage: (file, records) =>
        log.error({ file, records }, 'an export skipped damaged records of the query log'),
    })
  } catch (cause) {
    await kv.close()
    throw cause
  }
}

/** Opens the store of export requests and account keys. A service may have it open at the same time. */
export function openControlStore(data: string): KeyValueStore {
  return openLmdb({ path: join(data, queryLogFolder, 'requests') })
}

/** Opens a store as soon as the disk has space; until then, operations fail with `service unavailable`. */
function openWhenSpace(open: () => KeyValueStore): KeyValueStore {
  let opened = unlessFull(open)
  const kv = () => {
    try {
      opened ??= open()
      return opened
    } catch (cause) {
      return rethrowStoreError(cause)
    }
  }
  return {
    read: read => kv().read(read),
    transact: async work => kv().transact(work),
    watch: listener => kv().watch(listener),
    close: async () => opened?.close(),
  }
}

/** Returns undefined when the disk is full. */
function unlessFull<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch (cause) {
    if (isFullDisk(cause)) return undefined
    throw cause
  }
}

function tolerateUnavailable(cause: unknown): void {
  if (!isUnavailable(cause)) throw cause
}

async function openBucket(config: Config, clock: Clock): Promise<(ExportStorage & ChunkBucket) | undefined> {
  const { queryLogS3Endpoint: endpoint, queryLogS3Bucket: bucket, queryLogS3Region: region } = config
  const { queryLogS3AccessKey: accessKey, queryLogS3SecretKey: secretKey } = config
  if (!endpoint || !bucket || !accessKey || !secretKey) return undefined
  return openS3Storage({ endpoint, bucket, region, accessKey, secretKey, now: clock.now })
}
