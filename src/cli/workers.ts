// Several worker processes behind one port (`--workers`). The first process is the supervisor: it owns the port, passes
// each new connection to a worker, restarts workers that exit, and forwards the signal to stop.

import cluster, { type Worker } from 'node:cluster'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Logger } from 'pino'
import type { Clock } from '../base/clock.ts'
import { type NoticeBoard, noticesEveryMs } from '../base/notices.ts'
import { type Cancel, stayAlive, type Timers, wait } from '../base/timers.ts'
import type { ListenAddress } from '../server/http/listener.ts'
import { Distributor, handover } from './distributor.ts'
import { killSelf } from './fatal.ts'

interface SupervisorOptions {
  readonly count: number
  /** Milliseconds for which the workers still accept connections after the signal to stop. */
  readonly stopNoticeMs: number
  /** Milliseconds for a worker to finish its requests in flight. A worker that takes much longer is killed. */
  readonly graceMs: number
  /** Returns the identity of the claimed data directory. */
  readonly identity: () => string
  readonly log: Logger
  readonly timers: Timers
  readonly clock: Clock
  /**
   * Rebuilds the replica that the workers share, after a worker has exited with `divergedStatus` or several have
   * crashed. `prepare` runs while no worker is alive, and is repeated until it succeeds.
   */
  readonly rebuild?: { readonly divergedStatus: number; readonly prepare: () => Promise<void> }
  /** Commits transactions for a worker. If undefined, workers commit themselves. */
  readonly commitFor?: (socket: Duplex) => void
  /** Present when this process commits. */
  readonly notices?: NoticeBoard
  /** Handles connections before the first start and during a rebuild. If undefined, these connections wait. */
  readonly handleEarly?: (connection: Socket) => void
}

const numberVariable = 'TERRARIUM_WORKER_NUMBER'

/** Descriptor of a worker's socket to the process that commits. Lower descriptors are the standard streams and IPC. */
const committerDescriptor = 4

const identityVariable = 'TERRARIUM_DIRECTORY_IDENTITY'

/** Returns, in a worker, the identity of the data directory that the supervisor has claimed. */
export function claimedIdentity(): string {
  return process.env[identityVariable] as string
}

/** Returns a number from 0 to count - 1. A restarted worker has the same number. */
export function workerNumber(): number {
  return Number(process.env[numberVariable])
}

/** Returns the socket of a worker to the supervisor, which commits for the worker. */
export function committerSocket(): Duplex {
  return new Socket({ fd: committerDescriptor })
}

/** A message of a worker to the supervisor: the worker can receive one more connection, or it stops. */
type Report = 'free' | 'stopping'

/** The message with a notice (base/notices.ts). The supervisor forwards a worker's notice to all other workers. */
interface NoticeMessage {
  readonly notice: string
}

function noticeIn(message: unknown): NoticeMessage | undefined {
  const { notice } = (message ?? {}) as Partial<NoticeMessage>
  return typeof notice === 'string' ? { notice } : undefined
}

/** Exchanges notices of a worker with the supervisor. Returns a function that stops the exchange. */
export function exchangeNotices(board: NoticeBoard, timers: Timers): Cancel {
  process.on('message', message => {
    const found = noticeIn(message)
    if (found) board.receive(found.notice)
  })
  return timers.every(noticesEveryMs, () => {
    const notice = board.collect()
    if (notice !== undefined) process.send?.({ notice } satisfies NoticeMessage)
  })
}

/** Kills this worker when its supervisor has exited without stopping the worker. */
export function endWithSupervisor(): void {
  const end = () => {
    if (cluster.worker?.exitedAfterDisconnect !== true) killSelf()
  }
  // Runs before the listener of node:cluster, which would exit cleanly.
  process.prependListener('disconnect', end)
  // Sending fails if the supervisor has just exited.
  cluster.worker?.on('error', end)
}

