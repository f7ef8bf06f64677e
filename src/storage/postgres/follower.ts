// Updates a node's replica from the record (the store's tables in PostgreSQL). Determines the time up to which the
// replica is complete, and whether the replica is fresh enough for reads.
//
// Each batch has a *closed* time: all commits of later batches have later times. So a replica at batch n contains every
// commit up to the closed time of n. Each commit advances the closed time. While there are no commits, a node that
// serves reads advances it, so that the time of snapshots follows the time of day.
//
// A refresh reads the head (the newest batch of the log) and applies the missing batches. One refresh runs at a time,
// and all callers share it. While a node serves reads, it begins the next refresh before the last refresh is too old,
// so reads rarely wait. The first read of an idle node waits for a refresh. A commit of this node also applies the
// missing batches. A read of a client that sends its last seen time (the time of the newest transaction that it has
// seen) waits until the replica contains all commits up to this time.

import type { Clock } from '../../base/clock.ts'
import type { Micros } from '../../base/micros.ts'
import type { Random } from '../../base/random.ts'
import type { UsedSnapshotTimes } from '../../base/timeline.ts'
import { type Cancel, Loop, type Timers, wait } from '../../base/timers.ts'
import type { KeyValueStore, View } from '../kv/kv-contract.ts'
import { StoreUnavailableError } from '../kv/store-errors.ts'
import { catchUp, logMismatch } from './catch-up.ts'
import { CopyFault, Faults, type FollowFault, rejection } from './failures.ts'
import { PostgresSession, type RecordLocation } from './postgres-session.ts'
import { ReconnectingSession } from './reconnecting-session.ts'
import { closeTime, type Head, LogRetention, type LogRow, missingStandby, readHead } from './record.ts'
import { ReadTimes, type RecordClock } from './record-clock.ts'
import { type AppliedRow, applyRows, type Progress, readNote } from './replica.ts'

export interface NodeOptions {
  readonly location: RecordLocation
  /** Prepared by `prepareReplica`. Closing the store closes the replica. */
  readonly local: KeyValueStore
  /** Identifies this process of the node in the record; unique among live processes. */
  readonly node: string
  readonly clock: Clock
  /** The snapshot times that all processes of the node have used; undefined if the node has one process. */
  readonly usedTimes?: UsedSnapshotTimes
  readonly timers: Timers
  readonly random: Random
  /** The newest commit in a state. The caller chooses where its time is stored, so only the caller can read it. */
  readonly newestTime: (view: Pick<View, 'get'>) => Micros
  /** Maximum age of the state that reads see while the database is unavailable. */
  readonly readPatienceMs?: number
  /**
   * Called once: the record does not contain the commits of the replica, so the replica is invalid, and the process
   * must exit.
   */
  readonly onDiverged: (reason: string) => void
  /**
   * Called when the reason why this node cannot follow the record changes ({@link Faults}); with undefined when it can
   * follow the record again.
   */
  readonly onFault?: (fault: FollowFault | undefined) => void
}

const readPatienceDefaultMs = 300_000
/** Interval of refreshes. `pollMs`: while a node serves reads or has listeners. `restingPollMs`: of an idle node. */
const pollMs = 10
const restingPollMs = 2_000
/** Maximum age of the replica while the node follows the record: an idle node polls rarely. */
const followedAgeMaxMs = 5_000
/** Milliseconds after a read during which a node is treated as a node that serves reads. */
const readingMs = 1_000
/** If the last complete refresh began earlier, a read without a last seen time waits for a refresh. */
const freshMs = 5
/**
 * If the last complete refresh began earlier, a read without a last seen time begins the next refresh, but does not
 * wait. Most refreshes end before {@link freshMs} has passed.
 */
const agingMs = 3
/**
 * A read without a last seen time waits no longer, so that slow responses of the database delay reads only a little.
 */
const patienceMs = 20
/** Milliseconds between two checks for commits that wait for a synchronous standby. */
const standbyCheckMs = 1_000
/** Milliseconds until an unavailable database is tried again. */
const retryMs = 250
/**
 * Pause before a retry when the replica could not be written. Frequent retries are useless with a full disk, and each
 * failure may crash the process, because lmdb 3.5.6 writes its error text into a buffer of only 100 bytes
 * (`mdb_page_flush`).
 */
const copyRetryMs = 2_000
/**
 * After this time without a refresh, other nodes may have committed many batches: an idle node refreshes rarely, and a
 * paused process not at all. A read then waits for a refresh without the limit {@link patienceMs}.
 */
