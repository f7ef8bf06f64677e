// Keeps a node's copy up with the record, and knows what the copy may be taken for: which time it is complete up to,
// and whether it is fresh enough to be read.
//
// A copy at batch n holds every commit up to the time that was *closed* when n was the head: no later commit comes up
// to it. While there are commits, their own times are enough. When nothing is written, a node that is read moves the
// closed time on, so that the time of snapshots follows the time of day.
//
// A refresh reads the head and catches up with it. One at a time is under way, and whatever needs one shares it. A node that
// is read begins the next one before the last is too old, so that reads hardly ever wait; a node that is not read rests, and
// its next read waits for a refresh. Each commit of this node counts as one, too.

import type { Clock } from '../../../base/clock.ts'
import { Loop } from '../../../base/loop.ts'
import type { Micros } from '../../../base/micros.ts'
import type { Random } from '../../../base/random.ts'
import type { SnapshotTimes } from '../../../base/shared-timeline.ts'
import { type Cancel, type Timers, wait } from '../../../base/timers.ts'
import type { KeyValueStore, View } from '../contract.ts'
import { StoreUnavailableError } from '../errors.ts'
import { catchUp } from './catch-up.ts'
import { refusal } from './failures.ts'
import { CopyFault, Faults, type FollowFault } from './faults.ts'
import { KeptLog } from './kept-log.ts'
import { KeptSession } from './kept-session.ts'
import { ReadTimes } from './read-times.ts'
import { closeTime, type Head, type LogRow, readHead } from './record.ts'
import type { RecordClock } from './record-clock.ts'
import { type AppliedRow, applyRows, type Progress, readNote } from './replica.ts'
import { disagreement } from './same-record.ts'
import { PostgresSession, type RecordLocation } from './session.ts'

/** What a node has to do with: its copy, the record, and who hears of them. */
export interface NodeOptions {
  readonly location: RecordLocation
  /** The copy of this node, prepared by `prepareReplica`; closed with the store. */
  readonly local: KeyValueStore
  /** Names this node (and process) in the record's tables; unique among those that live. */
  readonly node: string
  readonly clock: Clock
  /** The times of snapshots of all processes of the node; absent: there is one process. */
  readonly given?: SnapshotTimes
  readonly timers: Timers
  readonly random: Random
  /** The time of the newest commit in a state, in microseconds: how transactions note it is not this engine's matter. */
  readonly newestTime: (view: Pick<View, 'get'>) => Micros
  /** Milliseconds for which reads go on while the database is away. */
  readonly readPatienceMs?: number
  /** Told once, when the record does not hold what the copy does: the copy is worthless, and the process has to end. */
  readonly onDiverged: (reason: string) => void
  /** Told what keeps this node from following the record, when that changes ({@link Faults}); undefined when it is over. */
  readonly onFault?: (fault: FollowFault | undefined) => void
}

const readPatienceDefaultMs = 300_000
/** Milliseconds between two refreshes while the node is read or listened to, and while it is not. */
const pollMs = 10
const restingPollMs = 2_000
/** A node counts as being read for so many milliseconds after a read. */
const readingMs = 1_000
/** A read whose client does not say what it has seen waits for a refresh if the last one began more milliseconds ago. */
const freshMs = 5
/** It begins the next one, without waiting, if the last one began more milliseconds ago: most take less than the rest. */
const agingMs = 3
/** A read waits no longer than so many milliseconds: a database that is slow now and then does not hold up reads. */
const patienceMs = 20
/** Milliseconds until a database that is away is tried again. */
const retryMs = 250
/**
 * Milliseconds until a copy that could not be written is written again: a full disk stays full for longer, and each failure
 * may end the process, for lmdb 3.5.6 puts its message of unknown length into 100 bytes (`mdb_page_flush`).
 */
const copyRetryMs = 2_000
/** After so many milliseconds without a refresh much may have been committed elsewhere. */
const farBehindMs = 1_000
/** Milliseconds after which a refresh without an answer counts as failed: the network may have swallowed it. */
const refreshTimeoutMs = 2_000

export class Follower {
  readonly #options: NodeOptions
  readonly #elapsedMs = () => this.#options.clock.elapsedMs()
  readonly #clock: RecordClock
  readonly #onApplied: (row: AppliedRow) => void
  readonly #session: KeptSession
  #progress: Progress = { seq: 0, batch: '' }
  /** The newest batch that was seen. */
  #headSeq = 0
  readonly #times: ReadTimes
  /** How many want to hear of commits of other nodes at once. */
  #listeners = 0
  #lastReadMs = Number.NEGATIVE_INFINITY
  /** The copy holds all that had been committed by then, on the steady clock. */
  #currentMs = Number.NEGATIVE_INFINITY
  readonly #log: KeptLog
  readonly #faults: Faults
  /** The refresh that is under way. */
  #refreshing: Promise<void> | undefined
  /** The same for reads: resolves at its end, or when it takes too long. */
  #fresh: Promise<void> | undefined
  /** When the last refresh began, on the steady clock. */
  #refreshedMs = Number.NEGATIVE_INFINITY
  #following: Loop | undefined
  /** The last failure to write the copy. It holds up no batch of this node's own: what is committed by then is always tried. */
  #failed: { readonly fault: CopyFault; readonly atMs: number } | undefined
  #isStopped = false
  #hasDiverged = false
  #isResting = false

