// The slow lane of a service: a few processes that evaluate long queries on the data of the service. One process stays
// ready; further ones are started on demand and exit after an idle time. Each database has a queue of waiting queries.
// The queues take turns, and no queue uses all processes while other queues wait. A process that is still busy after
// the deadline of its query is killed.
//
// A process is replaced if the memory of its finished query is not freed. Until the replacement is ready, the old
// process runs no more queries of the database whose query used up the memory, but queries of other databases. If it
// runs out of memory, its query is evaluated again in another process.
//
// The database whose query used up the memory gets fewer processes. A replacement that is not ready counts as one of
// its processes. For some time, this database gets a process only if another process remains free for other databases.

import { FairQueue } from '../../base/admission/fair-queue.ts'
import { debtRepaidByTime, RateLimit } from '../../base/admission/rate-limit.ts'
import { TimeBudget } from '../../base/admission/time-budget.ts'
import type { Clock } from '../../base/clock.ts'
import { msg } from '../../base/message.ts'
import { RequestError } from '../../base/request-errors.ts'
import type { Cancel, Timers } from '../../base/timers.ts'
import { LongQueries } from '../long-queries.ts'
import { type LaneJob, type LaneOutcome, Leads, type SlowLane } from '../slow-lane-contract.ts'
import { type LaneOptions, LaneProcess } from './lane-process.ts'

export const slowLaneLimits = {
  /** Maximum number of queries that wait for the slow lane; own limit. */
  laneWaitingMax: 1000,
  /** Maximum number of queries of one database that wait for the slow lane; own limit. */
  laneWaitingPerDatabaseMax: 100,
  /** Milliseconds that a service waits at shutdown for commits of its slow lane; own limit. */
  laneEndGraceMs: 8_000,
  /** Milliseconds after a query's deadline until its slow-lane process is killed; own limit. */
  laneGraceMs: 250,
  /** Milliseconds until an idle slow-lane process is killed; own limit. */
  laneIdleMs: 60_000,
  /** Milliseconds from the start of a service until the first slow-lane process is started; own limit. */
  laneReadyMs: 1000,
  /** Milliseconds until the start of a slow-lane process is tried again after a failure; own limit. */
  laneRestartMs: 1000,
} as const

interface SlowLaneOptions extends LaneOptions {
  /** Milliseconds for which a query may block the main process before it moves to the slow lane. */
  readonly afterMs: number
  readonly processesMax: number
  readonly timers: Timers
  readonly clock: Clock
  /** Milliseconds that this thread has waited for a CPU so far. */
  readonly starvedMs: () => number
}

interface LaneLoad {
  readonly processes: number
  readonly processesMax: number
  readonly running: number
  readonly waiting: number
}

interface QueuedJob {
  readonly job: LaneJob
  /** Path in the queue of waiting jobs: the queue of the job, then its owner. */
  readonly path: readonly string[]
  /** Deadline in milliseconds of the monotonic clock. */
  readonly deadlineMs: number
  readonly resolve: (outcome: LaneOutcome) => void
  readonly reject: (error: unknown) => void
  cancel: Cancel
}

/**
 * A process that is being replaced, because a query of `queue` has used up its memory. It serves only other queues, and
 * is killed when its replacement is ready. `slot`: the index of the replacement in `#processes`.
 */
interface RetiringProcess {
  readonly queue: string
  readonly slot: number
}

/** Approximate number of queues in `#spenders`. */
const spendersMax = 1000

const outOfTime = () => new RequestError('time out', msg`Read timed out.`)

/** Each service process has one instance. */
export class ProcessLane implements SlowLane {
  readonly #options: SlowLaneOptions
  readonly leads = new Leads()
  readonly #waiting = new FairQueue<QueuedJob>()
  readonly time: TimeBudget
  readonly longQueries: LongQueries
  /** Processes without those that are being replaced. Unused elements are undefined. */
  readonly #processes: (LaneProcess | undefined)[]
  readonly #jobs = new Map<LaneProcess, QueuedJob>()
  readonly #idle = new Map<LaneProcess, Cancel>()
  /**
   * The queue that used up the memory of the old process, by the index in `#processes` of a replacement that is not
   * ready.
   */
  readonly #replacedFor = new Map<number, string>()
  readonly #retiring = new Map<LaneProcess, RetiringProcess>()
  /**
   * Queues that have recently used up the memory of a process. Such a queue has a negative balance, which grows by 1 in
   * each millisecond, and is remembered until its balance is 0.
   */
  readonly #spenders: RateLimit<string>
  #isClosed = false
  /** Processes that were started and are not ready yet. */
  #starting = 0

  constructor(options: SlowLaneOptions) {
    this.#options = options
    this.time = new TimeBudget({
      ms: options.afterMs,
      clock: options.clock,
      starvedMs: options.starvedMs,
      isCrowded: queue => this.isCrowded(queue),
    })
    this.longQueries = new LongQueries(queue => this.time.msOf(queue))
    this.#processes = new Array(options.processesMax).fill(undefined)
    this.#spenders = new RateLimit(debtRepaidByTime, spendersMax, () => options.clock.elapsedMs())
  }

