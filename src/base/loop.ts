// A background task that repeats with pauses. `wake` ends a pause early.

import type { Timers } from './timers.ts'

export class Loop {
  readonly #timers: Timers
  readonly #running: Promise<void>
  #isStopped = false
  #isWoken = false
  #endPause: () => void = () => undefined

  /** Starts at once. `step` resolves with the milliseconds until the next step, and never rejects. */
  constructor(timers: Timers, step: () => Promise<number>) {
    this.#timers = timers
    this.#running = this.#run(step)
  }

  /** Starts the next step at once, or directly after the running one. */
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

  async #run(step: () => Promise<number>): Promise<void> {
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
