// The slow lane of a service: a few processes over the same data, one of them kept ready, the others started when they are
// needed and ended when they are not. Queries wait for them in turns of their databases, and none has all of them while others wait. A process that is
// past the time of its query, stuck in whatever it does, is killed.
//
// The lane replaces a process whose memory does not come back after a query. Until the new one is ready, its place still counts for
// that database, as if the query went on; and for a while that database gets a process only when others have one ready. The old
// process serves other databases meanwhile. The new one evaluates their queries again if the old one lacks memory for them.

import { Allowances } from '../../base/allowance.ts'
import type { Clock } from '../../base/clock.ts'
import { RequestError } from '../../base/errors.ts'
import { FairQueue } from '../../base/fair-queue.ts'
import { limits } from '../../base/limits.ts'
import { msg } from '../../base/message.ts'
import type { Cancel, Timers } from '../../base/timers.ts'
import { Leads } from '../leads.ts'
import { LongQueries } from '../long-queries.ts'
import { ProcessShares } from '../process-shares.ts'
import type { LaneJob, LaneOutcome, ProcessShare, SlowLane } from '../slow-lane.ts'
import { type LaneOptions, LaneProcess } from './lane-process.ts'

interface SlowLaneOptions extends LaneOptions {
  /** Milliseconds that a query may hold the process that serves all others. */
  readonly afterMs: number
  readonly processesMax: number
  readonly timers: Timers
  readonly clock: Clock
  /** Milliseconds that this thread has waited for a processor so far. */
  readonly starvedMs: () => number
}

/** How busy a slow lane is. */
interface LaneStanding {
  /** Processes that there are now, and that there may be. */
  readonly processes: number
  readonly processesMax: number
  /** Queries that are evaluated, and that wait for it. */
  readonly running: number
  readonly waiting: number
}

interface Waiting {
  readonly job: LaneJob
  /** By the clock's milliseconds. */
  readonly deadlineMs: number
  readonly resolve: (outcome: LaneOutcome) => void
  readonly reject: (error: unknown) => void
  cancel: Cancel
}

/** A process that serves others than `queue`, whose query has spent it, until the one that replaces it in `place` is ready. */
interface Retiring {
  readonly queue: string
  readonly place: number
}

/** About how many queues are remembered that have spent a process. */
const spendersMax = 1000

const outOfTime = () => new RequestError('time out', msg`Read timed out.`)

/** The slow lane of one process that serves. */
export class ProcessLane implements SlowLane {
  readonly #options: SlowLaneOptions
  readonly leads = new Leads()
  readonly longQueries: LongQueries
  readonly #waiting = new FairQueue<Waiting>()
  readonly #shares: ProcessShares
  /** By place; a process without a job is idle. */
  readonly #processes: (LaneProcess | undefined)[]
  readonly #jobs = new Map<LaneProcess, Waiting>()
  readonly #idle = new Map<LaneProcess, Cancel>()
  /** Queues that have spent the processes of these places, which are being replaced. */
  readonly #replacedFor = new Map<number, string>()
  readonly #retiring = new Map<LaneProcess, Retiring>()
  /** Queues that have spent a process not long ago: how long that is remembered, as what they owe in milliseconds. */
  readonly #spenders: Allowances<string>
  #isClosed = false
  /** Processes that are not ready yet. */
  #starting = 0
  /** Queries taken in since the start. */
  taken = 0

  constructor(options: SlowLaneOptions) {
    this.#options = options
    this.#shares = new ProcessShares(options.afterMs, options.clock, options.starvedMs, queue =>
      this.isCrowded(queue),
    )
    this.longQueries = new LongQueries(queue => this.#shares.msOf(queue))
    this.#processes = new Array(options.processesMax).fill(undefined)
    const passing = { max: 0, perSecond: 1000 }
    this.#spenders = new Allowances(passing, spendersMax, () => options.clock.elapsedMs())
  }

  share(queue: string): ProcessShare {
    return this.#shares.share(queue)
  }

  isCrowded(queue: string): boolean {
    return this.#waiting.lengthOf(queue) >= limits.laneWaitingPerDatabaseMax / 2
  }

