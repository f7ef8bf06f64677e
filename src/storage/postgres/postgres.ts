// The storage engine for a store that several machines share. The system of record is a log of committed batches in a
// database that speaks PostgreSQL's protocol. Every node reads a local replica, which the node updates from the log.
//
// A commit is a short transaction of the PostgreSQL database. The node locks the head (the newest batch of the log),
// and updates the replica. It runs a batch of waiting transactions (jobs) on the replica, appends their writes as one
// log row, and commits. If a node crashes during a commit, its connection closes and the database rolls back. Reasons:
// docs/decisions/0016.

import { assert } from '../../base/assert.ts'
import { epoch, type Micros, micros } from '../../base/micros.ts'
import { AnnouncedCommits, commitDistance, type Timeline } from '../../base/timeline.ts'
import { wait } from '../../base/timers.ts'
import { allWrites, encodeBatch } from '../kv/batch.ts'
import { CommitQueue, completeJob, type Job, prepareBatch, runJob } from '../kv/commit-queue.ts'
import type { KeyValueStore, View, Work, Write } from '../kv/kv-contract.ts'
import { Overlay } from '../kv/overlay.ts'
import type { ForeignBatch, ReadyOptions, ReplicatedStore } from '../kv/replicated-store.ts'
import { causeText, StoreUnavailableError } from '../kv/store-errors.ts'
import type { FollowFault } from './failures.ts'
import { Follower, type NodeOptions } from './follower.ts'
import type { PostgresSession } from './postgres-session.ts'
import { ReconnectingSession } from './reconnecting-session.ts'
import { appendBatch, type Head, lockHead, parseCommit, readBatch } from './record.ts'
import { RecordClock } from './record-clock.ts'
import { isReserved, type Progress, ReplicaView, readNote } from './replica.ts'
import { commitTimeoutMs } from './session-settings.ts'

interface PostgresOptions extends NodeOptions {
  /** How long a write waits for an unavailable database before it is rejected. */
  readonly writePatienceMs?: number
}

const writePatienceDefaultMs = 10_000
/** {@link PostgresOptions.writePatienceMs} when the process is about to exit. */
const hurriedPatienceMs = 2_000
/** Milliseconds until an unavailable database is tried again. */
const retryMs = 200
/** Jobs that have waited too long are rejected at this interval, even while a statement is running. */
const impatienceMs = 500
/** Minimum wait for the response to a batch, without which the outcome is unknown. */
const responseMs = 2_000

/** When the writes of a batch have at least this number of bytes, no more jobs are added to the batch. */
const batchBytesMax = 1 << 20
const batchJobsMax = 256

interface BuiltBatch {
  readonly jobs: readonly Job[]
  readonly writes: readonly Write[]
  /** The newest commit in the store including the batch, in microseconds. */
  readonly newestTime: Micros
}

/**
 * The commit has been sent, but the jobs are not completed yet. If the connection breaks, only the log shows the
 * outcome.
 */
interface OpenBatch {
  readonly seq: number
  readonly batch: string
  readonly jobs: readonly Job[]
  /** The time at which the batch was sent, in milliseconds of the monotonic clock. */
  readonly sentMs: number
  /** The database has acknowledged the batch, but the replica of this node does not contain it yet. */
  readonly isAcknowledged: boolean
}

/** A node's replica, compared with the record (the store's tables in PostgreSQL). */
export interface ReplicaStatus extends Progress {
  /** The reason why the replica cannot follow the record. */
  readonly fault: FollowFault | undefined
  /** The maximum age of the state that reads see. */
  readonly lagMs: number
  /** The number of batches by which the record was ahead of the replica at the last poll. */
  readonly behind: number
}

/** The replica must be prepared, and the database must be reachable. */
export async function openPostgres(options: PostgresOptions): Promise<PostgresStore> {
  const store = new PostgresStore(options)
  await store.start()
  return store
}

