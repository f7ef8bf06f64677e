// Several processes behind one port (`--workers`). The first process serves nothing itself: it owns the port, hands
// each new connection to the next worker in turn, starts workers again when they end, and passes on the signal to stop.

import cluster, { type Worker } from 'node:cluster'
import type { Socket } from 'node:net'
import type { Logger } from 'pino'
import type { Clock } from '../base/clock.ts'
import { type NoticeBoard, noticesEveryMs } from '../base/notices.ts'
import { type Cancel, stayAlive, type Timers, wait } from '../base/timers.ts'
import type { ListenAddress } from '../server/http/listener.ts'
import { Distributor, handover } from './distributor.ts'
import { killSelf } from './fatal.ts'

interface SupervisorOptions {
  readonly count: number
  /** Milliseconds for which the workers still take connections when they are to stop. */
  readonly noticeMs: number
  /** Milliseconds a worker has for its requests in flight; some more, and it is killed. */
  readonly graceMs: number
  /** The identity of the data directory that is served. */
  readonly folder: () => string
  readonly log: Logger
  readonly timers: Timers
  readonly clock: Clock
  /**
   * Makes what the workers share anew, if it is worthless. Run, while none of them lives, when one has ended with
   * `worthlessStatus` or some have crashed; tried again until it succeeds.
   */
  readonly renew?: { readonly worthlessStatus: number; readonly prepare: () => Promise<void> }
  /** Takes connections while no worker can, before the first start and while things are made anew; absent: they wait. */
  readonly takeEarly?: (connection: Socket) => void
}

const variable = 'TERRARIUM_WORKER_NUMBER'

const folderVariable = 'TERRARIUM_WORKER_FOLDER'

/** In a worker: the identity of the data directory that the supervisor holds. */
export function workerFolder(): string {
  return process.env[folderVariable] as string
}

/** The number of this worker: 0 to count - 1, the same for the process that replaces it. */
export function workerNumber(): number {
  return Number(process.env[variable])
}

/** What a worker tells the supervisor: that it can be given one connection (more), or that it stops. */
type Report = 'free' | 'stopping'

/** What a worker tells all others, by way of the supervisor. */
interface Notice {
  readonly notice: string
}

function noticeIn(message: unknown): Notice | undefined {
  const { notice } = (message ?? {}) as Partial<Notice>
  return typeof notice === 'string' ? { notice } : undefined
}

/** In a worker: exchanges notices with the other workers; returns the way to stop. */
export function exchangeNotices(board: NoticeBoard, timers: Timers): Cancel {
  process.on('message', message => {
    const found = noticeIn(message)
    if (found) board.receive(found.notice)
  })
  return timers.every(noticesEveryMs, () => {
    const notice = board.collect()
    if (notice !== undefined) process.send?.({ notice } satisfies Notice)
  })
}

/**
 * In a worker: ends this process at once should its supervisor be gone.
 */
export function endWithSupervisor(): void {
  const end = () => {
    if (cluster.worker?.exitedAfterDisconnect !== true) killSelf()
  }
  // Before the listener of node:cluster, which exits cleanly.
  process.prependListener('disconnect', end)
  // What is told to one that has just gone fails.
  cluster.worker?.on('error', end)
}

/** In a worker: serves connections that the supervisor hands over. Returns how to say that there shall be no more. */
export function takeConnections(take: (connection: Socket) => void): () => void {
  const report = (report: Report) => process.send?.(report)
  let isStopping = false
  process.on('message', (message: unknown, connection?: Socket) => {
    if (message !== handover) return
    if (!isStopping) report('free')
    // Absent when its client has left in the meantime.
    if (connection) take(connection)
  })
  report('free')
  return () => {
    isStopping = true
    report('stopping')
  }
}

/** Milliseconds until a worker that has ended is started again, at first; doubled each time it ends soon. */
const restartDelayMs = 50
const restartDelayMaxMs = 10_000
/** A worker that has lived for so long, in milliseconds, is started again without delay. */
const soundMs = 10_000
/** Milliseconds beyond the grace that a worker has to close its store. */
const closingMs = 10_000

/** By these the runtime, or a library of it, ends a process when memory or a mapped file is not what it can be. */
const crashSignals: ReadonlySet<string> = new Set(['SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGSEGV'])

/** One crash may be for want of memory, and looking through what is shared takes all workers from their clients. */
const crashesMax = 2

interface End {
  readonly code: number | null
  readonly signal: string | null
  /** What kept it from starting. */
  readonly reason?: string
}

/** One run of a worker. */
interface Run {
  readonly worker: Worker
  /** Whether it came to serve before it ended. */
  readonly serving: Promise<boolean>
  readonly ended: Promise<End>
}

/** Starts the workers, starts those again that end, and hands out what is shared. */
export class Supervisor {
  readonly #options: SupervisorOptions
  readonly #distributor = new Distributor()
  readonly #runs = new Map<number, Run>()
  readonly #letGo = stayAlive()
  /** Under way while what the workers share is made anew. */
  #renewing: Promise<void> | undefined
  /** Since things were made anew. */
  #crashes = 0
  #isStopping = false

