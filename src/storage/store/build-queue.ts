// Continues running builds in turns: builds of indexes, and rewrites of collections whose documents get another shape.
// Databases take turns, and builds take turns within each database, so that builds of one database do not wait for all
// builds of another. A build that fails is skipped until something changes, and all others continue.

import { systemClock } from '../../base/clock.ts'
import { limits } from '../../base/limits.ts'
import { endOfTime } from '../../base/micros.ts'
import type { DatabaseId, Micros, Ref } from '../../values/value.ts'
import { batchEnd } from './batch.ts'
import { continueRewrite, rewrittenCollection } from './document-rewriter.ts'
import { storedVersions } from './documents.ts'
import { BuildFailure, continueBuild, nextBuild, noteFailure } from './index-builder.ts'
import { versionTime } from './records.ts'
import type { Snapshot } from './snapshot.ts'
import type { Store } from './store.ts'
import type { StoreTransaction } from './transaction.ts'

/** Maximum number of batches, and of builds that are checked, in one step. */
const batchesPerStep = 8
const looksPerStep = 256

interface Failed {
  readonly document: Ref
  /** The number of consecutive failures, and the time of the last one in milliseconds of the process. */
  readonly times: number
  readonly atMs: number
  /** When the attempt began: a later version of the document allows another attempt. */
  readonly began: Micros
  /** When the failure was stored in the index: a later version of the index also allows another attempt. */
  readonly recorded: Micros
}

export class BuildQueue {
  readonly #store: Store
  readonly #onError: (error: unknown) => void
  readonly #batchMs: number | undefined
  readonly #elapsedMs: () => number
  /** The database that was served last, and for each database with builds the index that was served last. */
  #database: DatabaseId = 0n
  readonly #served = new Map<DatabaseId, number>()
  /** Failures in this process, by index; after a restart all builds are retried. */
  readonly #failed = new Map<string, Failed>()

  /**
   * `batchMs`: milliseconds after which a batch ends; databases then also pause after their bindings. Absent: batches
   * have no time limit.
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
   * Continues the next builds by a batch each. Returns whether there was a build to continue, or one whose database
   * pauses.
   */
  async runOnce(): Promise<boolean> {
    const seen = new Set<string>()
    let batches = 0
    let resting = 0
    while (batches < batchesPerStep && seen.size < looksPerStep) {
      const build = this.#next()
      if (build === undefined) {
        this.#served.clear()
        this.#failed.clear()
        break
      }
      const name = `${build.database}/${build.id}`
      if (seen.has(name)) break
      seen.add(name)
      if (this.#isHopeless(build, name)) continue
      if (this.#batchMs !== undefined && this.#store.bindingShare.restMs(build.database) > 0) {
        resting++
        continue
      }
      batches++
      await this.#continue(build, name)
    }
    return batches > 0 || resting > 0
  }

  /** The next index of the next database, in a circular order. */
  #next(): Ref | undefined {
    return this.#store.kv.read(view => {
      const first = nextBuild(view, this.#database + 1n, 0) ?? nextBuild(view, 0n, 0)
      if (first === undefined) return undefined
      const { database } = first
      const served = this.#served.get(database)
      const behind = served === undefined ? undefined : nextBuild(view, database, served + 1)
      const build = behind?.database === database ? behind : first
      this.#database = database
      this.#served.set(database, Number(build.id))
      return build
    })
  }

  /** Returns whether a build has failed and would fail again, or has failed repeatedly despite changes. */
  #isHopeless(index: Ref, name: string): boolean {
    const failed = this.#failed.get(name)
    if (failed === undefined) return false
    const { atMs, began, document, recorded, times } = failed
    const passedMs = this.#elapsedMs() - atMs
    if (passedMs < pauseMs(times)) return true
    if (passedMs >= limits.buildRetryMsMax) return false
    return this.#store.read(
      ({ snapshot }) => newestTime(snapshot, document) <= began && newestTime(snapshot, index) <= recorded,
    ).result
  }

  async #continue(index: Ref, name: string): Promise<void> {
    const began = this.#store.now()
    try {
      await this.#store.write(transaction =>
        this.#store.counted(index.database, () => continueAny(transaction, index, batchEnd(this.#batchMs))),
      )
      this.#failed.delete(name)
    } catch (error) {
      if (!(error instanceof BuildFailure)) throw error
      const { time: recorded } = await this.#store.write(transaction =>
        noteFailure(transaction, index, error),
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

/** Milliseconds to wait after a number of consecutive failures; after the first failure, a change is sufficient. */
function pauseMs(times: number): number {
  if (times < 2) return 0
  return Math.min(limits.buildRetryMsMax, limits.buildRetryMs * 2 ** (times - 2))
}

/**
 * The time of the newest version of a document, deletes included; the end of time when the document no longer exists.
 */
function newestTime(snapshot: Snapshot, ref: Ref): Micros {
  for (const stored of storedVersions(snapshot, ref)) return versionTime(stored)
  return endOfTime
}