  run(job: LaneJob): Promise<LaneOutcome> {
    const { clock } = this.#options
    this.taken++
    if (this.#isClosed) return Promise.reject(outOfTime())
    if (
      this.#waiting.size >= limits.laneWaitingMax ||
      this.#waiting.lengthOf(job.queue) >= limits.laneWaitingPerDatabaseMax
    ) {
      const text = msg`Too many long queries are waiting.`
      return Promise.reject(new RequestError('too many requests', text))
    }
    return new Promise((resolve, reject) => {
      const deadlineMs = clock.elapsedMs() + job.timeoutMs
      this.#wait({ job, deadlineMs, resolve, reject, cancel: () => {} })
    })
  }

  #wait(waiting: Waiting): void {
    const { clock, timers } = this.#options
    const { job, deadlineMs, reject } = waiting
    waiting.cancel = timers.after(deadlineMs - clock.elapsedMs(), () => {
      this.#waiting.remove([job.queue], waiting)
      reject(outOfTime())
    })
    this.#waiting.add([job.queue], waiting)
    this.#advance()
  }

  /** How busy the lane is now. */
  get standing(): LaneStanding {
    return {
      processes: this.#processes.filter(process => process !== undefined).length,
      processesMax: this.#options.processesMax,
      running: this.#jobs.size,
      waiting: this.#waiting.size,
    }
  }

