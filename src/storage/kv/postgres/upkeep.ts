// What a process does over the record beside commits and reads, again and again and on a connection of its own: it renews
// leases, exchanges notices, brings the state forward. While the database is away nothing of that happens.

import { Loop } from '../../../base/loop.ts'
import type { Timers } from '../../../base/timers.ts'
import { StoreUnavailableError } from '../errors.ts'
import { KeptSession } from './kept-session.ts'
import type { PostgresSession } from './session.ts'

/** Something that is done again and again. */
export interface UpkeepTask {
  /** Resolves with true when there is more to do at once. */
  run(session: PostgresSession): Promise<boolean>
  /** Called once at the end, when the database can be reached. */
  stop?(session: PostgresSession): Promise<void>
}

interface UpkeepOptions {
  /** Connects to the store. */
  readonly open: () => Promise<PostgresSession>
  readonly timers: Timers
  /** Milliseconds between two runs. */
  readonly everyMs: number
  readonly tasks: readonly UpkeepTask[]
  /** Told of failures other than that the database is away. */
  readonly onError: (error: unknown) => void
}

/** Runs its tasks, one after the other, until it is stopped. */
export class Upkeep {
  readonly #options: UpkeepOptions
  readonly #session: KeptSession
  readonly #loop: Loop

  constructor(options: UpkeepOptions) {
    this.#options = options
    this.#session = new KeptSession(options.open)
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
      // That the database is away is said elsewhere, once.
      if (!(error instanceof StoreUnavailableError)) onError(error)
      return everyMs
    }
    return isBusy ? 0 : everyMs
  }
}
