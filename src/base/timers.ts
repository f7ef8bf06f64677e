// Provides timers. Code whose tests control the time gets its timers as a parameter.

export type Cancel = () => void

export interface Timers {
  after(ms: number, callback: () => void): Cancel
  every(ms: number, callback: () => void): Cancel
}

/** About 24 days. Longer delays are shortened, because Node would fire such timers immediately. */
const delayMaxMs = 2_147_483_647

/** These timers do not keep the process alive. */
export const systemTimers: Timers = {
  after(ms, callback) {
    const timer = setTimeout(callback, Math.min(ms, delayMaxMs)).unref()
    return () => clearTimeout(timer)
  },
  every(ms, callback) {
    const timer = setInterval(callback, Math.min(ms, delayMaxMs)).unref()
    return () => clearInterval(timer)
  },
}

/** Keeps the process alive until the returned function is called. */
export function stayAlive(): Cancel {
  const timer = setInterval(() => undefined, delayMaxMs)
  return () => clearInterval(timer)
}

/** Rejects with `late()` if `promise` is still pending after `ms` milliseconds. */
export async function within<T>(
  promise: Promise<T>,
  ms: number,
  timers: Timers,
  late: () => unknown,
): Promise<T> {
  const end = Promise.withResolvers<never>()
  const cancel = timers.after(ms, () => end.reject(late()))
  try {
    return await Promise.race([promise, end.promise])
  } finally {
    cancel()
  }
}

export function wait(ms: number, timers: Timers = systemTimers): Promise<void> {
  return new Promise(resolve => {
    timers.after(ms, resolve)
  })
}

/** Repeats a background task with pauses. `wake` ends a pause early. */
export class Loop {
  readonly #timers: Timers
  readonly #running: Promise<void>
  #isStopped = false
  #isWoken = false
  #endPause: () => void = () => undefined

  /**
   * The first step starts after `firstMs` milliseconds, by default immediately. `step` resolves with the milliseconds
   * until the next step, and never rejects.
   */
  constructor(timers: Timers, step: () => Promise<number>, firstMs = 0) {
    this.#timers = timers
    this.#running = this.#run(step, firstMs)
  }

  /** Starts the next step immediately if the task is paused, and otherwise directly after the running step. */
  wake(): void {
    this.#isWoken = true
    this.#endPause()
  }

  /** Resolves when the running step has finished. No further step starts. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#endPause()
    await this.#running
  }

  async #run(step: () => Promise<number>, firstMs: number): Promise<void> {
    if (firstMs > 0) await this.#pause(firstMs)
    while (!this.#isStopped) {
      this.#isWoken = false
      await this.#pause(await step())
    }
  }

  #pause(ms: number): Promise<void> {
    if (ms <= 0 || this.#isStopped || this.#isWoken) return Promise.resolve()
    return new Promise(resolve => {
      const cancel = this.#timers.after(ms, resolve)
      this.#endPause = () => {
        cancel()
        resolve()
      }
    })
  }
}