/** Reads a local replica, and appends its commits to the record (the store's tables in PostgreSQL). */
export class PostgresStore implements ReplicatedStore {
  readonly #options: PostgresOptions
  readonly #local: KeyValueStore
  readonly #clock: RecordClock
  readonly #follower: Follower
  readonly #queue = new CommitQueue()
  readonly #announced = new AnnouncedCommits()
  readonly #session: ReconnectingSession
  #open: OpenBatch | undefined
  /**
   * Jobs whose batch is in the log, but was not acknowledged: a synchronous standby may lack it. So these jobs are
   * resolved only after the next acknowledged commit.
   */
  #unconfirmed: Job[] = []
  #committing: Promise<void> | undefined
  /** The reason why the last attempt to commit has failed. */
  #failure: unknown
  #isClosed = false
  #isHurried = false
  #isBuilding = false
  #onForeign: (batch: ForeignBatch) => void = () => undefined
  /** The head (record.ts) when the current batch was built. */
  #head: Head | undefined

  constructor(options: PostgresOptions) {
    this.#options = options
    this.#local = options.local
    this.#session = new ReconnectingSession(() => this.#openWriter())
    this.#clock = new RecordClock(() => options.clock.elapsedMs())
    this.#follower = new Follower(options, this.#clock, row => {
      if (row.batch !== this.#open?.batch && row.writes.length > 0) this.#onForeign(row)
    })
  }

  get storeId(): string {
    const note = readNote(this.#local)
    assert(note !== undefined, 'a replica has a note about its store')
    return note.storeId
  }

  /** The times that transactions of this node use; see {@link Follower}. */
  readonly timeline: Timeline = {
    now: () => this.#follower.time(),
    announce: atLeast => this.#announced.begin(atLeast, () => this.#clock.now()),
    // Running commits do not limit `upTo`: only the closed time of the replica determines which commits a snapshot
    // contains.
    reach: after => {
      const time = this.#follower.time(after)
      return { now: time, upTo: time, isHalted: this.#follower.fault !== undefined }
    },
    closed: () => this.#head?.closed ?? epoch,
  }

  /** Catches up with the record, and begins to follow it. */
  start(): Promise<void> {
    return this.#follower.start()
  }

  read<T>(read: (view: View) => T): T {
    assert(!this.#isBuilding, 'a transaction must not read beside its view')
    this.#follower.checkReadable()
    return this.#local.read(view => read(new ReplicaView(view)))
  }

  ready(notBefore: number, { isLater = false }: ReadyOptions = {}): Promise<void> | undefined {
    return this.#follower.ready(notBefore, isLater)
  }

  transact<T>(work: (view: View) => Work<T>, prepare?: () => Promise<void>): Promise<T> {
    assert(!this.#isBuilding, 'a transaction must not begin another')
    if (this.#isClosed) return Promise.reject(new StoreUnavailableError('the store is closed'))
    const result = this.#queue.add(work, this.#options.clock.elapsedMs(), prepare)
    this.#committing ??= this.#commitAll()
    return result
  }

  watch(listener: () => void): () => void {
    const stopListening = this.#follower.listen()
    const stopWatching = this.#local.watch(listener)
    return () => {
      stopListening()
      stopWatching()
    }
  }

  watchForeign(listener: (batch: ForeignBatch) => void): void {
    this.#onForeign = listener
  }

  /** Returns the time of the database's clock, in microseconds; never steps back. */
  now(): Micros {
    return this.#clock.now()
  }

  get status(): ReplicaStatus {
    const { fault, lagMs, progress } = this.#follower
    return { fault, lagMs, ...progress }
  }

  /** The process is about to exit, so writes wait only {@link hurriedPatienceMs} for an unavailable database. */
  shortenPatience(): void {
    this.#isHurried = true
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    await this.#committing
    await this.#follower.stop()
    this.#session.close()
    await this.#local.close()
  }

  async #commitAll(): Promise<void> {
    const stopWatching = this.#options.timers.every(impatienceMs, () => this.#rejectOldJobs())
    // Transactions of one turn of the event loop share a batch.
    await Promise.resolve()
    while (this.#isBusy) {
      try {
        await this.#commitBatch()
        this.#failure = undefined
      } catch (error) {
        this.#session.drop()
        this.#failure = error
        this.#rejectOldJobs()
        if (this.#isBusy) await wait(retryMs, this.#options.timers)
      }
    }
    stopWatching()
    // This assignment is in the same turn of the event loop as the last check of the queue, so a later transaction
    // finds `#committing` undefined, and calls `#commitAll` again.
    this.#committing = undefined
  }

  get #isBusy(): boolean {
    return !this.#queue.isEmpty || this.#open !== undefined || this.#unconfirmed.length > 0
  }

  /** Throws when the database is unavailable or rejects the commit; the jobs then wait for the next attempt. */
  async #commitBatch(): Promise<void> {
    await this.#follower.catchUpBeforeCommit()
    const session = await this.#session.connected()
    const before = readNote(this.#local)
    const requestedMs = this.#options.clock.elapsedMs()
    const head = await lockHead(session)
    this.#clock.learn(head.clock, requestedMs)
    await this.#follower.catchUp(head, before, requestedMs)
    await this.#resolveOpenBatch(session)
    this.#head = head
    const batch = this.#queue.take(batchJobsMax)
    const isPrepared = await prepareBatch(batch)
    const { jobs, writes, newestTime } = this.#build(isPrepared ? batch : [])
    if (writes.length === 0 && this.#unconfirmed.length === 0) {
      // These jobs write nothing, so they need no commit. The early jobs arrived before the head was locked: they have
      // read the newest state, even if the connection breaks now. A late job may have arrived after the lock was lost,
      // for example if this process was paused. Another node may then have committed before the job arrived.
      const late = jobs.filter(({ arrivedMs }) => arrivedMs >= requestedMs)
      for (const job of jobs) if (!late.includes(job)) completeJob(job)
      try {
        await session.query('ROLLBACK')
      } catch (error) {
        this.#queue.putBack(late)
        throw error
      }
      for (const job of late) completeJob(job)
      return
    }
    const { clock, node, random } = this.#options
    const row = {
      seq: head.seq + 1,
      batch: random.hex(16),
      before: this.#follower.progress.batch,
      node,
      closed: this.#closedTimeAfter(newestTime),
      body: encodeBatch(writes),
    }
    const sentMs = clock.elapsedMs()
    this.#open = { seq: row.seq, batch: row.batch, jobs, sentMs, isAcknowledged: false }
    const { committed, rejection } = await appendBatch(session, row)
    if (committed === 'rejected') {
      this.#open = undefined
      this.#queue.putBack(jobs)
      throw rejection ?? new StoreUnavailableError('the database of the store rejected the commit')
    }
    // `#open` is undefined if its jobs were rejected with an unknown outcome while the batch was sent.
    this.#open &&= { ...this.#open, isAcknowledged: committed === 'acknowledged' }
    // The replica must contain the batch first, so that a client's next read on this node contains the write, even if
    // the client does not send the time of the write.
    await this.#follower.applyOwn({ ...row, clock: head.clock })
    this.#open = undefined
    this.#unconfirmed.push(...jobs)
    if (committed === 'unknown') return
    this.#queue.flushed(clock.elapsedMs() - sentMs)
    for (const job of this.#unconfirmed.splice(0)) completeJob(job)
  }

  /**
   * The closed time (follower.ts) of a batch: at least one microsecond later than `newestTime`, because every later
   * commit is at least two microseconds later. If possible, it is the time of day, but before the oldest announced
   * commit of this node. A late closed time is useful: a snapshot of this state can have any time up to it.
   */
  #closedTimeAfter(newestTime: Micros): Micros {
    const announced = this.#announced.oldestAfter(newestTime)
    return Math.max(
      micros(newestTime + commitDistance - 1),
      Math.min(micros(announced - 1), this.#clock.now()),
    )
  }

  /** Each transaction sees the writes of the previous transactions of the batch. */
  #build(jobs: Job[]): BuiltBatch {
    this.#isBuilding = true
    try {
      return this.#local.read(view => {
        const overlay = new Overlay(new ReplicaView(view))
        const writes: Write[] = []
        let bytes = 0
        let count = 0
        while (count < jobs.length && bytes < batchBytesMax) {
          for (const write of allWrites(runJob(jobs[count++] as Job, overlay))) {
            assert(!isReserved(write.key), 'a transaction does not write the key of the replica')
            overlay.set(write.key, write.value)
            writes.push(write)
            bytes += write.key.length + (write.value?.length ?? 0)
          }
        }
        this.#queue.putBack(jobs.splice(count))
        return { jobs, writes, newestTime: this.#options.newestTime(overlay) }
      })
    } finally {
      this.#isBuilding = false
    }
  }

  /** Determines the outcome of a batch whose commit was sent. The head is locked, so the outcome is final. */
  async #resolveOpenBatch(session: PostgresSession): Promise<void> {
    const open = this.#open
    if (open === undefined) return
    const found = await readBatch(session, open.seq)
    this.#open = undefined
    if (found === open.batch && open.isAcknowledged) for (const job of open.jobs) completeJob(job)
    else if (found === open.batch) this.#unconfirmed.push(...open.jobs)
    else if (found === undefined && this.#follower.progress.seq >= open.seq) {
      for (const job of open.jobs) job.reject(unknownOutcome(this.#failure))
    } else this.#queue.putBack(open.jobs)
  }

  async #openWriter(): Promise<PostgresSession> {
    const session = await this.#follower.openSession(commitTimeoutMs)
    await parseCommit(session)
    return session
  }

  /** Rejects jobs that have waited longer than {@link PostgresOptions.writePatienceMs}. */
  #rejectOldJobs(): void {
    const reason = this.#failure
    const { writePatienceMs = writePatienceDefaultMs } = this.#options
    const patienceMs = this.#isHurried ? Math.min(writePatienceMs, hurriedPatienceMs) : writePatienceMs
    const sinceMs = this.#isClosed ? Number.POSITIVE_INFINITY : this.#options.clock.elapsedMs() - patienceMs
    const rejection = reason instanceof StoreUnavailableError ? reason : rejected(reason)
    for (const job of this.#queue.takeOlderThan(sinceMs)) job.reject(rejection)
    const isOld = ({ arrivedMs }: Job) => arrivedMs < sinceMs
    const old = this.#unconfirmed.filter(isOld)
    this.#unconfirmed = this.#unconfirmed.filter(job => !isOld(job))
    // The log contains the outcome of these jobs, but their clients do not wait any longer.
    for (const job of old) job.reject(unknownOutcome(reason))
    const open = this.#open
    if (!open?.jobs.every(isOld) || this.#options.clock.elapsedMs() - open.sentMs < responseMs) return
    this.#open = undefined
    for (const job of open.jobs) job.reject(open.isAcknowledged ? notApplied() : unknownOutcome(reason))
  }
}

/** The jobs were not committed. `cause` is undefined if the database has not responded. */
function rejected(cause: unknown): StoreUnavailableError {
  const reason = cause === undefined ? 'it does not respond' : causeText(cause)
  return new StoreUnavailableError(`the database of the store does not accept commits: ${reason}`, { cause })
}

/**
 * A committed write that the replica of this node cannot show. The outcome is reported as `unknown`, because programs
 * repeat a write that is reported as not committed. The message says that the write was committed.
 */
function notApplied(): StoreUnavailableError {
  return new StoreUnavailableError(
    'this was committed, but the replica of the store on this node cannot be updated: check on another node before repeating it',
    { outcome: 'unknown' },
  )
}

/** `cause`: why the last attempt to commit failed; undefined if no attempt failed. */
function unknownOutcome(cause: unknown): StoreUnavailableError {
  const before = cause === undefined ? '' : `; the previous attempt failed: ${causeText(cause)}`
  return new StoreUnavailableError(
    `the outcome of this commit is unknown: it may have been committed, or not${before}`,
    { cause, outcome: 'unknown' },
  )
}