const farBehindMs = 1_000
/** A refresh without a response is then treated as failed, because the network may have lost the response. */
const refreshTimeoutMs = 2_000

export class Follower {
  readonly #options: NodeOptions
  readonly #elapsedMs = () => this.#options.clock.elapsedMs()
  readonly #clock: RecordClock
  readonly #onApplied: (row: AppliedRow) => void
  readonly #session: ReconnectingSession
  #progress: Progress = { seq: 0, batch: '' }
  /** The newest batch that this node has read or written. */
  #headSeq = 0
  readonly #times: ReadTimes
  /** Listeners that need immediate notifications of commits of other nodes. */
  #listeners = 0
  #lastReadMs = Number.NEGATIVE_INFINITY
  /** The replica contains all commits that were made before this time of the monotonic clock. */
  #currentMs = Number.NEGATIVE_INFINITY
  readonly #retention: LogRetention
  readonly #faults: Faults
  /** The result of the last check for commits that wait for a standby, and the time of the check. */
  #missingStandby: StoreUnavailableError | undefined
  #standbyCheckedMs = Number.NEGATIVE_INFINITY
  #refreshing: Promise<void> | undefined
  /** Reads wait for this promise. It resolves at the end of the running refresh, or after {@link patienceMs}. */
  #fresh: Promise<void> | undefined
  /** The time at which the last refresh began, in milliseconds of the monotonic clock. */
  #refreshedMs = Number.NEGATIVE_INFINITY
  #following: Loop | undefined
  /**
   * The last failure to write the replica. Batches of other nodes then wait for {@link copyRetryMs}. This node's own
   * batches do not wait: a committed batch is always applied.
   */
  #failed: { readonly fault: CopyFault; readonly atMs: number } | undefined
  #isStopped = false
  #hasDiverged = false
  #isResting = false

  /** `onApplied` is called with each batch that this process has applied, including its own. */
  constructor(options: NodeOptions, clock: RecordClock, onApplied: (row: AppliedRow) => void) {
    this.#options = options
    this.#clock = clock
    this.#onApplied = onApplied
    this.#session = new ReconnectingSession(() => this.openSession(refreshTimeoutMs))
    this.#times = new ReadTimes(clock, options.usedTimes)
    this.#retention = new LogRetention(options.node, this.#elapsedMs)
    this.#faults = new Faults(this.#elapsedMs, fault => options.onFault?.(fault))
  }

