// Runs the maintenance tasks of a process on the record, on a separate connection: renewing leases, exchanging notices,
// applying the log to the state. While the database is unavailable, the tasks do not run.

import { Loop, type Timers } from '../../../base/timers.ts'
import { StoreUnavailableError } from '../errors.ts'
import { ReconnectingSession } from './reconnecting-session.ts'
import type { PostgresSession } from './session.ts'

/** A repeated task. */
export interface UpkeepTask {
  /** Resolves with true when there is more work to do at once. */
  run(session: PostgresSession): Promise<boolean>
  /** Called once at the end, if the database is reachable. */
  stop?(session: PostgresSession): Promise<void>
}

interface UpkeepOptions {
  /** Connects to the store. */
  readonly open: () => Promise<PostgresSession>
  readonly timers: Timers
  /** Milliseconds between two runs. */
  readonly everyMs: number
  readonly tasks: readonly UpkeepTask[]
  /** Called with failures, except that the database is unavailable. */
  readonly onError: (error: unknown) => void
}

/** Runs its tasks, one after the other, until it is stopped. */
export class Upkeep {
  readonly #options: UpkeepOptions
  readonly #session: ReconnectingSession
  readonly #loop: Loop

  constructor(options: UpkeepOptions) {
    this.#options = options
    this.#session = new ReconnectingSession(options.open)
    this.#loop = new Loop(options.timers, () => this.#step())
  }

  async stop(): Promise<void> {
    await this.#loop.stop()
    const session = this.#session.current
    if (session) for (const task of this.#options.tasks) await task.stop?.(session).catch(() => undefined)
    this.#session.close()
  }

  async #step(): Promise<number> {
    const { everyMs, onError, tasks } = this.#options
    let isBusy = false
    try {
      const session = await this.#session.sound()
      for (const task of tasks) if (await task.run(session)) isBusy = true
    } catch (error) {
      this.#session.drop()
      // The follower already reports that the database is unavailable.
      if (!(error instanceof StoreUnavailableError)) onError(error)
      return everyMs
    }
    return isBusy ? 0 : everyMs
  }
}
