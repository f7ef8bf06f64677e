// Several processes behind one port (`--workers`). The first process serves nothing itself: it owns the port, hands
// each new connection to the next worker in turn, starts workers again when they end, and passes on the signal to stop.

import cluster, { type Worker } from 'node:cluster'
import type { Logger } from 'pino'
import type { Clock } from '../base/clock.ts'
import { stayAlive, type Timers, wait } from '../base/timers.ts'

export interface SupervisorOptions {
  readonly count: number
  /** Milliseconds a worker has for its requests in flight; some more, and it is killed. */
  readonly graceMs: number
  readonly log: Logger
  readonly timers: Timers
  readonly clock: Clock
}

const variable = 'TERRARIUM_WORKER_NUMBER'

/** The number of this worker: 0 to count - 1, the same for the process that replaces it. */
export function workerNumber(): number {
  return Number(process.env[variable])
}

/** Tells the supervisor that this worker serves. */
export function workerReady(url: string): void {
  process.send?.({ ready: url })
}

/** Milliseconds until a worker that has ended is started again, at first; doubled each time it ends soon. */
const restartDelayMs = 50
const restartDelayMaxMs = 10_000
/** A worker that has lived for so long, in milliseconds, is started again without delay. */
const soundMs = 10_000
/** Milliseconds beyond the grace that a worker has to close its store. */
const closingMs = 10_000

/** One run of a worker. */
interface Run {
  readonly worker: Worker
  /** The address when it serves, undefined when it ended before. */
  readonly serving: Promise<string | undefined>
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null }>
}

export class Supervisor {
  readonly #options: SupervisorOptions
  readonly #runs = new Map<number, Run>()
  readonly #letGo = stayAlive()
  #isStopping = false

  constructor(options: SupervisorOptions) {
    this.#options = options
    cluster.schedulingPolicy = cluster.SCHED_RR
  }

  /** Starts all workers; resolves with the address when all serve, with undefined when one could not start. */
  async start(): Promise<string | undefined> {
    const numbers = Array.from({ length: this.#options.count }, (_, at) => at)
    // The first alone, so that what keeps all of them from starting is said once.
    const url = await this.#run(0).serving
    const others = numbers.slice(1).map(number => this.#run(number).serving)
    if (url === undefined || (await Promise.all(others)).includes(undefined)) {
      await this.stop()
      return undefined
    }
    for (const number of numbers) void this.#keepRunning(number)
    return url
  }

  /** Ends all workers, each after what it has in flight. */
  async stop(): Promise<void> {
    this.#isStopping = true
    const runs = [...this.#runs.values()]
    const cancel = this.#options.timers.after(this.#options.graceMs + closingMs, () => {
      for (const { worker } of runs) worker.process.kill('SIGKILL')
    })
    for (const { worker } of runs) worker.process.kill('SIGTERM')
    await Promise.all(runs.map(({ ended }) => ended))
    cancel()
    this.#letGo()
  }

  #run(number: number): Run {
    const worker = cluster.fork({ [variable]: String(number) })
    const ended = new Promise<Awaited<Run['ended']>>(resolve => {
      worker.once('exit', (code, signal) => resolve({ code, signal }))
    })
    const serving = new Promise<string | undefined>(resolve => {
      worker.on('message', (message: { readonly ready?: string }) => {
        if (message.ready !== undefined) resolve(message.ready)
      })
      void ended.then(() => resolve(undefined))
    })
    const run = { worker, serving, ended }
    this.#runs.set(number, run)
    return run
  }

  /** Starts a worker again whenever it ends; the longer it takes to live, the later. */
  async #keepRunning(number: number): Promise<void> {
    const { clock, log, timers } = this.#options
    let delayMs = restartDelayMs
    let startedMs = clock.elapsedMs()
    for (;;) {
      const { code, signal } = await (this.#runs.get(number) as Run).ended
      if (this.#isStopping) return
      const isSound = clock.elapsedMs() - startedMs >= soundMs
      delayMs = isSound ? restartDelayMs : Math.min(delayMs * 2, restartDelayMaxMs)
      log.error({ worker: number, code, signal, delayMs }, 'a worker has ended and will be started again')
      await wait(delayMs, timers)
      if (this.#isStopping) return
      startedMs = clock.elapsedMs()
      this.#run(number)
    }
  }
}
