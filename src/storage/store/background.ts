// Runs the background work of the store: builds indexes and removes expired data. Each step is a short transaction, so
// queries never wait long for a step. The removal time (base/removal-time.ts) determines which data has expired.

import type { Clock } from '../../base/clock.ts'
import { micros } from '../../base/micros.ts'
import { RemovalTime, type TimeMemory } from '../../base/removal-time.ts'
import { Loop, type Timers } from '../../base/timers.ts'
import { metaKey } from '../keys/keyspace.ts'
import { BuildQueue } from './build-queue.ts'
import { lastCommit } from './last-commit.ts'
import { isIntact, sealedTimes, timeAt } from './records.ts'
import type { Store } from './store.ts'
import { Sweeper } from './sweeper.ts'

const backgroundLimits = {
  /** Maximum duration of one batch of background work, in milliseconds; own limit. */
  backgroundBatchMs: 10,
} as const

const busyDelayMs = 5
const idleDelayMs = 1000

/** Tests run single steps. */
export class Background {
  readonly sweeper: Sweeper
  readonly #builds: BuildQueue
  readonly #removalTime: RemovalTime | undefined

  /**
   * `removalTime` determines which data has expired; by default the time of the store. `batchMs`: the duration after
   * which a batch ends at the next document; the work on a database with expensive bindings (computed fields) then also
   * pauses between batches. Without `batchMs`, only the size of a batch is limited. `onError` is called with the errors
   * of failed builds, which are retried. Errors of the store are thrown.
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

  /** Returns whether there was work to do. */
  async runOnce(): Promise<boolean> {
    await this.#removalTime?.saveTime()
    let built: boolean
    let swept: boolean
    try {
      built = await this.#builds.runOnce()
    } finally {
      // A build that always fails must not stop the removals of all databases.
      swept = await this.sweeper.runOnce()
    }
    return built || swept
  }

  /** Works until all builds have ended or failed, and no removal is due. */
  async runAll(): Promise<void> {
    while (await this.#builds.runOnce()) {}
    await this.sweeper.runAll()
  }
}

interface BackgroundOptions {
  /** The time that determines which data has expired. If undefined, the time of the store determines this. */
  readonly removalTime?: RemovalTime
  /** If undefined, background work may always run. */
  readonly mayWork?: () => boolean
}

/** Pauses while `mayWork` returns false. If a step fails, the error is passed to `onError`, and the work continues. */
export function startBackground(
  store: Store,
  timers: Timers,
  onError: (error: unknown) => void,
  { removalTime, mayWork = () => true }: BackgroundOptions = {},
): Loop {
  const background = new Background(store, onError, backgroundLimits.backgroundBatchMs, removalTime)
  const step = async () => {
    try {
      if (mayWork()) return (await background.runOnce()) ? busyDelayMs : idleDelayMs
      // Another process may do the background work, which makes the state in memory outdated.
      background.sweeper.forget()
    } catch (error) {
      onError(error)
    }
    return idleDelayMs
  }
  return new Loop(timers, step, idleDelayMs)
}

const removalTimeKey = metaKey('passed time')

/**
 * The removal time (base/removal-time.ts) continues after a restart, because its state is stored. `onLeap`: see
 * {@link RemovalTime}.
 */
export function removalTimeOf(
  store: Store,
  clock: Clock,
  onLeap: (aheadMicros: number) => void,
): RemovalTime {
  return new RemovalTime({
    clock,
    onLeap,
    load: () => store.kv.read(view => decodeTimeMemory(view.get(removalTimeKey), lastCommit(view).time)),
    save: ({ believed, doubtedMs }) =>
      store.write(transaction => {
        transaction.rows.overlay.set(removalTimeKey, sealedTimes(believed, micros(Math.round(doubtedMs))))
      }),
  })
}

/**
 * Without stored state, or if it is damaged, the removal time begins at the newest commit. Undefined without any
 * commit.
 */
function decodeTimeMemory(stored: Uint8Array | undefined, lastCommitTime: number): TimeMemory | undefined {
  if (stored !== undefined && isIntact(stored))
    return { believed: timeAt(stored, 0), doubtedMs: timeAt(stored, 8) }
  return lastCommitTime === 0 ? undefined : { believed: micros(lastCommitTime), doubtedMs: 0 }
}
