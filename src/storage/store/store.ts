// Runs transactions on the key-value store of an open data directory. The file committer.ts describes writes, and
// snapshot-times.ts describes the times of commits and snapshots.

import type { MemoryBudget } from '../../base/admission/memory-budget.ts'
import { passingMs, RateLimit } from '../../base/admission/rate-limit.ts'
import { CpuBudget } from '../../base/admission/time-budget.ts'
import { systemClock } from '../../base/clock.ts'
import { limits } from '../../base/limits.ts'
import { msg } from '../../base/message.ts'
import { epoch } from '../../base/micros.ts'
import { RequestError } from '../../base/request-errors.ts'
import { localTimeline, type Timeline } from '../../base/timeline.ts'
import type { DatabaseId, Micros } from '../../values/value.ts'
import type { KeyValueStore } from '../kv/kv-contract.ts'
import { RecentWrites } from '../kv/recent-writes.ts'
import { isReplicated, type ReadyOptions } from '../kv/replicated-store.ts'
import type { Attempt } from './attempt.ts'
import { readChanges } from './change-log.ts'
import { checkStore } from './check.ts'
import type { AttemptEvaluator, Commits } from './commits.ts'
import { Committer } from './committer.ts'
import { DocumentCache } from './document-cache.ts'
import { EntryCache } from './entry-cache.ts'
import { reserveStretch } from './id-reservation.ts'
import { IdGenerator, type ReserveIds } from './ids.ts'
import type { CommitRecord } from './last-commit.ts'
import { type EvaluateHere, LocalCommits } from './local-commits.ts'
import type { TransactionParts } from './reader.ts'
import { SchemaCache } from './schema-cache.ts'
import { SnapshotTimes } from './snapshot-times.ts'
import type {
  CommittedTransaction,
  OnCheckProgress,
  StoreHooks,
  TransactionOutcome,
  WriteOptions,
} from './store-contract.ts'
import { StoreTransaction } from './transaction.ts'

export const storeLimits = {
  /**
   * After background work or an import has evaluated bindings (computed fields) of a database, such work pauses for
   * this database. The pause takes this many times as long as the evaluation; own limit.
   */
  bindingRestFactor: 3,
  /** Milliseconds of the shortest pause after the evaluation of bindings. Shorter pauses are omitted; own limit. */
  bindingRestMsMin: 1,
} as const

interface StoreOptions {
  readonly clock: () => Micros
  /**
   * Shared by the processes of the data directory. If undefined, this process is the only process, and the store uses
   * `clock`.
   */
  readonly timeline?: Timeline
  readonly hooks: StoreHooks
  /**
   * The preferred worker number in generated ids (ids.ts), from 0 to 1023; another number if another process uses it.
   */
  readonly worker?: number
  /** Reserves ids for a process that never commits. If undefined, the store reserves ids with a transaction. */
  readonly reserveIds?: ReserveIds
  /** Limits the memory of evaluated transactions that wait for their commit. */
  readonly memory?: MemoryBudget
  /** Commits attempts (evaluated transactions). If undefined, this process commits. */
  readonly commits?: Commits
  /**
   * For cached documents, entries and schemas together, in addition to the limits for each of these caches;
   * approximate.
   */
  readonly rememberedBytesMax?: number
}

/** Databases whose pauses are remembered; approximate. */
const pausesMax = 10_000

/** The fractions of `rememberedBytesMax` for cached documents, for cached index entries and for cached schemas. */
const [documentsPart, entriesPart, schemasPart] = [1 / 3, 1 / 6, 1 / 2]

/**
 * Added to the time limit of a document for each evaluation of a binding for a version, so that a document with many
 * versions stays within the limit if its evaluations are fast.
 */
const microsPerVersion = 50

/** Evaluates bindings within the time limit of their document. */
function limitedHooks(hooks: StoreHooks, limit: CpuBudget): StoreHooks {
  return {
    ...hooks,
    evaluateBinding: (...given) => limit.within(() => hooks.evaluateBinding(...given), microsPerVersion),
  }
}

function slowBindings(): RequestError {
  const text = msg`Computing the bindings takes too long. Max: ${limits.documentBindingsMs} ms.`
  return new RequestError('time out', text)
}

export class Store {
  readonly kv: KeyValueStore
  /**
   * The time limit for the bindings (computed fields) of one document in writes, imports and index builds. Writes check
   * the limit also on behalf of the later removal of the document, which computes the bindings again in the main
   * process, and cannot be rejected.
   */
  readonly bindings = new CpuBudget(slowBindings)
  /** Each database's background work pauses after {@link counted} work. */
  readonly bindingPauses = new RateLimit<DatabaseId>(passingMs, pausesMax, () => systemClock.elapsedMs())
  readonly #parts: TransactionParts
  readonly #times: SnapshotTimes
  readonly #committer: Committer
  #probing: Promise<void> | undefined

