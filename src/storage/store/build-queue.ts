// A build fills an index, or rewrites the documents of a migrated collection. Databases take turns, and the builds of
// one database, too, so a build does not wait for all builds of another database. If a build fails at a document, the
// other builds continue. The failed build is skipped until its index or the document is changed, or until the longest
// pause has passed.

import { systemClock } from '../../base/clock.ts'
import { endOfTime } from '../../base/micros.ts'
import type { DatabaseId, Micros, Ref } from '../../values/value.ts'
import { batchEnd } from './batch.ts'
import { continueRewrite, rewrittenCollection } from './document-rewriter.ts'
import { storedVersions } from './documents.ts'
import { BuildFailure, continueBuild, nextBuild, recordFailure } from './index-builder.ts'
import { versionTime } from './records.ts'
import type { Snapshot } from './snapshot.ts'
import type { Store } from './store.ts'
import type { StoreTransaction } from './transaction.ts'

const buildQueueLimits = {
  /** Milliseconds of the first pause of a build that fails repeatedly; own limit. */
  buildRetryMs: 1000,
  /** Milliseconds of the longest pause of a build that fails repeatedly; own limit. */
  buildRetryMsMax: 600_000,
} as const

const batchesPerStep = 8
/** Maximum number of builds that one step selects, including builds that it skips. */
const checksPerStep = 256

interface FailedBuild {
  readonly document: Ref
  /** Consecutive failures. */
  readonly times: number
  /** The last failure on the monotonic clock. */
  readonly atMs: number
  /** The time at which the failed batch began. If `document` is written after this time, the build is tried again. */
  readonly began: Micros
  /** When the failure was stored in the index. If the index is written later, the build is tried again. */
  readonly recorded: Micros
}

export class BuildQueue {
  readonly #store: Store
  readonly #onError: (error: unknown) => void
  readonly #batchMs: number | undefined
  readonly #elapsedMs: () => number
  /** The database whose build ran last. */
  #database: DatabaseId = 0n
  /** The index of each database whose build ran last. */
  readonly #served = new Map<DatabaseId, number>()
  /** The builds that failed in this process, by index. After a restart, all builds are retried. */
  readonly #failed = new Map<string, FailedBuild>()

  /**
   * `batchMs`: the time limit of a batch; databases with expensive bindings (computed fields) then also pause between
   * batches.
   */
  constructor(
    store: Store,
    onError: (error: unknown) => void,
    batchMs: number | undefined,
    elapsedMs: () => number = systemClock.elapsedMs,
  ) {
    this.#elapsedMs = elapsedMs
    this.#store = store
    this.#batchMs = batchMs
    this.#onError = onError
  }

  /**
   * Runs a batch of each of the next builds. True if a batch has run, or if a build waits because its database pauses.
   */
  async runOnce(): Promise<boolean> {
    const seen = new Set<string>()
    let batches = 0
    let paused = 0
    while (batches < batchesPerStep && seen.size < checksPerStep) {
      const build = this.#next()
      if (build === undefined) {
        this.#served.clear()
        this.#failed.clear()
        break
      }
      const name = `${build.database}/${build.id}`
      if (seen.has(name)) break
      seen.add(name)
      if (this.#isSkipped(build, name)) continue
      if (this.#batchMs !== undefined && this.#store.bindingPauses.waitMs(build.database) > 0) {
        paused++
        continue
      }
      batches++
      await this.#continue(build, name)
    }
    return batches > 0 || paused > 0
  }

  /** The next build of the next database. Databases, and the builds of one database, rotate. */
  #next(): Ref | undefined {
    return this.#store.kv.read(view => {
      const first = nextBuild(view, this.#database + 1n, 0) ?? nextBuild(view, 0n, 0)
      if (first === undefined) return undefined
      const { database } = first
      const served = this.#served.get(database)
      const next = served === undefined ? undefined : nextBuild(view, database, served + 1)
      const build = next?.database === database ? next : first
      this.#database = database
      this.#served.set(database, Number(build.id))
      return build
    })
  }

  /**
   * After repeated failures, a build is skipped during a pause, and then until its index or the document at which it
   * failed changes. When the longest pause has passed since the last failure, the build is always retried.
   */
  #isSkipped(index: Ref, name: string): boolean {
    const failed = this.#failed.get(name)
    if (failed === undefined) return false
    const { atMs, began, document, recorded, times } = failed
    const passedMs = this.#elapsedMs() - atMs
    if (passedMs < pauseMs(times)) return true
    if (passedMs >= buildQueueLimits.buildRetryMsMax) return false
    return this.#store.read(
      ({ snapshot }) => newestTime(snapshot, document) <= began && newestTime(snapshot, index) <= recorded,
    ).result
  }

  async #continue(index: Ref, name: string): Promise<void> {
    const began = this.#store.now()
    try {
      await this.#store.write(transaction =>
        this.#store.pauseAfter(index.database, () =>
          continueAny(transaction, index, batchEnd(this.#batchMs)),
        ),
      )
      this.#failed.delete(name)
    } catch (error) {
      if (!(error instanceof BuildFailure)) throw error
      const { time: recorded } = await this.#store.write(transaction =>
        recordFailure(transaction, index, error),
      )
      const times = (this.#failed.get(name)?.times ?? 0) + 1
      if (times === 1) this.#onError(error)
      this.#failed.set(name, { document: error.document, began, recorded, times, atMs: this.#elapsedMs() })
    }
  }
}

function continueAny(transaction: StoreTransaction, build: Ref, isOver: () => boolean): void {
  const collection = rewrittenCollection(build)
  if (collection === undefined) continueBuild(transaction, build, isOver)
  else continueRewrite(transaction.rows, build.database, collection, isOver)
}

/**
 * There is no pause after the first failure: the build is retried as soon as its index changes, or the document at
 * which it failed.
 */
function pauseMs(times: number): number {
  if (times < 2) return 0
  return Math.min(buildQueueLimits.buildRetryMsMax, buildQueueLimits.buildRetryMs * 2 ** (times - 2))
}

/** The newest version may be a deletion. Returns the end of time if no version is stored. */
function newestTime(snapshot: Snapshot, ref: Ref): Micros {
  const [newest] = storedVersions(snapshot, ref)
  return newest === undefined ? endOfTime : versionTime(newest)
}
