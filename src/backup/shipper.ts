// Writes the commit log to a backup target (a folder or a bucket) continuously, in pieces: the records of at most one
// second each. Also writes base copies (copies of the whole data file), with which a restore replays only later
// records, and removes old objects.
//
// While the target is unavailable, pending records accumulate up to a limit; beyond it they are dropped. When the
// target works again, a new generation (a sequence of records without a gap) begins with a base copy. A single loop
// writes the pieces in the order of the log, so a generation has no gap.

import type { Logger } from 'pino'
import { megabyte } from '../base/bytes.ts'
import type { Clock } from '../base/clock.ts'
import { type Micros, micros } from '../base/micros.ts'
import { type Timers, wait } from '../base/timers.ts'
import type { Bytes } from '../storage/kv/kv-contract.ts'
import { causeText } from '../storage/kv/store-errors.ts'
import type { ChainPlace } from '../storage/log/segment.ts'
import type { BackupStatus } from './backup-status.ts'
import { oldestNeeded, removeBefore, writeBase } from './base-copy.ts'
import { checkNewest, claimTarget, listBases, listPieces } from './catalogue.ts'
import { Lease, type LeaseReach, renewEveryMs, TargetInUseError } from './lease.ts'
import { type BaseName, belongsToLog, generationName, pieceObject } from './object-names.ts'
import { type Piece, PieceQueue } from './piece-queue.ts'
import { type BackupTarget, IncompleteBackupError } from './target.ts'

interface ShipperOptions {
  readonly target: BackupTarget
  /** The data directory of the service. */
  readonly data: string
  /** The name of the commit log. */
  readonly log: Bytes
  /** Last record before the first call of {@link Shipper.add}. */
  readonly place: ChainPlace
  readonly retentionDays: number
  /** The default is {@link waitingBytesMax}. */
  readonly waitingBytesMax?: number
  /** The default is {@link baseEveryMicros}. */
  readonly baseEveryMicros?: number
  /** The default is {@link maintainEveryMs}. */
  readonly maintainEveryMs?: number
  readonly clock: Clock
  readonly timers: Timers
  readonly logger: Logger
  readonly onStatus: (status: BackupStatus) => void
  /** The target contains all records up to the record with the number `sequence`. */
  readonly onWritten?: (sequence: number) => void
}

/** Maximum number of pending bytes; pieces count with their compressed size. */
const waitingBytesMax = 64 * megabyte
/**
 * Microseconds between two base copies: fifty minutes. Writing a copy may take ten more, so a restore replays at most
 * an hour of the log.
 */
const baseEveryMicros = 50 * 60 * 1_000_000
/** `first`: milliseconds before a failed step is retried. The pause doubles with each further failure, up to `most`. */
const retryMs = { first: 1_000, most: 30_000 } as const
/** Milliseconds before the next attempt while another service writes to the target. */
const retryInUseMs = 60_000
/** Milliseconds before a failed base copy is retried. */
const retryBaseMs = 60_000
/** Milliseconds between two maintenance runs, which replace missing objects and remove old objects. */
const maintainEveryMs = 3_600_000
/** Maximum number of watermarks that wait for their records. The oldest is dropped first. */
const watermarksMax = 1_000

/** The records up to the record with the number `sequence` contain all commits up to `time`. */
interface Watermark {
  readonly sequence: number
  readonly time: Micros
}

/** Consecutive records without a gap, in the target or still pending. */
interface Generation {
  readonly name: string
  readonly start: Micros
  base: BaseName | undefined
  /** Time of the newest commit that the target contains. */
  time: Micros
  /** Newest record that the target contains, if any. */
  place: ChainPlace | undefined
}

