// The query log of one process: records requests, removes old segments (files of the log), and accepts export requests.

import { Bucket } from '../base/admission/rate-limit.ts'
import { microsPerDay, nearestMicros, secondsPerDay } from '../base/micros.ts'
import type { Random } from '../base/random.ts'
import type { RemovalTime } from '../base/removal-time.ts'
import { Loop, type Timers } from '../base/timers.ts'
import type { KeyValueStore } from '../storage/kv/kv-contract.ts'
import type { Micros } from '../values/value.ts'
import { AccountKeys } from './account-keys.ts'
import { type ExportRequest, hasExpiredUrl } from './export-request.ts'
import { ExportRunner } from './export-runner.ts'
import { type Downloads, type ExportStorage, fileName } from './export-storage.ts'
import type { ExportParameters, ExportStore, IdempotencyToken } from './export-store.ts'
import { type LogChanges, startBefore } from './log-changes.ts'
import { type RecordPage, type RecordSearch, searchRecords } from './log-search.ts'
import { LogSummaries, type LogSummary, type SummaryFilter, wholeMinutes } from './log-summary.ts'
import { bytesOfRecord, type RecordedAnswer, type RecordedCall, type RecordWriter } from './record-writer.ts'
import { gatherRecords, SegmentUploader } from './segment-exchange.ts'
import {
  listSegments,
  type Retention,
  removeOldSegments,
  type TimeSpan,
  writtenUpTo,
} from './segment-files.ts'
import { matchingRecords, type OnDamage, type RecordFilter } from './segment-reader.ts'
import type { SegmentWriter } from './segment-writer.ts'
import { chunkName, rethrowStoreError, type SharedLog } from './shared-log.ts'
import type { Signer } from './signing.ts'

const queryLogLimits = {
  /**
   * Divisor of the maximum size of the query log. The quotient is the number of bytes for records of requests with
   * rejected credentials. These records may use all bytes at once. The bytes become available again within one
   * retention period; own limit.
   */
  rejectedRequestsLogDivisor: 16,
} as const

interface QueryLogOptions {
  readonly folder: string
  readonly regionGroup: string
  readonly records: RecordWriter
  readonly writer: SegmentWriter
  /** Contains export requests and account keys; closed with the query log. */
  readonly kv: KeyValueStore
  /** The export requests, which are stored in `kv`. */
  readonly store: ExportStore
  readonly signer: Signer
  /** Files that this service serves. */
  readonly downloads: Downloads
  /** The storage to which exports are written: `downloads`, or a bucket. */
  readonly storage: ExportStorage
  /** The parts that several machines share. Undefined if the log belongs to this machine only. */
  readonly shared?: SharedLog
  /** Identifies this process among the processes that share the folder. */
  readonly owner: string
  readonly random: Random
  readonly now: () => Micros
  /** Determines which data has expired. */
  readonly removalTime: RemovalTime
  readonly timers: Timers
  readonly retention: Retention
  /** Number of processes that record into the folder. */
  readonly recorders: number
  /** Milliseconds of a monotonic clock. */
  readonly elapsedMs: () => number
  /** Days after which exports and their files are removed. */
  readonly exportDays: number
  readonly exportTimeoutMs: number
  readonly urlSeconds: number
  /** Called when an export, an upload or the removal of expired data fails. */
  readonly onFailure: (what: string, cause: unknown) => void
  readonly onDamage?: OnDamage
}

interface ExportPage {
  readonly requests: readonly ExportRequest[]
  readonly nextToken: string | undefined
}

const upkeepEveryMs = 60_000

export class QueryLog {
  readonly accountKeys: AccountKeys
  readonly regionGroup: string
  readonly #options: QueryLogOptions
  readonly #store: ExportStore
  readonly #runner: ExportRunner
  readonly #summaries: LogSummaries
  readonly #upkeep: Loop
  readonly #uploader: SegmentUploader | undefined
  /** Bytes that may be recorded for requests whose credential was rejected. */
  readonly #unauthenticated: Bucket

