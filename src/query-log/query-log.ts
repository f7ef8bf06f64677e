// The query log of one process, as the rest of the program sees it: it records what was answered, keeps the
// segments within their bounds, and takes requests for exports.

import { Allowance } from '../base/allowance.ts'
import { microsPerDay, secondsPerDay } from '../base/durations.ts'
import { Loop } from '../base/loop.ts'
import { nearestMicros } from '../base/micros.ts'
import type { Random } from '../base/random.ts'
import type { RemovalTime } from '../base/removal-time.ts'
import type { Timers } from '../base/timers.ts'
import type { KeyValueStore } from '../kv/contract.ts'
import { limits } from '../limits.ts'
import type { Micros } from '../values/value.ts'
import { AccountKeys } from './account-keys.ts'
import type { Downloads } from './downloads.ts'
import { type ExportRequest, hasExpiredUrl } from './export-request.ts'
import { ExportRunner } from './export-runner.ts'
import { type ExportStorage, fileName } from './export-storage.ts'
import type { ExportParameters, ExportStore, IdempotencyToken } from './export-store.ts'
import { gather } from './gather.ts'
import { HandOver } from './hand-over.ts'
import { type LogChanges, spanBefore } from './log-changes.ts'
import { type RecordPage, type RecordSearch, searchRecords } from './log-search.ts'
import { LogSummaries, type LogSummary, type SummaryFilter } from './log-summary.ts'
import { beforeRecord, trailOf } from './ownership.ts'
import type { ObservedRequest, RecordFormat } from './record.ts'
import { type Retention, removeOldSegments } from './retention.ts'
import { listSegments, type TimeSpan, writtenUpTo } from './segment-files.ts'
import { matchingRecords, type OnDamage, type RecordFilter } from './segment-reader.ts'
import type { SegmentWriter } from './segment-writer.ts'
import { chunkName, type SharedLog } from './shared-log.ts'
import type { Signer } from './signing.ts'
import { rethrow } from './unavailable.ts'

interface QueryLogOptions {
  readonly folder: string
  /** The region group of this instance. */
  readonly regionGroup: string
  readonly format: RecordFormat
  readonly writer: SegmentWriter
  /** Holds export requests and account keys; closed with the query log. */
  readonly kv: KeyValueStore
  /** The export requests in it. */
  readonly store: ExportStore
  readonly signer: Signer
  /** Files that this service hands out. */
  readonly downloads: Downloads
  /** Where exports go: `downloads`, or a bucket. */
  readonly storage: ExportStorage
  /** What several machines share; absent: the folder is all there is. */
  readonly shared?: SharedLog
  /** This process among those that share the folder. */
  readonly owner: string
  readonly random: Random
  readonly now: () => Micros
  /** Decides what is too old to be kept. */
  readonly removalTime: RemovalTime
  readonly timers: Timers
  readonly retention: Retention
  /** Processes that record into the folder. */
  readonly recorders: number
  /** Milliseconds of a steady clock. */
  readonly elapsedMs: () => number
  /** Days that exports and their files are kept. */
  readonly exportDays: number
  readonly exportTimeoutMs: number
  readonly urlSeconds: number
  /** Told of exports that failed and of upkeep that could not be done. */
  readonly onFailure: (what: string, cause: unknown) => void
  /** Told of segments with lines that exports leave out because they are no records. */
  readonly onDamage?: OnDamage
}