  get progress(): Progress & { readonly behind: number } {
    return { ...this.#progress, behind: Math.max(0, this.#headSeq - this.#progress.seq) }
  }

  /** The maximum age of a snapshot of the replica. */
  get lagMs(): number {
    return this.#elapsedMs() - this.#currentMs
  }

  get fault(): FollowFault | undefined {
    return this.#faults.current
  }

  /** Catches up with the head, and then follows the record until {@link stop}. */
  async start(): Promise<void> {
    this.#learnProgress()
    await this.#refresh(Number.POSITIVE_INFINITY)
    this.#following = new Loop(this.#options.timers, () => this.#follow())
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#session.close()
    await this.#following?.stop()
  }

  /** A time for a snapshot; see {@link ReadTimes.next}. A call is not counted as a read. */
  time(after?: Micros): Micros {
    return this.#times.next(after)
  }

  /** Polls for commits of other nodes every {@link pollMs}, until the returned function is called. */
  listen(): Cancel {
    this.#listeners++
    this.#wake()
    return () => {
      this.#listeners--
    }
  }

  /**
   * Throws {@link StoreUnavailableError} when the replica is too old for reads. Only its age counts, not the duration
   * of the current fault: a process that was paused has an old replica, but no fault yet.
   */
  checkReadable(): void {
    const { lagMs } = this
    const { readPatienceMs = readPatienceDefaultMs } = this.#options
    if (lagMs <= readPatienceMs || (this.fault === undefined && lagMs <= followedAgeMaxMs)) return
    throw new StoreUnavailableError(
      `the replica of the store on this node is too old for reads: it was last updated ${Math.round(lagMs / 1000)} seconds ago`,
    )
  }

  /**
   * Waits until a new snapshot contains all commits up to `notBefore` (microseconds; 0 for a client without a last seen
   * time) and is fresh. Returns undefined if no wait is needed. If `isLater` is true and the database is available,
   * also waits until a snapshot can have a time later than `notBefore`. Rejects with {@link StoreUnavailableError} when
   * the replica lacks commits up to `notBefore` and the database is unavailable.
   */
  ready(notBefore: number, isLater: boolean): Promise<void> | undefined {
    this.#lastReadMs = this.#elapsedMs()
    this.#wake()
    const { closed } = this.#times
    // While the replica cannot follow the record, waiting would not make a sufficient replica fresher.
    if (closed >= notBefore && this.fault !== undefined) return undefined
    const wanted = isLater && notBefore > 0 ? notBefore + 1 : notBefore
    if (closed < wanted || !this.#isCurrent) return this.#refreshUpTo(notBefore, wanted)
    return notBefore > 0 ? undefined : this.#refreshIfOld()
  }

  /** Catches up before a commit: catching up while the head is locked would delay all other nodes. */
  async catchUpBeforeCommit(): Promise<void> {
    if (this.#isFarBehind) await this.#refresh(0)
  }

  /**
   * Applies the batches up to `head`. `requestedMs`: the time at which the head was requested. `before`: the newest
   * batch of the replica before the request. Throws if the record ends before this batch. Always fetches the
   * batches over the session for refreshes, even when a commit has locked the head over another session: if that
   * session stopped reading its results, the database would wait for it indefinitely. If it is only idle, the database
   * closes it.
   */
  async catchUp(head: Head, before: Progress | undefined, requestedMs: number): Promise<void> {
    if (before !== undefined && before.seq > head.seq) throw this.#diverged('the record is older than it')
    if (this.#progress.seq < head.seq) this.#learnProgress()
    const session = () => this.#session.connected()
    const apply = async (rows: readonly LogRow[]) => {
      const failed = this.#failed
      if (failed !== undefined && this.#elapsedMs() - failed.atMs < copyRetryMs) throw failed.fault
      return this.apply(rows)
    }
    const reached = await catchUp(this.#progress.seq, head.seq, session, apply)
    if (reached < head.seq) await this.#failToReach(await session(), head)
    this.recordHead(head)
    this.#currentMs = Math.max(this.#currentMs, requestedMs)
  }

  /** Other processes of the node update the replica, too. */
  #learnProgress(): void {
    this.#progress = readNote(this.#options.local) ?? this.#progress
  }

  /** Throws the reason why the log lacks a batch between the newest batch of the replica and `head`. */
  async #failToReach(session: PostgresSession, head: Head): Promise<never> {
    const { seq } = await readHead(session)
    if (seq >= head.seq) {
      const reason = await logMismatch(session, readNote(this.#options.local))
      throw this.#diverged(reason ?? 'the log does not continue after it')
    }
    session.close()
    throw new StoreUnavailableError('the database of the store has changed to another one')
  }

  /** Other processes of the node may apply batches as well; resolves with the number of the replica's newest batch. */
  async apply(rows: readonly LogRow[]): Promise<number> {
    const { local, newestTime } = this.#options
    const applied = await applyRows(local, rows, newestTime).catch(cause => {
      const fault = new CopyFault(cause)
      this.#failed = { fault, atMs: this.#elapsedMs() }
      throw fault
    })
    const { batch, seq } = applied
    if (seq > this.#progress.seq) this.#progress = { seq, batch }
    for (const row of applied.rows) this.#onApplied(row)
    return this.#progress.seq
  }

  /** The batch is one that this node has just committed. */
  async applyOwn(row: Head & LogRow): Promise<void> {
    await this.apply([row])
    // If batches of other nodes precede this batch, the next refresh fetches them.
    this.recordHead(row)
  }

  /** The head was read or written. */
  recordHead(head: Head): void {
    this.#headSeq = Math.max(this.#headSeq, head.seq)
    const { local, newestTime } = this.#options
    if (this.#progress.seq >= head.seq) this.#times.advance(head.closed, local.read(newestTime))
  }

  /**
   * Refreshes the replica until its closed time is at least `wanted`. A refresh that is already running may miss data
   * that clients have seen before the call, so if it does not reach `wanted`, begins a new refresh. Rejects if a
   * refresh fails and the replica does not contain all commits up to `notBefore`.
   */
  async #refreshUpTo(notBefore: number, wanted: number): Promise<void> {
    const times = this.#times
    try {
      if (this.#refreshing !== undefined) {
        await this.#refreshing
        if (times.closed >= wanted && this.#isCurrent) return
      }
      // With an infinite `wanted`, one new refresh is enough: it fetches every commit that precedes this call.
      const closedMin = Number.isFinite(wanted) ? wanted : 0
      do await this.#refresh(Math.max(closedMin, times.wanted))
      while (
        // Another node may have advanced the closed time first, but not far enough.
        times.closed < closedMin &&
        closedMin <= this.#clock.now()
      )
    } catch (error) {
      if (times.closed < notBefore) throw error
    }
  }

  get #isFarBehind(): boolean {
    return this.lagMs > farBehindMs
  }

  /** A read without a last seen time need not wait for a complete refresh. */
  get #isCurrent(): boolean {
    return this.#times.areFresh && !this.#isFarBehind
  }

  /**
   * Begins a refresh if the last one is too old. The promise resolves when the replica is fresh, or after
   * {@link patienceMs}. Returns undefined if the read need not wait.
   */
  #refreshIfOld(): Promise<void> | undefined {
    const { lagMs } = this
    if (lagMs <= agingMs) return undefined
    if (this.#refreshing === undefined) this.#refresh(this.#times.wanted).catch(() => undefined)
    if (lagMs <= freshMs || this.#elapsedMs() - this.#refreshedMs > patienceMs) return undefined
    this.#fresh ??= Promise.race([
      this.#refreshing?.catch(() => undefined),
      wait(patienceMs, this.#options.timers),
    ])
    return this.#fresh
  }

  /** Runs a step of the background loop; resolves with the milliseconds until the next. */
  async #follow(): Promise<number> {
    this.#isResting = false
    const sinceMs = this.#elapsedMs() - this.#refreshedMs
    // If a read has started a refresh recently, this step waits.
    if (sinceMs < pollMs) return pollMs - sinceMs
    try {
      await this.#refresh(this.#isServingReads ? this.#times.wanted : 0)
    } catch {
      return retryMs
    }
    this.#isResting = !this.#isServingReads && this.#listeners === 0
    return this.#isResting ? restingPollMs : pollMs
  }

  get #isServingReads(): boolean {
    return this.#elapsedMs() - this.#lastReadMs < readingMs
  }

  #wake(): void {
    if (this.#isResting) this.#following?.wake()
  }

  /** Resolves at the end of the running refresh. If no refresh is running, begins a refresh with `wanted`. */
  #refresh(wanted: number): Promise<void> {
    this.#refreshing ??= this.#readAndCatchUp(wanted).finally(() => {
      this.#refreshing = undefined
      this.#fresh = undefined
    })
    return this.#refreshing
  }

  /** If the closed time is before `wanted` (microseconds), advances the closed time to the time of day. */
  async #readAndCatchUp(wanted: number): Promise<void> {
    const { node, random } = this.#options
    const beganMs = this.#elapsedMs()
    this.#refreshedMs = beganMs
    try {
      const session = await this.#session.connected()
      const before = this.#progress
      const head = await readHead(session)
      this.#clock.learn(head.clock, beganMs)
      await this.catchUp(head, before, beganMs)
      if (head.closed < wanted && this.#missingStandby === undefined) {
        const row = { batch: random.hex(16), node, closed: this.#clock.now() }
        const closed = await closeTime(session, this.#progress, row)
        if (closed !== undefined) await this.applyOwn(closed)
      }
      await this.#retention.renew(session, this.#progress.seq)
      this.#faults.report(await this.#standbyFault(session))
    } catch (error) {
      if (!(error instanceof CopyFault)) this.#session.drop()
      if (!this.#isStopped) this.#faults.report(error)
      throw rejection(error)
    }
  }

  /**
   * The reason why commits wait for a synchronous standby, if any. The replica can still follow the record, but reads
   * must not wait for a new closed time, and the operator must know the reason.
   */
  async #standbyFault(session: PostgresSession): Promise<StoreUnavailableError | undefined> {
    if (this.#elapsedMs() - this.#standbyCheckedMs >= standbyCheckMs) {
      this.#standbyCheckedMs = this.#elapsedMs()
      this.#missingStandby = await missingStandby(session)
    }
    return this.#missingStandby
  }

  /**
   * Checks that the database contains the record of the replica: the address may lead to a standby that lacked commits
   * when it was promoted.
   */
  openSession(statementTimeoutMs: number): Promise<PostgresSession> {
    const { local, location, node } = this.#options
    const check = async (session: PostgresSession) => {
      const reason = await logMismatch(session, readNote(local))
      if (reason !== undefined) throw this.#diverged(reason)
    }
    return PostgresSession.openChecked(location, node, check, statementTimeoutMs)
  }

  #diverged(reason: string): StoreUnavailableError {
    if (!this.#hasDiverged) this.#options.onDiverged(reason)
    this.#hasDiverged = true
    this.#isStopped = true
    // Does not wait for the loop, because a step of the loop may have called this method.
    void this.#following?.stop()
    return new StoreUnavailableError(`the local replica is no longer valid: ${reason}`)
  }
}
