// The engine for several machines: the system of record is a log of committed batches in a database that speaks
// PostgreSQL's wire, and every node reads a local copy that is fed by the log.
//
// A commit is one short transaction of that database: it locks the head row, brings the local copy up to it, runs the
// transactions of the batch on the copy, appends their writes as one log row, moves the head, and commits. A node that
// dies on the way loses its connection, and the database takes everything back. Why so: docs/decisions/0016.

import { assert } from '../../../base/assert.ts'
import { epoch, type Micros, micros } from '../../../base/micros.ts'
import { AnnouncedCommits, commitDistance, type Timeline } from '../../../base/timeline.ts'
import { wait } from '../../../base/timers.ts'
import { allWrites, encodeBatch } from '../batch.ts'
import { CommitQueue, type Job, prepareBatch, runJob, settle } from '../commit-queue.ts'
import type { ForeignBatch, KeyValueStore, View, Work, Write } from '../contract.ts'
import { StoreUnavailableError, wordsOf } from '../errors.ts'
import { Overlay } from '../overlay.ts'
import type { FollowFault } from './faults.ts'
import { Follower, type NodeOptions } from './follower.ts'
import { KeptSession } from './kept-session.ts'
import { appendBatch, type Head, lockHead, parseCommit, readBatch, releaseHead } from './record.ts'
import { RecordClock } from './record-clock.ts'
import { isReserved, type Progress, ReplicaView, readNote } from './replica.ts'
import { commitTimeoutMs, type PostgresSession } from './session.ts'

interface PostgresOptions extends NodeOptions {
  /** Milliseconds that a write waits for a database that is away, before it is refused. */
  readonly writePatienceMs?: number
}

const writePatienceDefaultMs = 10_000
/** The same for writes when the process is about to end. */
const hurriedPatienceMs = 2_000
/** Milliseconds until a database that is away is tried again. */
const retryMs = 200
/** How often, in milliseconds, jobs that have waited too long are refused while a statement is under way. */
const impatienceMs = 500
/** Milliseconds that the answer to a batch is waited for at least: without it the outcome of the batch is unknown. */
const answerMs = 2_000

/** A batch takes no more jobs once its writes have this many bytes. */
const batchBytesMax = 1 << 20
const batchJobsMax = 256

/** Jobs that are committed together. */
interface BuiltBatch {
  readonly jobs: readonly Job[]
  readonly writes: readonly Write[]
  /** The time of the newest commit after the batch, in microseconds. */
  readonly newestTime: Micros
}

/** A batch that was sent to be committed when the connection broke: only the log knows what became of it. */
interface OpenBatch {
  readonly seq: number
  readonly batch: string
  readonly jobs: readonly Job[]
  /** When it was sent, on the steady clock, in milliseconds. */
  readonly sentMs: number
  /** The database has acknowledged it: it only lacks in the copy of this node. */
  readonly isAcknowledged: boolean
}

/** How a node's copy stands to the record. */
export interface Standing extends Progress {
  /** What keeps the copy from following. */
  readonly fault: FollowFault | undefined
  /** How old, in milliseconds, what is read may be. */
  readonly lagMs: number
  /** Batches that the record was ahead of the copy when last seen. */
  readonly behind: number
}

/** Opens the store over a prepared copy and a database that can be reached. */
export async function openPostgres(options: PostgresOptions): Promise<PostgresStore> {
  const store = new PostgresStore(options)
  await store.start()
  return store
}

/** A local copy that follows the shared record, and commits through it. */
export class PostgresStore implements KeyValueStore {
  readonly #options: PostgresOptions
  readonly #local: KeyValueStore
  readonly #clock: RecordClock
  readonly #follower: Follower
  readonly #queue = new CommitQueue()
  readonly #announced = new AnnouncedCommits()
  readonly #session: KeptSession
  #open: OpenBatch | undefined
  /** Jobs whose batch is in the log, but not acknowledged: a synchronous standby may lack it. The next commit decides. */
  #doubtful: Job[] = []
  #committing: Promise<void> | undefined
  /** Why the last attempt to commit has failed. */
  #failure: unknown
  #isClosed = false
  #isHurried = false
  #isBuilding = false
  #onForeign: (batch: ForeignBatch) => void = () => undefined
  /** The head under which the transactions of a batch run. */
  #head: Head | undefined