  constructor(options: SupervisorOptions) {
    this.#options = options
  }

  /** Starts to accept connections; resolves with the port. Rejects when the address is not available. */
  listen(address: ListenAddress): Promise<number> {
    this.#divert()
    return this.#distributor.listen(address)
  }

  /** Starts all workers; resolves with whether all serve. If one could not start, the others are stopped. */
  async start(): Promise<boolean> {
    const numbers = Array.from({ length: this.#options.count }, (_, at) => at)
    // The first alone, so that what keeps all of them from starting is said once.
    const isServing =
      (await this.#run(0).serving) &&
      (await Promise.all(numbers.slice(1).map(number => this.#run(number).serving))).every(Boolean)
    if (isServing) for (const number of numbers) void this.#keepRunning(number)
    else await this.stop()
    return isServing
  }

  /** Ends all workers, each after what it has in flight. */
  async stop(): Promise<void> {
    const { graceMs, noticeMs, timers } = this.#options
    this.#isStopping = true
    const runs = [...this.#runs.values()]
    for (const { worker } of runs) worker.process.kill('SIGTERM')
    if (noticeMs > 0) await wait(noticeMs, timers)
    this.#distributor.close()
    const cancel = timers.after(graceMs + closingMs, () => {
      for (const { worker } of runs) worker.process.kill('SIGKILL')
    })
    await Promise.all(runs.map(({ ended }) => ended))
    cancel()
    this.#letGo()
  }

  #divert(): void {
    const { takeEarly } = this.#options
    if (takeEarly) this.#distributor.divert(takeEarly)
  }

  #run(number: number): Run {
    const worker = cluster.fork({ [variable]: String(number), [folderVariable]: this.#options.folder() })
    const ended = new Promise<End>(resolve => {
      const end = (how: End) => {
        this.#distributor.withdraw(worker)
        resolve(how)
      }
      worker.once('exit', (code, signal) => end({ code, signal }))
      // It could not be started: there are no descriptors, or no processes, left.
      worker.on('error', ({ message }) => end({ code: null, signal: null, reason: message }))
    })
    const serving = new Promise<boolean>(resolve => {
      worker.on('message', (report: Report | Notice) => {
        const notice = noticeIn(report)
        if (notice) this.#passOn(worker, notice)
        if (report === 'stopping') this.#distributor.withdraw(worker)
        if (report !== 'free') return
        this.#distributor.free(worker)
        resolve(true)
      })
      void ended.then(() => resolve(false))
    })
    const run = { worker, serving, ended }
    this.#runs.set(number, run)
    return run
  }

  #passOn(from: Worker, notice: Notice): void {
    // One that is ending need not know.
    for (const { worker } of this.#runs.values())
      if (worker !== from && worker.isConnected()) worker.process.send(notice, () => undefined)
  }

  /** Ends all workers, whose common state is worthless, and has it made anew. */
  async #renew(): Promise<void> {
    const { log, renew, timers } = this.#options
    const runs = [...this.#runs.values()]
    for (const { worker } of runs) worker.process.kill('SIGKILL')
    await Promise.all(runs.map(({ ended }) => ended))
    this.#crashes = 0
    this.#divert()
    for (
      let delayMs = restartDelayMs;
      !this.#isStopping;
      delayMs = Math.min(delayMs * 2, restartDelayMaxMs)
    ) {
      try {
        await renew?.prepare()
        break
      } catch (cause) {
        log.error({ err: cause }, 'what the workers share could not be made anew; it will be tried again')
        await wait(delayMs, timers)
      }
    }
    this.#renewing = undefined
  }

  #mayBeWorthless(code: number | null, signal: string | null): boolean {
    const { renew } = this.#options
    if (renew === undefined) return false
    if (signal !== null && crashSignals.has(signal)) this.#crashes++
    return code === renew.worthlessStatus || this.#crashes >= crashesMax
  }

  /** Starts a worker again whenever it ends; the longer it takes to live, the later. */
  async #keepRunning(number: number): Promise<void> {
    const { clock, log, timers } = this.#options
    let delayMs = restartDelayMs
    for (;;) {
      const startedMs = clock.elapsedMs()
      const { code, signal, reason } = await (this.#runs.get(number) as Run).ended
      if (this.#isStopping) return
      if (this.#mayBeWorthless(code, signal)) this.#renewing ??= this.#renew()
      if (this.#renewing) await this.#renewing
      else {
        const isSound = clock.elapsedMs() - startedMs >= soundMs
        delayMs = isSound ? restartDelayMs : Math.min(delayMs * 2, restartDelayMaxMs)
        log.error(
          { worker: number, code, signal, reason, delayMs },
          'a worker has ended and will be started again',
        )
        await wait(delayMs, timers)
      }
      if (this.#isStopping) return
      this.#run(number)
    }
  }
}
