// Keeps expensive work (password checks, outside fetches) from taking all threads or sockets: so many at a time,
// so many waiting, and whoever comes on top of that is told at once.

/** Thrown when the queue is full. */
export class QueueFull {}

export class WorkQueue {
  readonly #runningMax: number
  readonly #waitingMax: number
  readonly #waiting: (() => void)[] = []
  #running = 0

  /** At most `runningMax` run at a time, and `waitingMax` wait behind them. */
  constructor(runningMax: number, waitingMax: number) {
    this.#runningMax = runningMax
    this.#waitingMax = waitingMax
  }

  /** Runs `work` in its turn. Rejects with {@link QueueFull} when the queue is full. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running < this.#runningMax) this.#running++
    else await this.#turn()
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#running--
    }
  }

  /** Resolves when a running work has handed over its place. */
  #turn(): Promise<void> {
    if (this.#waiting.length >= this.#waitingMax) throw new QueueFull()
    return new Promise(resolve => {
      this.#waiting.push(resolve)
    })
  }
}