  constructor(options: PostgresOptions) {
    this.#options = options
    this.#local = options.local
    this.#session = new KeptSession(() => this.#openWriter())
    this.#clock = new RecordClock(() => options.clock.elapsedMs())
    this.#follower = new Follower(options, this.#clock, row => {
      if (row.batch !== this.#open?.batch && row.writes.length > 0) this.#onForeign(row)
    })
  }

  /** Names the store. */
  get storeId(): string {
    const note = readNote(this.#local)
    assert(note !== undefined, 'a copy says what it is a copy of')
    return note.storeId
  }

  /** What transactions of this node may take for the time; see {@link Follower}. */
  readonly timeline: Timeline = {
    now: () => this.#follower.time(),
    announce: atLeast => this.#announced.begin(atLeast, () => this.#clock.now()),
    // The closed time alone decides what a snapshot holds.
    reach: after => {
      const time = this.#follower.time(after)
      return { now: time, upTo: time, isHalted: this.#follower.fault !== undefined }
    },
    closed: () => this.#head?.closed ?? epoch,
  }

  /** Catches up with the record and begins to follow it. */
  start(): Promise<void> {
    return this.#follower.start()
  }

  read<T>(read: (view: View) => T): T {
    assert(!this.#isBuilding, 'a transaction must not read beside its view')
    this.#follower.checkReadable()
    return this.#local.read(view => read(new ReplicaView(view)))
  }

  /** {@link KeyValueStore.ready}. */
  ready(notBefore: number, isLater = false): Promise<void> | undefined {
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

  /** The time of day by the database's clock, in microseconds; never steps back. */
  now(): Micros {
    return this.#clock.now()
  }

  /** How this node's copy stands to the record. */
  get standing(): Standing {
    const { fault, lagMs, progress } = this.#follower
    return { fault, lagMs, ...progress }
  }

  /** The process is about to end: writes wait no longer than a moment for a database that is away. */
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
    const stopWatching = this.#options.timers.every(impatienceMs, () => this.#refuseImpatient())
    // Works that arrive in one turn of the event loop share a batch.
    await Promise.resolve()
    while (this.#isBusy) {
      try {
        await this.#commitBatch()
        this.#failure = undefined
      } catch (error) {
        this.#session.drop()
        this.#failure = error
        this.#refuseImpatient()
        if (this.#isBusy) await wait(retryMs, this.#options.timers)
      }
    }
    stopWatching()
    // In the same turn as the last check of the queue: a later transaction begins anew.
    this.#committing = undefined
  }

  get #isBusy(): boolean {
    return !this.#queue.isEmpty || this.#open !== undefined || this.#doubtful.length > 0
  }

  /** One commit. Throws when the database is away or refuses; the jobs then wait for the next attempt. */
  async #commitBatch(): Promise<void> {
    await this.#follower.approach()
    const session = await this.#session.sound()
    const before = readNote(this.#local)
    const askedMs = this.#options.clock.elapsedMs()
    const head = await lockHead(session)
    this.#clock.learn(head.clock)
    await this.#follower.catchUp(head, before, askedMs)
    await this.#settleOpen(session)
    this.#head = head
    const batch = this.#queue.take(batchJobsMax)
    const isPrepared = await prepareBatch(batch)
    const { jobs, writes, newestTime } = this.#build(isPrepared ? batch : [])
    if (writes.length === 0 && this.#doubtful.length === 0) {
      // They have read what was the newest state after they came, whatever becomes of the connection now.
      for (const job of jobs) settle(job)
      await releaseHead(session)
      return
    }
    const { clock, node, random } = this.#options
    const row = {
      seq: head.seq + 1,
      batch: random.hex(16),
      before: this.#follower.progress.batch,
      node,
      closed: this.#closedBehind(newestTime),
      body: encodeBatch(writes),
    }
    const sentMs = clock.elapsedMs()
    this.#open = { seq: row.seq, batch: row.batch, jobs, sentMs, isAcknowledged: false }
    const { committed, refusal } = await appendBatch(session, row)
    if (committed === 'refused') {
      this.#open = undefined
      this.#queue.putBack(jobs)
      throw refusal ?? new StoreUnavailableError('the database of the store refused to commit')
    }
    // Its jobs may have been told meanwhile that the outcome is unknown.
    this.#open &&= { ...this.#open, isAcknowledged: committed === 'acknowledged' }
    // Not before: a client that does not say what it has seen would not find its write on this node.
    await this.#follower.applyOwn({ ...row, clock: head.clock })
    this.#open = undefined
    this.#doubtful.push(...jobs)
    if (committed === 'doubtful') return
    this.#queue.flushed(clock.elapsedMs() - sentMs)
    for (const job of this.#doubtful.splice(0)) settle(job)
  }

  /**
   * The next commit is at least two later than the newest, and snapshots say so. It is later than now, too, unless it has
   * been given its time already: so there are many times for those who read this state.
   */
  #closedBehind(newestTime: Micros): Micros {
    const announced = this.#announced.oldestBehind(newestTime)
    return Math.max(
      micros(newestTime + commitDistance - 1),
      Math.min(micros(announced - 1), this.#clock.now()),
    )
  }

  /** Runs transactions on the copy, each seeing the writes of those before it. */
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

  /** Finds out what became of a batch whose commit was on its way. The head is locked, so it is decided. */
  async #settleOpen(session: PostgresSession): Promise<void> {
    const open = this.#open
    if (open === undefined) return
    const found = await readBatch(session, open.seq)
    this.#open = undefined
    if (found === open.batch && open.isAcknowledged) for (const job of open.jobs) settle(job)
    else if (found === open.batch) this.#doubtful.push(...open.jobs)
    else if (found === undefined && this.#follower.progress.seq >= open.seq) {
      for (const job of open.jobs) job.reject(unknownOutcome(this.#failure))
    } else this.#queue.putBack(open.jobs)
  }

  async #openWriter(): Promise<PostgresSession> {
    const session = await this.#follower.openSession(commitTimeoutMs)
    await parseCommit(session)
    return session
  }

  /** Refuses jobs that have waited long enough. */
  #refuseImpatient(): void {
    const reason = this.#failure
    const { writePatienceMs = writePatienceDefaultMs } = this.#options
    const patienceMs = this.#isHurried ? Math.min(writePatienceMs, hurriedPatienceMs) : writePatienceMs
    const sinceMs = this.#isClosed ? Number.POSITIVE_INFINITY : this.#options.clock.elapsedMs() - patienceMs
    const refusal = reason instanceof StoreUnavailableError ? reason : refused(reason)
    for (const job of this.#queue.takeOlderThan(sinceMs)) job.reject(refusal)
    const isLate = ({ cameMs }: Job) => cameMs < sinceMs
    const late = this.#doubtful.filter(isLate)
    this.#doubtful = this.#doubtful.filter(run => !isLate(run))
    // The log keeps what became of them; no client waits for it here any more.
    for (const job of late) job.reject(unknownOutcome(reason))
    const open = this.#open
    if (!open?.jobs.every(isLate) || this.#options.clock.elapsedMs() - open.sentMs < answerMs) return
    this.#open = undefined
    for (const job of open.jobs) job.reject(open.isAcknowledged ? notShown() : unknownOutcome(reason))
  }
}

/** `cause` undefined: it has said nothing at all. */
function refused(cause: unknown): StoreUnavailableError {
  const reason = cause === undefined ? 'it does not respond' : wordsOf(cause)
  return new StoreUnavailableError(`the database of the store does not take commits: ${reason}`, { cause })
}

/** `unknown` for programs, which would repeat it otherwise; people can read more. */
function notShown(): StoreUnavailableError {
  return new StoreUnavailableError(
    'this was committed, but the copy of the store on this node cannot be brought up to it: ask another node before doing it again',
    { outcome: 'unknown' },
  )
}

/** `cause`: why the last attempt to commit has failed, if it has. */
function unknownOutcome(cause: unknown): StoreUnavailableError {
  const before = cause === undefined ? '' : `; the attempt before has failed: ${wordsOf(cause)}`
  return new StoreUnavailableError(
    `the database of the store does not tell whether this was committed: it may have been, or not${before}`,
    { cause, outcome: 'unknown' },
  )
}