export class Shipper {
  readonly #options: ShipperOptions
  readonly #queue: PieceQueue
  readonly #lease: Lease
  #isLeased = false
  /**
   * The time when this process started. The first generation does not start earlier, because the service may have had
   * other data before, for example before a restore. Undefined once the first generation has begun, or another service
   * has written to the target: later generations start at the present time.
   */
  #servedSince: Micros | undefined
  #generation: Generation | undefined
  /** The complete base copies in the target, the oldest first. */
  #bases: readonly BaseName[] = []
  /** Aborts the base copy that is being written. */
  #copy: AbortController | undefined
  #copyNotBeforeMs = 0
  /** The time `until` of the last renewal of the lease. */
  #renewedUntil: Micros = micros(0)
  #renewedMs = Number.NEGATIVE_INFINITY
  #maintainedMs = Number.NEGATIVE_INFINITY
  readonly #stopping = Promise.withResolvers<void>()
  #isStopping = false
  /** The newest watermark whose records the target contains, and all later ones, the oldest first. */
  #watermarks: Watermark[] = []
  #wake: () => void = () => undefined
  #reason: string | undefined
  #state: BackupStatus['state'] = 'starting'
  #lastSuccessMs: number | null = null
  #droppedBytes = 0
  #uploadedBytes = 0

  constructor(options: ShipperOptions) {
    const { clock, place, target, timers } = options
    this.#options = options
    this.#servedSince = clock.now()
    this.#lease = new Lease(target, timers)
    const { elapsedMs } = clock
    this.#queue = new PieceQueue({ place, timers, elapsedMs, onPiece: () => this.#wake() })
  }