/** Serves, in a worker, connections from the supervisor. Returns a function that makes the supervisor send no more. */
export function takeConnections(take: (connection: Socket) => void): () => void {
  const report = (report: Report) => process.send?.(report)
  let isStopping = false
  process.on('message', (message: unknown, connection?: Socket) => {
    if (message !== handover) return
    if (!isStopping) report('free')
    // The connection is undefined when the client has disconnected in the meantime.
    if (connection) take(connection)
  })
  report('free')
  return () => {
    isStopping = true
    report('stopping')
  }
}

/**
 * Milliseconds until an exited worker is restarted. The delay doubles each time the worker exits soon after its start.
 */
const restartDelayMs = 50
const restartDelayMaxMs = 10_000
/** Milliseconds of life after which a worker is restarted with the shortest delay. */
const stableMs = 10_000
/** Milliseconds that a worker may take to close its store after the grace period. */
const closingMs = 10_000

/** Signals that end a process after a crash. The cause may be a damaged replica, but also a lack of memory. */
const crashSignals: ReadonlySet<string> = new Set(['SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGSEGV'])

/**
 * Number of crashes that cause a rebuild. The cause of a single crash may be a lack of memory, and a rebuild
 * disconnects the clients of all workers.
 */
const crashesForRebuild = 2

/** How a worker has exited. */
interface Exit {
  readonly code: number | null
  readonly signal: string | null
  /** Why the worker could not be started. */
  readonly reason?: string
}

interface WorkerProcess {
  readonly worker: Worker
  /** Resolves with true when the worker serves, with false when the worker exits before. */
  readonly serving: Promise<boolean>
  readonly ended: Promise<Exit>
}

/** Supervises the workers, and distributes connections and notices. */
export class Supervisor {
  readonly #options: SupervisorOptions
  readonly #distributor = new Distributor()
  /** The newest process of each worker, by the number of the worker. */
  readonly #processes = new Map<number, WorkerProcess>()
  readonly #allowExit = stayAlive()
  readonly #stopNotices: Cancel
  /** Defined while the shared replica is being rebuilt. */
  #rebuilding: Promise<void> | undefined
  /** Crashes since the last rebuild. */
  #crashes = 0
  #isStopping = false

