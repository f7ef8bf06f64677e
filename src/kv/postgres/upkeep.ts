// What a process does over the record beside commits and reads, about once a second and on a connection of its own: it
// renews leases and exchanges notices. While the database is away nothing of that happens.

import { type Cancel, type Timers, wait } from '../../base/timers.ts'
import { StoreUnavailableError } from '../errors.ts'
import { type RecordLocation, Session } from './session.ts'

/** Something that is done again and again. */
export interface UpkeepTask {
  run(session: Session): Promise<void>
  /** Called once at the end, when the database can be reached. */
  stop?(session: Session): Promise<void>
}

interface UpkeepOptions {
  readonly location: RecordLocation
  /** Names the process towards the database. */
  readonly node: string
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
  readonly #running: Promise<void>
  #session: Session | undefined
  #isStopped = false
  #isWoken = false
  #wake: Cancel = () => undefined

  constructor(options: UpkeepOptions) {
    this.#options = options
    this.#running = this.#run()
  }

  /** Runs the tasks as soon as possible. */
  wake(): void {
    this.#isWoken = true
    this.#wake()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#wake()
    await this.#running
    const session = this.#session
    if (!session?.isSound) return
    for (const task of this.#options.tasks) await task.stop?.(session).catch(() => undefined)
    session.close()
  }

  async #run(): Promise<void> {
    const { location, node, onError, tasks } = this.#options
    while (!this.#isStopped) {
      this.#isWoken = false
      try {
        if (!this.#session?.isSound) this.#session = await Session.open(location, node)
        for (const task of tasks) await task.run(this.#session)
      } catch (error) {
        this.#session?.close()
        if (!(error instanceof StoreUnavailableError)) onError(error)
      }
      await this.#pause()
    }
  }

  async #pause(): Promise<void> {
    if (this.#isStopped || this.#isWoken) return
    const woken = new Promise<void>(resolve => {
      this.#wake = resolve
    })
    await Promise.race([woken, wait(this.#options.everyMs, this.#options.timers)])
  }
}