  /** Has a process ready from soon on, before there is any job for it: starting one takes the first query long. */
  keepReady(): void {
    this.#options.timers.after(limits.laneReadyMs, () => {
      if (!this.#isClosed && this.#processes.every(process => process === undefined)) this.#open(0)
    })
  }

  /**
   * Ends all processes; what they evaluate is answered as out of time. What they commit is waited for, but not for long: the
   * database of a shared store may never answer.
   */
  async close(): Promise<void> {
    this.#isClosed = true
    for (let next = this.#waiting.take(); next; next = this.#waiting.take()) {
      next.cancel()
      next.reject(outOfTime())
    }
    const processes = [...this.#processes, ...this.#retiring.keys()].filter(process => process !== undefined)
    for (const process of processes) if (!process.isCommitting) process.kill(outOfTime())
    const cancel = this.#options.timers.after(limits.laneEndGraceMs, () => {
      for (const process of processes) process.kill()
    })
    await Promise.all(processes.map(({ ended }) => ended))
    cancel()
  }

  /** Gives waiting jobs to processes that have none, and starts as many as are missing. */
  #advance(): void {
    for (const process of this.#processes) {
      if (!process?.isReady || process.hasEnded || this.#jobs.has(process)) continue
      const next = this.#waiting.take(queue => this.#mayRun(queue))
      // The next may need a process more: see #mayRun.
      if (!next) break
      this.#start(process, next)
    }
    for (const [process, { queue: spender }] of this.#retiring) {
      if (process.hasEnded || this.#jobs.has(process)) continue
      const next = this.#waiting.take(queue => queue !== spender && this.#mayRun(queue))
      if (next) this.#start(process, next)
    }
    for (let missing = this.#waiting.size - this.#starting; missing > 0; missing--) {
      const place = this.#isClosed ? -1 : this.#processes.indexOf(undefined)
      if (place < 0) return
      this.#open(place)
    }
  }

  /** One process at least is left to other databases, when there are several. */
  #mayRun(queue: string): boolean {
    const { processesMax } = this.#options
    let running = 0
    for (const { job } of this.#jobs.values()) if (job.queue === queue) running++
    for (const spender of this.#replacedFor.values()) if (spender === queue) running++
    if (running >= Math.max(1, processesMax - 1)) return false
    return processesMax === 1 || this.#spenders.left(queue) >= 0 || this.#leavesOne(queue)
  }

  /** Returns whether other databases have a process that is ready when `queue` takes another one. */
  #leavesOne(queue: string): boolean {
    let others = 0
    for (const process of this.#processes) {
      if (!process?.isReady || process.hasEnded) continue
      if (this.#jobs.get(process)?.job.queue !== queue) others++
    }
    return others > 1
  }

  #start(process: LaneProcess, waiting: Waiting): void {
    const { clock, timers } = this.#options
    this.#idle.get(process)?.()
    this.#idle.delete(process)
    this.#jobs.set(process, waiting)
    waiting.cancel()
    const leftMs = Math.max(1, waiting.deadlineMs - clock.elapsedMs())
    // The process looks at the clock itself; whatever keeps it from that is ended.
    waiting.cancel = timers.after(leftMs + limits.laneGraceMs, () => process.kill(outOfTime()))
    const isRetiring = this.#retiring.has(process)
    /** The query has had no effect, and would have had enough memory elsewhere. */
    const isToRunAgain = () => isRetiring && process.hasLacked && !this.#isClosed
    const { body, longBody, ...request } = waiting.job.request
    const { lead, now, snapshotTime } = waiting.job
    const job = {
      kind: 'job',
      request: { ...request, timeoutMs: leftMs },
      form: longBody !== undefined ? 'as it came' : body === undefined ? 'none' : 'text',
      snapshotTime,
      now: now(),
      lead,
    } as const
    process
      .run(job, longBody?.pieces ?? (body === undefined ? [] : [Buffer.from(body)]), {
        // A process that commits is waited for: if it were killed, the outcome would be unknown.
        onCommit: () => waiting.cancel(),
        onOver: () => this.#done(process, waiting),
      })
      .then(
        outcome => (isToRunAgain() ? this.#wait(waiting) : waiting.resolve(outcome)),
        error => (isToRunAgain() ? this.#wait(waiting) : waiting.reject(error)),
      )
  }

  /** A process takes its time to start; the jobs meanwhile wait in line, and their time does not end it. */
  #open(place: number): void {
    const process = new LaneProcess(this.#options)
    this.#processes[place] = process
    this.#starting++
    void Promise.race([process.ready, process.ended]).then(() => {
      this.#starting--
      this.#replacedFor.delete(place)
      if (!process.hasEnded) this.#rest(process)
      this.#endRetired()
      this.#advance()
    })
    void process.ended.then(() => {
      this.#idle.get(process)?.()
      this.#idle.delete(process)
      if (this.#retiring.delete(process)) return
      // What cannot even start is not tried again at once.
      if (this.#replacedFor.has(place) && !this.#isClosed) this.#open(place)
      else if (process.isReady) this.#vacate(place)
      else this.#options.timers.after(limits.laneRestartMs, () => this.#vacate(place))
    })
  }

  #vacate(place: number): void {
    this.#processes[place] = undefined
    this.#advance()
  }

  /** Ends a process that gets nothing to do for long, unless it is the last: starting one takes the next query long. */
  #rest(process: LaneProcess): void {
    this.#idle.set(
      process,
      this.#options.timers.after(limits.laneIdleMs, () => {
        if (this.#idle.size === 1) return
        this.#idle.delete(process)
        process.kill()
      }),
    )
  }

  #done(process: LaneProcess, waiting: Waiting): void {
    waiting.cancel()
    this.#jobs.delete(process)
    if (this.#isClosed) process.kill(outOfTime())
    else if (this.#retiring.has(process)) this.#endRetired(process.hasLacked ? process : undefined)
    else if (process.isSpent) this.#replace(process, waiting.job.queue)
    else if (!process.hasEnded) this.#rest(process)
    this.#advance()
  }

  #replace(process: LaneProcess, queue: string): void {
    const place = this.#processes.indexOf(process)
    this.#replacedFor.set(place, queue)
    this.#spenders.take(queue, limits.laneIdleMs - this.#spenders.waitMs(queue))
    // Of a process that has ended, its end has the place filled.
    if (process.hasEnded) return
    this.#retiring.set(process, { queue, place })
    this.#open(place)
  }

  /** Ends those whose replacement is ready, when they have no job, and one that has `lacked` memory for its last. */
  #endRetired(lacked?: LaneProcess): void {
    for (const [process, { place }] of this.#retiring) {
      const isOver = process === lacked || !this.#replacedFor.has(place)
      if (isOver && !this.#jobs.has(process)) process.kill()
    }
  }
}
