// Something that is done again and again in the background, with pauses that end early when there is a reason to.

import type { Timers } from './timers.ts'

export class Loop {
  readonly #timers: Timers
  readonly #running: Promise<void>
  #isStopped = false
  #isWoken = false
  #endPause: () => void = () => undefined

  /** Begins at once. `step` resolves with the milliseconds until the next one; it never rejects. */
  constructor(timers: Timers, step: () => Promise<number>) {
    this.#timers = timers
    this.#running = this.#run(step)
  }

  /** The next step begins at once, or right behind the one that runs. */
  wake(): void {
    this.#isWoken = true
    this.#endPause()
  }

  /** Resolves when the step that runs has ended; no other begins. */
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