  constructor(options: QueryLogOptions) {
    const { kv, random, now, timers, shared, storage, store, owner, folder, onFailure } = options
    this.#options = options
    this.accountKeys = new AccountKeys(kv, random, now)
    this.regionGroup = options.regionGroup
    this.#store = store
    const { days, bytes } = options.retention
    const share = bytes / queryLogLimits.rejectedRequestsLogDivisor / options.recorders
    this.#unauthenticated = new Bucket(
      { max: share, perSecond: share / (days * secondsPerDay) },
      options.elapsedMs(),
    )
    this.#summaries = new LogSummaries(folder, random, now)
    this.#runner = new ExportRunner({
      store,
      storage,
      owner,
      now,
      passedTime: () => options.removalTime.now(),
      timers,
      timeoutMs: options.exportTimeoutMs,
      urlSeconds: options.urlSeconds,
      records: (filter, time, signal) => this.#records(filter, time, signal),
      onFailure: ({ id }, cause) => onFailure(`export ${id} failed`, cause),
    })
    const onUploadFailure = (cause: unknown) => onFailure('the query log could not be uploaded', cause)
    this.#uploader = shared?.uploads
      ? new SegmentUploader({ folder, shared, timers, onFailure: onUploadFailure })
      : undefined
    this.#upkeep = new Loop(timers, () => this.#removeOld())
  }

  /**
   * Records a finished request. `bytesOut`: the length of the response's body; 0 for a stream. Never waits, and never
   * throws because of the request's content.
   */
  record(call: RecordedCall, answer: RecordedAnswer, bytesOut: number): void {
    const { elapsedMs, records } = this.#options
    // Callers without a valid credential can send very many requests. These requests must not displace older records.
    if (answer.place === undefined && !this.#unauthenticated.take(bytesOfRecord(call), elapsedMs())) return
    records.write(call, answer, bytesOut)
  }

  /** Requests an export, or returns the export request that an earlier call with the same token created. */
  async requestExport(wanted: ExportParameters, token: IdempotencyToken | undefined): Promise<ExportRequest> {
    const request = await this.#store.create(wanted, token)
    this.#runner.wake()
    return request
  }

  /** Returns a summary of a time span. The summary includes every request that was finished before this call. */
  async summary(filter: SummaryFilter, signal: AbortSignal): Promise<LogSummary> {
    await this.#waitUntilWritten(wholeMinutes(filter), this.#options.now(), signal)
    return this.#summaries.summary(filter, signal)
  }

  /** Returns the changes in a time span compared with the preceding span of the same length. */
  async changes(filter: SummaryFilter, signal: AbortSignal): Promise<LogChanges> {
    const span = wholeMinutes(filter)
    await this.#waitUntilWritten({ ...span, from: startBefore(span) }, this.#options.now(), signal)
    return this.#summaries.changes(filter, signal)
  }

  async search(search: RecordSearch, signal: AbortSignal): Promise<RecordPage> {
    await this.#waitUntilWritten(search, this.#options.now(), signal)
    return searchRecords(this.#options.folder, search, signal)
  }

  /** Returns undefined for an empty log. */
  async oldestTime(): Promise<Micros | undefined> {
    const { folder, shared } = this.#options
    const [own] = await listSegments(folder)
    const uploaded = await shared?.chunks.oldest().catch(rethrowStoreError)
    if (own === undefined || uploaded === undefined) return own?.from ?? uploaded
    return own.from < uploaded ? own.from : uploaded
  }

  find(id: string): ExportRequest | undefined {
    return this.#store.get(id)
  }

  /** Returns the current state of an export request. If its URL has expired, starts the creation of a new URL. */
  async withFreshUrl(request: ExportRequest): Promise<ExportRequest> {
    if (!hasExpiredUrl(request, this.#options.now())) return request
    const renewed = await this.#store.renewUrl(request.id)
    this.#runner.wake()
    return renewed ?? request
  }

  /**
   * Returns export requests, the newest first. A page may have fewer than `size` requests when other clients have made
   * very many export requests. Returns undefined when `token` was not returned with an earlier page.
   */
  page(
    token: string | undefined,
    wanted: (request: ExportRequest) => boolean,
    size: number,
  ): ExportPage | undefined {
    const before = token === undefined ? undefined : this.#options.signer.open(token)
    if (token !== undefined && before === undefined) return undefined
    const { found: requests, next } = this.#store.newest(before, wanted, size)
    const nextToken = next === undefined ? undefined : this.#options.signer.seal(next)
    return { requests, nextToken }
  }

  /**
   * Returns the time in microseconds at which a download target expires; undefined if this service has not signed the
   * target.
   */
  expiryOf(name: string, target: string): Micros | undefined {
    const expires = this.#options.signer.expiryOf(name, target)
    return expires === undefined ? undefined : nearestMicros(expires * 1e6)
  }

  openFile(name: string): ReturnType<Downloads['open']> {
    return this.#options.downloads.open(name).catch(rethrowStoreError)
  }

  now(): Micros {
    return this.#options.now()
  }

  /** Writes buffered records, releases unfinished exports and closes everything. */
  async close(): Promise<void> {
    await Promise.all([this.#runner.close(), this.#upkeep.stop()])
    await this.#options.writer.close()
    await this.#uploader?.close()
    await this.#options.kv.close()
  }

  /**
   * Waits until this machine knows every account key and every export request that any machine has acknowledged. If
   * the store is unavailable, returns early, and this machine uses its current data.
   */
  async waitUntilCurrent(): Promise<void> {
    const { shared, signer } = this.#options
    await shared?.waitUntilCurrent().catch(() => undefined)
    await signer.ready().catch(() => undefined)
  }

  /** Yields the matching records, including all records that any process wrote up to `time`. */
  async *#records(filter: RecordFilter, time: Micros, signal: AbortSignal): AsyncGenerator<Buffer> {
    await this.#waitUntilWritten(filter, time, signal)
    yield* matchingRecords(this.#options.folder, filter, signal, this.#options.onDamage)
  }

  /** Waits until the segments in the folder contain all records of `span` that any machine wrote up to `time`. */
  async #waitUntilWritten(span: TimeSpan, time: Micros, signal: AbortSignal): Promise<void> {
    const { writer, folder, now, shared, timers } = this.#options
    await writer.flush()
    await writtenUpTo(folder, time, { now, timers, signal })
    if (shared) await gatherRecords({ folder, shared, timers }, span, time, signal).catch(rethrowStoreError)
  }

  async #removeOldChunks({ bucket, chunks }: SharedLog, now: Micros): Promise<void> {
    const { bytes, days } = this.#options.retention
    for (const chunk of await chunks.old(nearestMicros(now - days * microsPerDay), bytes)) {
      // The file is removed before the row. If the row were removed first, a failed removal of the file would not be
      // retried.
      await bucket?.remove(chunkName(chunk))
      await chunks.remove(chunk)
    }
  }

  /** Removes expired data. Resolves with the milliseconds until the next run. */
  async #removeOld(): Promise<number> {
    try {
      await this.#removeAllOld()
    } catch (cause) {
      this.#options.onFailure('upkeep of the query log failed', cause)
    }
    return upkeepEveryMs
  }

  async #removeAllOld(): Promise<void> {
    const { downloads, exportDays, folder, removalTime, retention, shared, storage } = this.#options
    await removalTime.saveTime()
    const now = removalTime.now()
    await removeOldSegments(folder, retention, now, this.#options.now())
    await this.#summaries.removeOrphans()
    if (shared !== undefined && !shared.mayWork()) return
    if (shared) await this.#removeOldChunks(shared, now)
    await downloads.files.removeLeftovers(now)
    await this.#store.forgetTokens(now)
    for (const id of this.#store.finishedBefore(nearestMicros(now - exportDays * microsPerDay))) {
      // The file is removed before the request. If the request were removed first, a failed removal of the file would
      // not be retried.
      await storage.remove(fileName(id))
      await this.#store.forget(id)
    }
  }
}