  /** {@link close} also closes the key-value store. */
  constructor(kv: KeyValueStore, options: StoreOptions) {
    this.kv = kv
    const worker = options.worker ?? 0
    const recent = new RecentWrites()
    const remembered = options.rememberedBytesMax ?? Number.POSITIVE_INFINITY
    const { knownDocumentsBytesMax, knownEntriesBytesMax, knownSchemasBytesMax } = limits
    this.#parts = {
      schemas: new SchemaCache(Math.min(knownSchemasBytesMax, remembered * schemasPart)),
      documents: new DocumentCache(Math.min(knownDocumentsBytesMax, remembered * documentsPart)),
      entries: new EntryCache(recent, Math.min(knownEntriesBytesMax, remembered * entriesPart)),
      recent,
      ids: new IdGenerator(options.reserveIds ?? (current => reserveStretch(this, worker, current))),
      hooks: limitedHooks(options.hooks, this.bindings),
      bindings: this.bindings,
      record: { isBegun: false },
    }
    const timeline = options.timeline ?? localTimeline(options.clock)
    // A slow commit, or a commit of a crashed process, delays the times of snapshots. Another commit ends the delay.
    this.#times = new SnapshotTimes(kv, timeline, () => void this.probe().catch(() => undefined))
    const { clock, memory } = options
    const commits = (evaluate: EvaluateHere) =>
      options.commits ?? new LocalCommits({ kv, times: this.#times, recent, clock, evaluate })
    this.#committer = new Committer({ times: this.#times, parts: this.#parts, clock, memory, commits })
  }

  /**
   * Awaited before a read that must see all commits up to `notBefore`; Infinity: all commits of all machines up to now.
   * If `isLater` is true, the read also has a later time than `notBefore`. Undefined if no wait is needed.
   */
  ready(notBefore: number, options?: ReadyOptions): Promise<void> | undefined {
    return isReplicated(this.kv) ? this.kv.ready(notBefore, options) : undefined
  }

  /**
   * Runs `work` on a snapshot. `seen`: the newest transaction that a client has seen, or 0. The time of the snapshot is
   * later than `seen`, and not earlier than the times of earlier snapshots on this machine. If no such time is
   * available yet, throws {@link SnapshotTooEarly} before `work` begins.
   */
  read<T>(work: (transaction: StoreTransaction) => T, seen?: Micros): TransactionOutcome<T> {
    return this.#times.onSnapshot(seen, (view, last, time) => {
      const { time: lastCommitTime, ...known } = last
      const times = { ...known, time, lastCommitTime, readTimestamp: time }
      const transaction = new StoreTransaction(this.#parts, view, times)
      return { result: work(transaction), time, counters: transaction.counters, retries: 0 }
    })
  }

  /**
   * Commits the writes of `work` durably, as if it had run alone at the commit time. If `work` throws, nothing is
   * written. `work` may run several times; only the last run is committed. Rejects with {@link ContendedTransaction}
   * after too many conflicts.
   */
  write<T>(
    work: (transaction: StoreTransaction) => T,
    options: WriteOptions = {},
  ): Promise<TransactionOutcome<T>> {
    return this.#committer.write(work, options)
  }

  /**
   * Evaluates `work` on a snapshot without committing; {@link commit} accepts the result. `lastSeen`: see
   * {@link WriteOptions}. `stampTime` returns the final
   * commit time, and is called if written values contain it; by default the earliest possible commit time.
   */
  attempt<T>(
    work: (transaction: StoreTransaction) => T,
    lastSeen: Micros = epoch,
    stampTime?: () => Micros,
  ): Attempt<T> {
    return this.#committer.attempt(work, lastSeen, stampTime)
  }

  /**
   * `evaluator`: the other process that has evaluated the attempt, if any. If the validation would take too long in
   * this process, the evaluator calls {@link validated}. If other transactions have changed the read set of the
   * attempt, it is stale, and the evaluator can evaluate it again, with {@link attemptAt}. Without a new evaluation,
   * writes nothing and resolves with `stale`.
   */
  commit<T>(attempt: Attempt<T>, evaluator?: AttemptEvaluator<T>): Promise<TransactionOutcome<T> | 'stale'> {
    return this.#committer.commit(attempt, evaluator)
  }

  /** Evaluates `work` on the newest state, for a commit at `time`. No other commit may run during the evaluation. */
  attemptAt<T>(work: (transaction: StoreTransaction) => T, time: Micros): Attempt<T> {
    return this.#committer.attemptAt(work, time)
  }

  /** Validates an attempt against the newest state. Returns the newest commit if the attempt is valid. */
  validated(attempt: Attempt<unknown>): CommitRecord | 'stale' {
    return this.#committer.validated(attempt)
  }

  /** The time of day, or a later time of a snapshot or commit of this process. */
  now(): Micros {
    return this.#times.now()
  }

  /**
   * Runs synchronous work that computes bindings of a database and cannot move to the slow lane (the processes for long
   * queries). Afterwards, even if `work` throws, the background work of this database pauses for a multiple of the
   * duration of the bindings. Concurrent pauses of a database add up.
   */
  counted<T>(database: DatabaseId, work: () => T): T {
    return this.bindings.counted(work, micros => {
      const pauseMs = (micros / 1000) * storeLimits.bindingRestFactor
      if (pauseMs >= storeLimits.bindingRestMsMin) this.bindingPauses.take(database, pauseMs)
    })
  }

  /** Commits no data, to check that commits are possible. Concurrent callers share one commit. */
  probe(): Promise<void> {
    this.#probing ??= this.#committer.passTime().finally(() => {
      this.#probing = undefined
    })
    return this.#probing
  }

  /**
   * Visible transactions that were committed after `after`, oldest first: at most `limit`, until they have `changesMax`
   * changes.
   */
  changes(after: Micros, limit: number, changesMax?: number): readonly CommittedTransaction[] {
    return this.kv.read(view => readChanges(view, after, limit, changesMax))
  }

  /** Calls `listener` after commits of any process become visible. Returns a function that ends the calls. */
  watch(listener: () => void): () => void {
    return this.kv.watch(listener)
  }

  /**
   * Verifies that index entries, histories and the change log (change-log.ts) agree with the documents. Returns the
   * contradictions.
   */
  check(onProgress?: OnCheckProgress): readonly string[] {
    return this.#times.onSnapshot(undefined, (view, _last, time) =>
      checkStore(view, this.#parts.hooks, time, onProgress),
    )
  }

  close(): Promise<void> {
    return this.kv.close()
  }
}
