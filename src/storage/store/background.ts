// The store's own work beside the queries: building indexes and removing what can no longer be seen. Each step
// is a short transaction of its own, so queries never wait long for it.

import { limits } from '../../base/limits.ts'
import type { RemovalTime } from '../../base/removal-time.ts'
import type { Cancel, Timers } from '../../base/timers.ts'
import { BuildQueue } from './build-queue.ts'
import type { Store } from './store.ts'
import { Sweeper } from './sweeper.ts'

const busyDelayMs = 5
const idleDelayMs = 1000

/** Steps of background work on a store; tests run them by hand. */
export class Background {
  readonly sweeper: Sweeper
  readonly #builds: BuildQueue
  readonly #removalTime: RemovalTime | undefined

  /**
   * What is past is decided by `removalTime`; absent: by the store's own time. Batches end after `batchMs`, at the next
   * document, and databases with expensive bindings pause; absent: batches end by their size alone. `onError` is told of
   * builds that fail, which go on being tried; a step itself throws only when the store does.
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

  /** Does one step of each kind of work. Returns whether there was anything to do. */
  async runOnce(): Promise<boolean> {
    await this.#removalTime?.keep()
    const built = await this.#builds.runOnce()
    return (await this.sweeper.runOnce()) || built
  }

  /** Begins anew with the next step, whatever others have done meanwhile. */
  forget(): void {
    this.sweeper.forget()
  }

  /** Works until all indexes are built and everything was looked at once for removal. */
  async runAll(): Promise<void> {
    while (await this.#builds.runOnce()) {}
    await this.sweeper.runAll()
  }
}

interface BackgroundOptions {
  /** By which time removal goes; absent: that of the store. */
  readonly removalTime?: RemovalTime
  /** Whether to work now; absent: always. */
  readonly mayWork?: () => boolean
}

/** Background work under way. */
interface RunningBackground {
  /** Stops after the step under way; call before closing the store. */
  stop(): Promise<void>
}

/**
 * Starts background work on a store; it rests while `mayWork` says no. Errors of a step are handed over; the work goes on
 * with the next one.
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
