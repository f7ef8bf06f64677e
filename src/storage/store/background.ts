// The background work of the store: builds indexes and removes expired data. Each step is a short transaction, so
// queries never wait long for it. The time that decides which data is removed survives restarts.

import type { Clock } from '../../base/clock.ts'
import { micros } from '../../base/micros.ts'
import { RemovalTime, type TimeMemory } from '../../base/removal-time.ts'
import type { Cancel, Timers } from '../../base/timers.ts'
import { metaKey } from '../keys/keyspace.ts'
import { BuildQueue } from './build-queue.ts'
import { lastCommit } from './last-commit.ts'
import { isIntact, sealedTimes, timeAt } from './records.ts'
import type { Store } from './store.ts'
import { Sweeper } from './sweeper.ts'

/** Limits of this file; docs/reference/limits.md lists all. An "own limit" is not part of the protocol. */
const backgroundLimits = {
  /** Milliseconds of one batch of background work; own limit. */
  backgroundBatchMs: 10,
} as const

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
  const background = new Background(store, onError, backgroundLimits.backgroundBatchMs, removalTime)
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

// Stores the state of the removal time (base/removal-time.ts), so that the removal time continues after a restart.

const key = metaKey('passed time')

/** The time that determines which data the background work removes; `onLeap` as in {@link RemovalTime}. */
export function removalTimeOf(
  store: Store,
  clock: Clock,
  onLeap: (aheadMicros: number) => void,
): RemovalTime {
  return new RemovalTime({
    clock,
    onLeap,
    load: () => store.kv.read(view => loaded(view.get(key), lastCommit(view).time)),
    save: ({ believed, doubtedMs }) =>
      store.write(transaction => {
        transaction.rows.overlay.set(key, sealedTimes(believed, micros(Math.round(doubtedMs))))
      }),
  })
}

/** Without a stored state, or with a damaged one, only the newest commit is known. */
function loaded(stored: Uint8Array | undefined, lastCommitTime: number): TimeMemory | undefined {
  if (stored !== undefined && isIntact(stored))
    return { believed: timeAt(stored, 0), doubtedMs: timeAt(stored, 8) }
  return lastCommitTime === 0 ? undefined : { believed: micros(lastCommitTime), doubtedMs: 0 }
}