  isCrowded(queue: string): boolean {
    return this.#waiting.lengthOf(queue) >= slowLaneLimits.laneWaitingPerDatabaseMax / 2
  }

  run(job: LaneJob): Promise<LaneOutcome> {
    const { clock } = this.#options
    if (this.#isClosed) return Promise.reject(outOfTime())
    return new Promise((resolve, reject) => {
      const deadlineMs = clock.elapsedMs() + job.timeoutMs
      this.#wait({ job, path: [job.queue, job.ticket.owner], deadlineMs, resolve, reject, cancel: () => {} })
      this.#dropExcess(job.queue)
    })
  }

  #wait(waiting: QueuedJob): void {
    const { clock, timers } = this.#options
    const { job, deadlineMs, path } = waiting
    const leave = (reason: Error) => {
      this.#waiting.remove(path, waiting)
      waiting.cancel()
      waiting.reject(reason)
    }
    const cancelTimer = timers.after(deadlineMs - clock.elapsedMs(), () => leave(outOfTime()))
    let endWait: (() => void) | undefined
    waiting.cancel = () => {
      cancelTimer()
      endWait?.()
    }
    this.#waiting.add(path, waiting)
    endWait = job.ticket.begin(cause => leave(job.ticket.errorOf(cause)))
    this.#advance()
  }