  /** `onApplied` is told of each batch that this process has applied, its own ones, too. */
  constructor(options: NodeOptions, clock: RecordClock, onApplied: (row: AppliedRow) => void) {
    this.#options = options
    this.#clock = clock
    this.#onApplied = onApplied
    this.#session = new KeptSession(() => this.openSession(refreshTimeoutMs))
    this.#times = new ReadTimes(clock, options.given)
    this.#log = new KeptLog(options.node, this.#elapsedMs)
    this.#faults = new Faults(this.#elapsedMs, fault => options.onFault?.(fault))
  }

  get progress(): Progress & { readonly behind: number } {
    return { ...this.#progress, behind: Math.max(0, this.#headSeq - this.#progress.seq) }
  }

  /** How old, in milliseconds, what a snapshot of the copy shows may be. */
  get lagMs(): number {
    return this.#elapsedMs() - this.#currentMs
  }

  /** What keeps the copy from following. */
  get fault(): FollowFault | undefined {
    return this.#faults.current
  }

  /** Reaches the head once, then follows it until {@link stop}. */
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

  /** A time for a snapshot; {@link ReadTimes.next}. Asking for it does not count as reading. */
  time(after?: Micros): Micros {
    return this.#times.next(after)
  }

  /** Commits of other nodes are to be noticed at once, until the returned function is called. */
  listen(): Cancel {
    this.#listeners++
    this.#wake()
    return () => {
      this.#listeners--
    }
  }

  /** Throws {@link StoreUnavailableError} when the copy is too old to be read. */
  checkReadable(): void {
    const { sinceMs } = this.#faults
    const { readPatienceMs = readPatienceDefaultMs } = this.#options
    if (sinceMs !== undefined && this.#elapsedMs() - sinceMs > readPatienceMs) throw away()
  }

  /**
   * Undefined when a snapshot taken now holds everything up to `notBefore` (microseconds) and is fresh; else resolves
   * when it is. With `isLater` it can also have a later time, unless the database is away. Rejects with
   * {@link StoreUnavailableError} when the database is needed for what the snapshot holds, and away.
   */
  ready(notBefore: number, isLater: boolean): Promise<void> | undefined {
    this.#lastReadMs = this.#elapsedMs()
    this.#wake()
    const { closed } = this.#times
    if (closed >= notBefore && this.fault !== undefined) return undefined
    const wanted = isLater && notBefore > 0 ? notBefore + 1 : notBefore
    if (closed < wanted || !this.#times.areFresh) return this.#refreshUpTo(notBefore, wanted)
    return notBefore > 0 ? undefined : this.#keepFresh()
  }

  /** Catches up before a commit when the copy may be far behind: while it does so with the head in hand, all others wait. */
  async approach(): Promise<void> {
    if (this.lagMs > farBehindMs) await this.#refresh(0)
  }

  /**
   * Applies the batches up to a head that was asked for at `askedMs`. Throws when the record does not hold what the copy did
   * `before` that. Batches are fetched over the session of refreshes alone, also for a commit that holds the head:
   * the database ends a session that holds the head and stands idle, but waits without end for one that does not
   * take what it has asked for.
   */
  async catchUp(head: Head, before: Progress | undefined, askedMs: number): Promise<void> {
    if (before !== undefined && before.seq > head.seq) throw this.#diverged('the record is older than it')
    if (this.#progress.seq < head.seq) this.#learnProgress()
    const session = () => this.#session.sound()
    const apply = async (rows: readonly LogRow[]) => {
      const failed = this.#failed
      if (failed !== undefined && this.#elapsedMs() - failed.atMs < copyRetryMs) throw failed.fault
      return this.apply(rows)
    }
    const reached = await catchUp(this.#progress.seq, head.seq, session, apply)
    if (reached < head.seq) await this.#failToReach(await session(), head)
    this.note(head)
    this.#currentMs = Math.max(this.#currentMs, askedMs)
  }

  /** Other processes of the node feed the copy, too. */
  #learnProgress(): void {
    this.#progress = readNote(this.#options.local) ?? this.#progress
  }

  /** The log as a session shows it does not go on from the copy, although `head` was seen. */
  async #failToReach(session: PostgresSession, head: Head): Promise<never> {
    const { seq } = await readHead(session)
    if (seq >= head.seq) {
      const reason = await disagreement(session, readNote(this.#options.local))
      throw this.#diverged(reason ?? 'the log does not go on from it')
    }
    session.close()
    throw new StoreUnavailableError('the database of the store was another one a moment ago')
  }

  /** Applies batches to the copy, which other processes of the node may feed as well; resolves with the newest in it. */
  async apply(rows: readonly LogRow[]): Promise<number> {
    const { local, newestTime } = this.#options
    const {
      batch,
      rows: applied,
      seq,
    } = await applyRows(local, rows, newestTime).catch(cause => {
      const fault = new CopyFault(cause)
      this.#failed = { fault, atMs: this.#elapsedMs() }
      throw fault
    })
    if (seq > this.#progress.seq) this.#progress = { seq, batch }
    for (const row of applied) this.#onApplied(row)
    return this.#progress.seq
  }

  /** Applies a batch that this node has made the head. */
  async applyOwn(row: Head & LogRow): Promise<void> {
    await this.apply([row])
    // Others may have come in between: the next refresh fetches them.
    this.note(row)
  }

  /** Takes note of a head that was seen, or made. */
  note(head: Head): void {
    this.#headSeq = Math.max(this.#headSeq, head.seq)
    const { local, newestTime } = this.#options
    if (this.#progress.seq >= head.seq) this.#times.note(head.closed, local.read(newestTime))
  }

  /**
   * A refresh that begins now finds everything that any client can have seen before. One that is under way may have begun
   * too early. Rejects only when the copy does not hold everything up to `notBefore`: `wanted` is the closed time to be reached.
   */
  async #refreshUpTo(notBefore: number, wanted: number): Promise<void> {
    const times = this.#times
    try {
      if (this.#refreshing !== undefined) {
        await this.#refreshing
        if (times.closed >= wanted && times.areFresh) return
      }
      const claimed = Number.isFinite(wanted) ? wanted : 0
      do await this.#refresh(Math.max(claimed, times.wanted))
      while (
        // Another node may have moved the closed time first, and not as far.
        times.closed < claimed &&
        claimed <= this.#clock.now()
      )
    } catch (error) {
      if (times.closed < notBefore) throw error
    }
  }

  /** Undefined when the copy is fresh; else resolves when it is, or that takes too long. */
  #keepFresh(): Promise<void> | undefined {
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

  /** The step of the background; resolves with the milliseconds until the next. */
  async #follow(): Promise<number> {
    this.#isResting = false
    const sinceMs = this.#elapsedMs() - this.#refreshedMs
    // Reads have begun one.
    if (sinceMs < pollMs) return pollMs - sinceMs
    try {
      await this.#refresh(this.#isRead ? this.#times.wanted : 0)
    } catch {
      return retryMs
    }
    this.#isResting = !this.#isRead && this.#listeners === 0
    return this.#isResting ? restingPollMs : pollMs
  }

  get #isRead(): boolean {
    return this.#elapsedMs() - this.#lastReadMs < readingMs
  }

  #wake(): void {
    if (this.#isResting) this.#following?.wake()
  }

  /** Resolves when the refresh that is under way has ended, or one that begins now, with this `wanted`. */
  #refresh(wanted: number): Promise<void> {
    this.#refreshing ??= this.#readAndCatchUp(wanted).finally(() => {
      this.#refreshing = undefined
      this.#fresh = undefined
    })
    return this.#refreshing
  }

  /** Reads the head and catches up. When the closed time is before `wanted` (microseconds), it is moved to the time of day. */
  async #readAndCatchUp(wanted: number): Promise<void> {
    const { node, random } = this.#options
    const beganMs = this.#elapsedMs()
    this.#refreshedMs = beganMs
    try {
      const session = await this.#session.sound()
      const before = this.#progress
      const head = await readHead(session)
      this.#clock.learn(head.clock)
      await this.catchUp(head, before, beganMs)
      if (head.closed < wanted) {
        const row = { batch: random.hex(16), node, closed: this.#clock.now() }
        const closed = await closeTime(session, this.#progress, row)
        if (closed !== undefined) await this.applyOwn(closed)
      }
      await this.#log.renew(session, this.#progress.seq)
      this.#faults.note(undefined)
    } catch (error) {
      if (!(error instanceof CopyFault)) {
        this.#session.drop()
      }
      if (!this.#isStopped) this.#faults.note(error)
      throw refusal(error)
    }
  }

  /**
   * Opens a session and makes sure that it leads to the record which the copy is of: behind the same address there may be
   * another server by now, one that had not received everything when it was promoted.
   */
  openSession(statementTimeoutMs: number): Promise<PostgresSession> {
    const { local, location, node } = this.#options
    const check = async (session: PostgresSession) => {
      const reason = await disagreement(session, readNote(local))
      if (reason !== undefined) throw this.#diverged(reason)
    }
    return PostgresSession.openChecked(location, node, check, statementTimeoutMs)
  }

  #diverged(reason: string): StoreUnavailableError {
    if (!this.#hasDiverged) this.#options.onDiverged(reason)
    this.#hasDiverged = true
    this.#isStopped = true
    // It may be in the middle of a step of that loop.
    void this.#following?.stop()
    return new StoreUnavailableError(`the local copy cannot be used any more: ${reason}`)
  }
}

function away(): StoreUnavailableError {
  return new StoreUnavailableError('the database of the store has been away for too long to read on')
}