/** A part of the list of export requests. */
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
  readonly #handOver: HandOver | undefined
  /** Bytes that may be recorded of requests whose credential was refused. */
  readonly #strangers: Allowance

  constructor(options: QueryLogOptions) {
    const { kv, random, now, timers, shared, storage, store, owner, folder, onFailure } = options
    this.#options = options
    this.accountKeys = new AccountKeys(kv, random, now)
    this.regionGroup = options.regionGroup
    this.#store = store
    const { days, bytes } = options.retention
    const share = bytes / limits.strangersLogShare / options.recorders
    this.#strangers = new Allowance(
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
    const onHandOverFailure = (cause: unknown) => onFailure('the query log could not be handed over', cause)
    this.#handOver = shared?.handsOver
      ? new HandOver({ folder, shared, timers, onFailure: onHandOverFailure })
      : undefined
    this.#upkeep = new Loop(timers, () => this.#removeOld())
  }

  /** Adds a request that has just been answered to the log. Never waits, never throws for its content. */
  record(request: ObservedRequest): void {
    const { writer, format } = this.#options
    const { facts, record } = format.parts(request, writer.now())
    const { database } = request
    const line = beforeRecord(database && trailOf(database.ids), facts) + record
    // A caller can make very many of these, and what is old has to give way to them.
    if (database === undefined && !this.#strangers.take(line.length, this.#options.elapsedMs())) return
    writer.append(line)
  }

  /** Requests an export; the request that the same token made before, if any. */
  async requestExport(wanted: ExportParameters, token: IdempotencyToken | undefined): Promise<ExportRequest> {
    const request = await this.#store.create(wanted, token)
    this.#runner.wake()
    return request
  }

  /** Sums over a span of the log: all that was answered before is in them. */
  async summary(filter: SummaryFilter, signal: AbortSignal): Promise<LogSummary> {
    await this.#written(filter, this.#options.now(), signal)
    return this.#summaries.summary(filter, signal)
  }

  /** What is new in a span beside the one before it. */
  async changes(filter: SummaryFilter, signal: AbortSignal): Promise<LogChanges> {
    await this.#written({ ...filter, from: spanBefore(filter) }, this.#options.now(), signal)
    return this.#summaries.changes(filter, signal)
  }

  /** Single records, the newest first. */
  async search(search: RecordSearch, signal: AbortSignal): Promise<RecordPage> {
    await this.#written(search, this.#options.now(), signal)
    return searchRecords(this.#options.folder, search, signal)
  }

  /** The time since which records are kept; undefined for an empty log. */
  async keptSince(): Promise<Micros | undefined> {
    const { folder, shared } = this.#options
    const [own] = await listSegments(folder)
    const handedOver = await shared?.chunks.oldest().catch(rethrow)
    if (own === undefined || handedOver === undefined) return own?.from ?? handedOver
    return own.from < handedOver ? own.from : handedOver
  }

  /** A request as it is. */
  find(id: string): ExportRequest | undefined {
    return this.#store.get(id)
  }

  /** A request as its owner sees it: looking at one whose URL has expired asks for a new URL. */
  async look(request: ExportRequest): Promise<ExportRequest> {
    if (!hasExpiredUrl(request, this.#options.now())) return request
    const renewed = await this.#store.renewUrl(request.id)
    this.#runner.wake()
    return renewed ?? request
  }

  /**
   * Requests from the newest on, fewer than `size` when others have made very many; undefined when `token` is none that
   * a page before has given.
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

  /** Until when (microseconds) a download target counts; undefined unless it was signed here. */
  expiryOf(name: string, target: string): Micros | undefined {
    const expires = this.#options.signer.expiryOf(name, target)
    return expires === undefined ? undefined : nearestMicros(expires * 1e6)
  }

  /** Opens an exported file that is handed out here. */
  openFile(name: string): ReturnType<Downloads['open']> {
    return this.#options.downloads.open(name).catch(rethrow)
  }

  /** The time by which expiries are decided. */
  now(): Micros {
    return this.#options.now()
  }

  /** Writes what is still in memory, gives unfinished exports back and closes everything. */
  async close(): Promise<void> {
    await Promise.all([this.#runner.close(), this.#upkeep.stop()])
    await this.#options.writer.close()
    await this.#handOver?.close()
    await this.#options.kv.close()
  }

  /**
   * Waits until this machine knows of all account keys and requests that were acknowledged anywhere. While that cannot be
   * found out, what it knows has to do.
   */
  async fresh(): Promise<void> {
    const { kv, signer } = this.#options
    await kv.ready?.(Number.POSITIVE_INFINITY)?.catch(() => undefined)
    await signer.ready().catch(() => undefined)
  }

  /** The matching records, once all that was recorded up to `time` by any process is among them. */
  async *#records(filter: RecordFilter, time: Micros, signal: AbortSignal): AsyncGenerator<Buffer> {
    await this.#written(filter, time, signal)
    yield* matchingRecords(this.#options.folder, filter, signal, this.#options.onDamage)
  }

  /** Waits until the segments in the folder hold what was recorded of a span up to `time`, by any machine. */
  async #written(span: TimeSpan, time: Micros, signal: AbortSignal): Promise<void> {
    const { writer, folder, now, shared, timers } = this.#options
    await writer.flush()
    await writtenUpTo(folder, time, { now, timers, signal })
    if (shared) await gather({ folder, shared, timers }, span, time, signal).catch(rethrow)
  }

  async #removeOldChunks({ bucket, chunks }: SharedLog, now: Micros): Promise<void> {
    const { bytes, days } = this.#options.retention
    for (const chunk of await chunks.old(nearestMicros(now - days * microsPerDay), bytes)) {
      // The file first: once its row is gone, its removal would not be asked for again.
      await bucket?.remove(chunkName(chunk))
      await chunks.remove(chunk)
    }
  }

  /** Removes what is not kept any more; resolves with the milliseconds until it is to be done again. */
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
    await removalTime.keep()
    const now = removalTime.now()
    await removeOldSegments(folder, retention, now, this.#options.now())
    await this.#summaries.removeOrphans()
    if (shared !== undefined && !shared.mayWork()) return
    if (shared) await this.#removeOldChunks(shared, now)
    await downloads.files.removeLeftovers(now)
    await this.#store.forgetTokens(now)
    for (const id of this.#store.finishedBefore(nearestMicros(now - exportDays * microsPerDay))) {
      // The file first: once its request is forgotten, its removal would not be asked for again.
      await storage.remove(fileName(id))
      await this.#store.forget(id)
    }
  }
}