  /** Rejects a waiting job if too many jobs of a queue wait, or too many of all queues. */
  #dropExcess(queue: string): void {
    const { laneWaitingMax, laneWaitingPerDatabaseMax } = slowLaneLimits
    const isQueueFull = this.#waiting.lengthOf(queue) > laneWaitingPerDatabaseMax
    const dropped = isQueueFull
      ? this.#waiting.dropOne(queue)
      : this.#waiting.size > laneWaitingMax
        ? this.#waiting.dropOne()
        : undefined
    dropped?.cancel()
    dropped?.reject(new RequestError('too many requests', msg`Too many long queries are waiting.`))
  }

  get load(): LaneLoad {
    return {
      processes: this.#processes.filter(process => process !== undefined).length,
      processesMax: this.#options.processesMax,
      running: this.#jobs.size,
      waiting: this.#waiting.size,
    }
  }

  /** Starts the first process soon, without a job, so that the first long query does not wait for the start. */
  keepReady(): void {
    this.#options.timers.after(slowLaneLimits.laneReadyMs, () => {
      if (!this.#isClosed && this.#processes.every(process => process === undefined)) this.#open(0)
    })
  }

  /**
   * Kills all processes; running queries fail with `time out`. A process with a commit in progress is killed after its
   * commit, for which this method waits only a limited time, because the database of a shared store may never respond.
   */
  async close(): Promise<void> {
    this.#isClosed = true
    for (let next = this.#waiting.take(); next; next = this.#waiting.take()) {
      next.cancel()
      next.reject(outOfTime())
    }
    const processes = [...this.#processes, ...this.#retiring.keys()].filter(process => process !== undefined)
    for (const process of processes) if (!process.isCommitting) process.kill(outOfTime())
    const cancel = this.#options.timers.after(slowLaneLimits.laneEndGraceMs, () => {
      for (const process of processes) process.kill()
    })
    await Promise.all(processes.map(({ ended }) => ended))
    cancel()
  }

  /** Assigns waiting jobs to idle processes. Starts processes for the remaining jobs. */
  #advance(): void {
    for (const process of this.#processes) {
      if (!process?.isReady || process.hasEnded || this.#jobs.has(process)) continue
      const next = this.#waiting.take(queue => this.#mayRun(queue))
      // No queue with waiting jobs may use a further process now (see #mayRun).
      if (!next) break
      this.#start(process, next)
    }
    for (const [process, { queue: spender }] of this.#retiring) {
      if (process.hasEnded || this.#jobs.has(process)) continue
      const next = this.#waiting.take(queue => queue !== spender && this.#mayRun(queue))
      if (next) this.#start(process, next)
    }
    for (let missing = this.#waiting.size - this.#starting; missing > 0; missing--) {
      const slot = this.#isClosed ? -1 : this.#processes.indexOf(undefined)
      if (slot < 0) return
      this.#open(slot)
    }
  }

  /**
   * A queue may use at most `processesMax - 1` processes, or 1 process if `processesMax` is 1. A queue that has
   * recently used up the memory of a process must also leave a free process.
   */
  #mayRun(queue: string): boolean {
    const { processesMax } = this.#options
    let running = 0
    for (const { job } of this.#jobs.values()) if (job.queue === queue) running++
    for (const spender of this.#replacedFor.values()) if (spender === queue) running++
    if (running >= Math.max(1, processesMax - 1)) return false
    return processesMax === 1 || this.#spenders.left(queue) >= 0 || this.#leavesFreeProcess(queue)
  }

  /** True if a ready process remains for other databases when `queue` takes a further one. */
  #leavesFreeProcess(queue: string): boolean {
    let others = 0
    for (const process of this.#processes) {
      if (!process?.isReady || process.hasEnded) continue
      if (this.#jobs.get(process)?.job.queue !== queue) others++
    }
    return others > 1
  }

  #start(process: LaneProcess, waiting: QueuedJob): void {
    const { clock, timers } = this.#options
    this.#idle.get(process)?.()
    this.#idle.delete(process)
    this.#jobs.set(process, waiting)
    waiting.cancel()
    const remainingMs = Math.max(1, waiting.deadlineMs - clock.elapsedMs())
    // The slow-lane process checks the deadline itself; this timer kills one that does not respond.
    waiting.cancel = timers.after(remainingMs + slowLaneLimits.laneGraceMs, () => process.kill(outOfTime()))
    const isRetiring = this.#retiring.has(process)
    /**
     * The job must run again, because a retiring process ran out of memory. It has written nothing, and another process
     * has more free memory.
     */
    const mustRunAgain = () => isRetiring && process.ranOutOfMemory && !this.#isClosed
    const { body, longBody, ...request } = waiting.job.request
    const { commitLeadMicros, now, snapshotTime } = waiting.job
    const job = {
      kind: 'job',
      request: { ...request, timeoutMs: remainingMs },
      form: longBody !== undefined ? 'as it came' : body === undefined ? 'none' : 'text',
      snapshotTime,
      logSequence: this.#options.logSequence(),
      now: now(),
      commitLeadMicros,
    } as const
    process
      .run(job, longBody?.pieces ?? (body === undefined ? [] : [Buffer.from(body)]), {
        // A kill during a commit would leave its outcome unknown.
        onCommit: () => waiting.cancel(),
        onOver: () => this.#done(process, waiting),
      })
      .then(
        outcome => (mustRunAgain() ? this.#wait(waiting) : waiting.resolve(outcome)),
        error => (mustRunAgain() ? this.#wait(waiting) : waiting.reject(error)),
      )
  }

  /**
   * Jobs wait in the queue until the process is ready, so that the deadline of a job does not kill a starting process.
   */
  #open(slot: number): void {
    const process = new LaneProcess(this.#options)
    this.#processes[slot] = process
    this.#starting++
    void Promise.race([process.ready, process.ended]).then(() => {
      this.#starting--
      this.#replacedFor.delete(slot)
      if (!process.hasEnded) this.#markIdle(process)
      this.#endRetired()
      this.#advance()
    })
    void process.ended.then(() => {
      this.#idle.get(process)?.()
      this.#idle.delete(process)
      if (this.#retiring.delete(process)) return
      // A pending replacement is started at once. If any other process exited before it was ready, a new one is started
      // only after a delay.
      if (this.#replacedFor.has(slot) && !this.#isClosed) this.#open(slot)
      else if (process.isReady) this.#vacate(slot)
      else this.#options.timers.after(slowLaneLimits.laneRestartMs, () => this.#vacate(slot))
    })
  }

  #vacate(slot: number): void {
    this.#processes[slot] = undefined
    this.#advance()
  }

  /**
   * Kills a process after a long idle time, except for the last idle process, so that the next query need not wait for
   * a start.
   */
  #markIdle(process: LaneProcess): void {
    this.#idle.set(
      process,
      this.#options.timers.after(slowLaneLimits.laneIdleMs, () => {
        if (this.#idle.size === 1) return
        this.#idle.delete(process)
        process.kill()
      }),
    )
  }

  #done(process: LaneProcess, waiting: QueuedJob): void {
    waiting.cancel()
    this.#jobs.delete(process)
    if (this.#isClosed) process.kill(outOfTime())
    else if (this.#retiring.has(process)) this.#endRetired(process.ranOutOfMemory ? process : undefined)
    else if (process.isExhausted) this.#replace(process, waiting.job.queue)
    else if (!process.hasEnded) this.#markIdle(process)
    this.#advance()
  }

  #replace(process: LaneProcess, queue: string): void {
    const slot = this.#processes.indexOf(process)
    this.#replacedFor.set(slot, queue)
    // The queue is remembered from now on for as long as an idle process lives.
    this.#spenders.take(queue, slowLaneLimits.laneIdleMs - this.#spenders.waitMs(queue))
    // If the process has already exited, its exit handler starts the replacement.
    if (process.hasEnded) return
    this.#retiring.set(process, { queue, slot })
    this.#open(slot)
  }

  /**
   * Kills each retiring process without a job, if its replacement is ready. `ranOutOfMemory`: a process whose last job
   * ran out of memory, which is killed even if its replacement is not ready.
   */
  #endRetired(ranOutOfMemory?: LaneProcess): void {
    for (const [process, { slot }] of this.#retiring) {
      const isOver = process === ranOutOfMemory || !this.#replacedFor.has(slot)
      if (isOver && !this.#jobs.has(process)) process.kill()
    }
  }
}