  /** Adds the records after `before`, up to and including `place`. */
  add(records: Buffer, before: ChainPlace, place: ChainPlace): void {
    const waiting = this.#queue.bytes
    if (!this.#queue.add(records, before, place))
      this.#breakOff(waiting, 'the service did not send all records')
    const { waitingBytesMax: max = waitingBytesMax } = this.#options
    if (this.#queue.bytes > max) this.#breakOff(this.#queue.clear(), 'too many bytes are pending')
  }

  /** The records up to the record at `place` contain all commits up to `time`. */
  addWatermark({ sequence }: ChainPlace, time: Micros): void {
    if (this.#watermarks.at(-1)?.sequence === sequence) this.#watermarks.pop()
    this.#watermarks.push({ sequence, time })
    if (this.#watermarks.length > watermarksMax) this.#watermarks.shift()
  }

  async run(): Promise<void> {
    this.#report()
    let delayMs: number = retryMs.first
    while (!this.#isStopping) {
      try {
        await this.#step()
        delayMs = retryMs.first
      } catch (error) {
        this.#fail(error)
        const waitMs = error instanceof TargetInUseError ? retryInUseMs : delayMs
        await Promise.race([wait(waitMs, this.#options.timers), this.#stopping.promise])
        delayMs = Math.min(delayMs * 2, retryMs.most)
      }
    }
  }

  /**
   * Writes the pending records, releases the lease and ends {@link run}. Drops what is still pending after `graceMs`
   * milliseconds.
   */
  async stop(graceMs: number): Promise<void> {
    const finish = async () => {
      await this.#queue.seal()
      while (this.#generation !== undefined && this.#queue.next !== undefined) {
        this.#wake()
        await wait(20, this.#options.timers)
      }
      this.#endRun()
      if (this.#isLeased) await this.#lease.release(this.#leaseReach())
      this.#state = 'stopped'
    }
    await Promise.race([finish().catch(error => this.#fail(error)), wait(graceMs, this.#options.timers)])
    this.#endRun()
    this.#copy?.abort()
    this.#report()
  }

  #endRun(): void {
    this.#isStopping = true
    this.#stopping.resolve()
    this.#wake()
  }

  async #step(): Promise<void> {
    const { clock, log, target } = this.#options
    const nowMs = clock.elapsedMs()
    if (!this.#isLeased) {
      await claimTarget(target, log)
      await this.#lease.acquire()
      this.#isLeased = true
      this.#renewedMs = clock.elapsedMs()
    } else if (nowMs - this.#renewedMs >= renewEveryMs) {
      const reach = this.#leaseReach()
      await this.#lease.renew(reach)
      this.#renewedMs = nowMs
      this.#renewedUntil = reach.until
      this.#succeed()
    }
    this.#generation ??= await this.#connect()
    const piece = this.#queue.next
    if (piece) await this.#write(piece, this.#generation)
    // The generation has ended if records were dropped during the write.
    if (this.#generation) this.#copyWhenDue(this.#generation)
    await this.#maintainWhenDue()
    if (this.#queue.next === undefined)
      await this.#sleep(renewEveryMs - (clock.elapsedMs() - this.#renewedMs))
  }

  /**
   * Continues the newest generation in the target if the pending records follow its last record. Otherwise begins a new
   * generation.
   */
  async #connect(): Promise<Generation> {
    const { clock, log, logger, target } = this.#options
    this.#bases = await listBases(target)
    const base = this.#bases.at(-1)
    await this.#queue.seal()
    if (base !== undefined && belongsToLog(base.generation, log)) {
      let [end, time]: [ChainPlace, Micros] = [base.place, base.time]
      for await (const piece of listPieces(target, base.generation, base.time))
        if (piece.place.sequence > end.sequence) [end, time] = [piece.place, piece.time]
      if (this.#queue.continueAt(end)) {
        this.#options.onWritten?.(end.sequence)
        return { name: base.generation, start: base.from, base, time, place: end }
      }
      logger.warn(
        { target: target.name },
        'the backup has a gap before this start, and continues with a new base copy',
      )
    }
    // Starts after the newest base copy in the target, so that the base copies of the new generation sort after it.
    const start = Math.max(this.#servedSince ?? clock.now(), micros((base?.from ?? -1) + 1))
    this.#servedSince = undefined
    return { name: generationName(start, log), start, base: undefined, time: micros(0), place: undefined }
  }

  async #write(piece: Piece, generation: Generation): Promise<void> {
    const { before, first, object, place, times } = piece
    const time = times?.time ?? generation.time
    const name = { generation: generation.name, before, first, place, time, since: times?.since ?? time }
    await this.#options.target.put(pieceObject(name), object)
    // The queue may have dropped the piece during the write.
    if (this.#queue.next === piece) this.#queue.shift()
    generation.time = time
    generation.place = place
    this.#options.onWritten?.(place.sequence)
    this.#uploadedBytes += object.length
    this.#succeed()
  }

  #copyWhenDue(generation: Generation): void {
    const { baseEveryMicros: every = baseEveryMicros, clock } = this.#options
    if (this.#copy !== undefined || clock.elapsedMs() < this.#copyNotBeforeMs) return
    if (generation.base !== undefined && generation.time - generation.base.from < every) return
    const controller = new AbortController()
    this.#copy = controller
    void this.#copyBase(generation, controller.signal)
      .catch(error => {
        this.#copyNotBeforeMs = clock.elapsedMs() + retryBaseMs
        this.#fail(error)
      })
      .finally(() => {
        this.#copy = undefined
        this.#wake()
      })
  }

  async #copyBase(generation: Generation, signal: AbortSignal): Promise<void> {
    const { data, log, logger, target, timers } = this.#options
    const onWritten = (bytes: number) => {
      this.#uploadedBytes += bytes
      this.#report()
    }
    const base = await writeBase({
      ...{ data, log, target, timers, onWritten, signal },
      durable: () => this.#queue.place.sequence,
      onFailure: error => this.#fail(error),
      generation: generation.name,
      start: generation.start,
    })
    if (base === undefined) return
    generation.base = base
    generation.time = Math.max(generation.time, base.time)
    if (base.place.sequence > (generation.place?.sequence ?? -1)) generation.place = base.place
    this.#bases = [...this.#bases, base]
    // The next step removes objects that are no longer needed with the new copy.
    this.#maintainedMs = Number.NEGATIVE_INFINITY
    logger.info({ target: target.name }, 'wrote a base copy of the continuous backup')
    this.#succeed()
  }

  async #maintainWhenDue(): Promise<void> {
    const { clock, maintainEveryMs: every = maintainEveryMs, retentionDays, target } = this.#options
    const nowMs = clock.elapsedMs()
    if (nowMs - this.#maintainedMs < every) return
    await this.#replaceMissing()
    const bases = this.#bases
    const oldest = oldestNeeded(bases, clock.now(), retentionDays)
    if (oldest !== undefined) await removeBefore(target, bases, oldest)
    this.#bases = this.#bases.filter(base => oldest === undefined || base.from >= oldest.from)
    this.#maintainedMs = nowMs
    this.#report()
  }

  /** Requests a new base copy if another program has deleted objects that a restore of the newest state needs. */
  async #replaceMissing(): Promise<void> {
    const { logger, target } = this.#options
    const generation = this.#generation
    if (generation?.base === undefined) return
    try {
      await checkNewest(target)
    } catch (error) {
      if (!(error instanceof IncompleteBackupError)) throw error
      logger.warn({ target: target.name }, `${error.message}; the backup continues with a new base copy`)
      generation.base = undefined
      this.#bases = await listBases(target)
    }
  }

  /** Ends the generation: the target will never contain the dropped records. */
  #breakOff(bytes: number, reason: string): void {
    this.#droppedBytes += bytes
    this.#generation = undefined
    this.#copy?.abort()
    const { logger, target } = this.#options
    logger.warn(
      { target: target.name, bytes },
      `${reason}: the continuous backup has a gap, and continues with a new base copy`,
    )
    this.#report()
  }

  /** Returns the time up to which the target contains all commits. */
  #completeUntil(): Micros {
    const { place, time = micros(0) } = this.#generation ?? {}
    if (place === undefined) return time
    const reached = this.#watermarks.findLastIndex(({ sequence }) => sequence <= place.sequence)
    if (reached > 0) this.#watermarks = this.#watermarks.slice(reached)
    return reached < 0 ? time : Math.max(time, this.#watermarks[0]?.time ?? time)
  }

  #leaseReach(): LeaseReach & { readonly until: Micros } {
    const until = this.#completeUntil()
    const { base, name: generation, place } = this.#generation ?? {}
    if (base === undefined || generation === undefined || place === undefined) return { until }
    const { checksum, sequence } = place
    return { until, newest: { generation, sequence, checksum } }
  }

  #succeed(): void {
    const { clock, logger, target } = this.#options
    if (this.#reason !== undefined) logger.info({ target: target.name }, 'the continuous backup works again')
    this.#reason = undefined
    this.#state = 'running'
    if (this.#queue.isEmpty) this.#lastSuccessMs = Math.floor(clock.now() / 1000)
    this.#report()
  }

  #fail(error: unknown): void {
    if (error instanceof TargetInUseError) {
      this.#isLeased = false
      this.#generation = undefined
      this.#servedSince = undefined
    }
    const reason = causeText(error)
    if (reason !== this.#reason) this.#options.logger.error({ reason }, 'the continuous backup fails')
    this.#reason = reason
    this.#state = 'failing'
    this.#report()
  }

  #report(): void {
    const { clock, onStatus, target } = this.#options
    const nowMs = Math.floor(clock.now() / 1000)
    const { sinceMs } = this.#queue
    const generation = this.#generation
    onStatus({
      target: target.name,
      state: this.#state,
      reason: this.#reason ?? null,
      last_success: this.#lastSuccessMs,
      waiting_since: sinceMs === undefined ? null : nowMs - Math.floor(clock.elapsedMs() - sinceMs),
      waiting_bytes: this.#queue.bytes,
      dropped_bytes: this.#droppedBytes,
      uploaded_bytes: this.#uploadedBytes,
      oldest_restorable: this.#bases[0]?.from ?? null,
      // A restore accepts the time of the newest commit in the target, or of the lease if that is later.
      newest_restorable:
        generation?.base === undefined
          ? (this.#bases.at(-1)?.time ?? null)
          : Math.max(generation.time, this.#renewedUntil),
    })
  }

  async #sleep(ms: number): Promise<void> {
    if (this.#isStopping || ms <= 0) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const cancel = this.#options.timers.after(ms, resolve)
    this.#wake = resolve
    await promise
    cancel()
  }
}
