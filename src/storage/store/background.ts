// The background work of the store: builds indexes and removes expired data. Each step is a short transaction, so
// queries never wait long for it.

import { limits } from '../../base/limits.ts'
import type { RemovalTime } from '../../base/removal-time.ts'
import type { Cancel, Timers } from '../../base/timers.ts'
import { BuildQueue } from './build-queue.ts'
import type { Store } from './store.ts'
import { Sweeper } from './sweeper.ts'

const busyDelayMs = 5
const idleDelayMs = 1000

/** Steps of background work on a store; tests run them one by one. */
export class Background {
  readonly sweeper: Sweeper
  readonly #builds: BuildQueue
  readonly #removalTime: RemovalTime | undefined

  /**
   * `removalTime` determines which data has expired; absent: the store's own time. `batchMs`: a batch ends at the first
   * document after this time, and databases with expensive bindings pause; absent: batches end by their size only.
   * `onError` is called with failures of builds, which are retried; a step throws only when the store fails.
   */
  constructor(
    store: Store,
    onError: (error: unknown) => void = () => undefined,
    batchMs?: number,
    removalTime?: RemovalTime,
  ) {
    this.#removalTime = removalTime
    this.sweeper = new Sweeper(store, removalTime && (() => removalTime.now()), batchMs)
    this.#builds = new BuildQueue(store, onError, batchMs)
  }

  /** Runs one step of each kind of work. Returns whether there was any work. */
  async runOnce(): Promise<boolean> {
    await this.#removalTime?.keep()
    const built = await this.#builds.runOnce()
    return (await this.sweeper.runOnce()) || built
  }

  /**
   * Drops the state in memory, because other processes may have done background work in the meantime. The next step
   * reads the state again.
   */
  forget(): void {
    this.sweeper.forget()
  }

  /** Works until all indexes are built and every collection was checked once for expired data. */
  async runAll(): Promise<void> {
    while (await this.#builds.runOnce()) {}
    await this.sweeper.runAll()
  }
}

interface BackgroundOptions {
  /** The time that determines which data has expired; absent: that of the store. */
  readonly removalTime?: RemovalTime
  /** Returns whether background work may run now; absent: it may always run. */
  readonly mayWork?: () => boolean
}

/** Running background work. */
interface RunningBackground {
  /** Stops after the current step; call before closing the store. */
  stop(): Promise<void>
}

/**
 * Starts background work on a store; it pauses while `mayWork` returns false. Errors of a step are passed to `onError`,
 * and the work continues with the next step.
 */
export function startBackground(
  store: Store,
  timers: Timers,
  onError: (error: unknown) => void,
  { removalTime, mayWork = () => true }: BackgroundOptions = {},
): RunningBackground {
  const background = new Background(store, onError, limits.backgroundBatchMs, removalTime)
  let cancel: Cancel = () => undefined
  let stopped = false
  let step: Promise<void> = Promise.resolve()
  const schedule = (delayMs: number) => {
    if (!stopped) cancel = timers.after(delayMs, run)
  }
  const run = () => {
    if (!mayWork()) {
      background.forget()
      schedule(idleDelayMs)
      return
    }
    step = background.runOnce().then(
      busy => schedule(busy ? busyDelayMs : idleDelayMs),
      error => {
        onError(error)
        schedule(idleDelayMs)
      },
    )
  }
  schedule(idleDelayMs)
  return {
    stop() {
      stopped = true
      cancel()
      return step
    },
  }
}