  constructor(options: SupervisorOptions) {
    this.#options = options
    this.#stopNotices = options.notices
      ? options.timers.every(noticesEveryMs, () => this.#sendOwn())
      : () => undefined
    if (options.commitFor) cluster.setupPrimary({ stdio: ['inherit', 'inherit', 'inherit', 'ipc', 'pipe'] })
  }

  /** Resolves with the port. Rejects when the address is not available. */
  listen(address: ListenAddress): Promise<number> {
    this.#divert()
    return this.#distributor.listen(address)
  }

  /** Accepts connections on a further port; resolves with the port. */
  listenAlso(address: ListenAddress): Promise<number> {
    return this.#distributor.listenAlso(address)
  }

  /** Resolves with true when all workers serve. If one worker cannot start, the others are stopped. */
  async start(): Promise<boolean> {
    const numbers = Array.from({ length: this.#options.count }, (_, at) => at)
    // Starts the first worker alone, so that a problem of all workers is reported once.
    const isServing =
      (await this.#fork(0).serving) &&
      (await Promise.all(numbers.slice(1).map(number => this.#fork(number).serving))).every(Boolean)
    if (isServing) for (const number of numbers) void this.#superviseWorker(number)
    else await this.stop()
    return isServing
  }

  /** Each worker first finishes its requests in flight. */
  async stop(): Promise<void> {
    const { graceMs, stopNoticeMs, timers } = this.#options
    this.#isStopping = true
    const processes = [...this.#processes.values()]
    for (const { worker } of processes) worker.process.kill('SIGTERM')
    if (stopNoticeMs > 0) await wait(stopNoticeMs, timers)
    this.#distributor.close()
    const cancel = timers.after(graceMs + closingMs, () => {
      for (const { worker } of processes) worker.process.kill('SIGKILL')
    })
    await Promise.all(processes.map(({ ended }) => ended))
    cancel()
    this.#stopNotices()
    this.#allowExit()
  }

  #divert(): void {
    const { handleEarly } = this.#options
    if (handleEarly) this.#distributor.divert(handleEarly)
  }

  #fork(number: number): WorkerProcess {
    const worker = cluster.fork({
      [numberVariable]: String(number),
      [identityVariable]: this.#options.identity(),
    })
    // Absent when no file descriptors were left.
    const socket = worker.process.stdio?.[committerDescriptor] as Duplex | null | undefined
    if (socket) this.#options.commitFor?.(socket)
    const ended = new Promise<Exit>(resolve => {
      const end = (how: Exit) => {
        this.#distributor.withdraw(worker)
        resolve(how)
      }
      worker.once('exit', (code, signal) => end({ code, signal }))
      // The worker could not start: the system lacks file descriptors or processes.
      worker.on('error', ({ message }) => end({ code: null, signal: null, reason: message }))
    })
    const serving = new Promise<boolean>(resolve => {
      worker.on('message', (report: Report | NoticeMessage) => {
        const notice = noticeIn(report)
        if (notice) {
          this.#send(notice, worker)
          this.#options.notices?.receive(notice.notice)
        }
        if (report === 'stopping') this.#distributor.withdraw(worker)
        if (report !== 'free') return
        this.#distributor.free(worker)
        resolve(true)
      })
      void ended.then(() => resolve(false))
    })
    const started = { worker, serving, ended }
    this.#processes.set(number, started)
    return started
  }

  #send(notice: NoticeMessage, from?: Worker): void {
    // A worker that is exiting does not need the notice.
    for (const { worker } of this.#processes.values())
      if (worker !== from && worker.isConnected()) worker.process.send(notice, () => undefined)
  }

  #sendOwn(): void {
    const notice = this.#options.notices?.collect()
    if (notice !== undefined) this.#send({ notice })
  }

  /** Kills all workers, because their shared replica is invalid, and rebuilds it. */
  async #rebuild(): Promise<void> {
    const { log, rebuild, timers } = this.#options
    const processes = [...this.#processes.values()]
    for (const { worker } of processes) worker.process.kill('SIGKILL')
    await Promise.all(processes.map(({ ended }) => ended))
    this.#crashes = 0
    this.#divert()
    for (
      let delayMs = restartDelayMs;
      !this.#isStopping;
      delayMs = Math.min(delayMs * 2, restartDelayMaxMs)
    ) {
      try {
        await rebuild?.prepare()
        break
      } catch (cause) {
        log.error({ err: cause }, 'cannot rebuild the replica that the workers share; trying again')
        await wait(delayMs, timers)
      }
    }
    this.#rebuilding = undefined
  }

  /** Counts a crash, and returns whether the shared replica must be rebuilt. */
  #needsRebuild({ code, signal }: Exit): boolean {
    const { rebuild } = this.#options
    if (rebuild === undefined) return false
    if (signal !== null && crashSignals.has(signal)) this.#crashes++
    return code === rebuild.divergedStatus || this.#crashes >= crashesForRebuild
  }

  /** Restarts a worker whenever it exits. The delay grows while the worker exits soon after its start. */
  async #superviseWorker(number: number): Promise<void> {
    const { clock, log, timers } = this.#options
    let delayMs = restartDelayMs
    for (;;) {
      const startedMs = clock.elapsedMs()
      const exit = await (this.#processes.get(number) as WorkerProcess).ended
      if (this.#isStopping) return
      if (this.#needsRebuild(exit)) this.#rebuilding ??= this.#rebuild()
      if (this.#rebuilding === undefined) {
        const isStable = clock.elapsedMs() - startedMs >= stableMs
        delayMs = isStable ? restartDelayMs : Math.min(delayMs * 2, restartDelayMaxMs)
        log.error({ worker: number, ...exit, delayMs }, 'a worker has exited and will be restarted')
        await wait(delayMs, timers)
      }
      // A rebuild may also have begun during the delay.
      while (this.#rebuilding) await this.#rebuilding
      if (this.#isStopping) return
      this.#fork(number)
    }
  }
}
