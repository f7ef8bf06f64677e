// An open data directory: runs transactions on the storage engine. committer.ts describes writes, and snapshot-times.ts
// describes the times of commits and snapshots.

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
import { isReplicated } from '../kv/replicated-store.ts'
import type { Attempt } from './attempt.ts'
import { SchemaCache } from './catalogue.ts'
import { readChanges } from './change-log.ts'
import { checkStore } from './check.ts'
import type { AttemptOwner, Commits } from './commits.ts'
import { Committer } from './committer.ts'
import { DocumentCache } from './document-cache.ts'
import { EntryCache } from './entry-cache.ts'
import { reserveStretch } from './id-reservation.ts'
import { IdGenerator, type ReserveIds } from './ids.ts'
import type { CommitRecord } from './last-commit.ts'
import { type EvaluateHere, LocalCommits } from './local-commits.ts'
import type { TransactionParts } from './reader.ts'
import { SnapshotTimes } from './snapshot-times.ts'
import type {
  CommittedTransaction,
  OnCheckProgress,
  StoreHooks,
  TransactionOutcome,
  WriteOptions,
} from './store-contract.ts'
import { StoreTransaction } from './transaction.ts'

/** Limits of this file; docs/reference/limits.md lists all. An "own limit" is not part of the protocol. */
export const storeLimits = {
  /**
   * Pause of a database after bindings in the background or in an import, as a multiple of the duration of the
   * bindings; own limit.
   */
  bindingRestFactor: 3,
  /** Minimum of this pause in milliseconds; own limit. */
  bindingRestMsMin: 1,
} as const

interface StoreOptions {
  /** The time of day in microseconds. */
  readonly clock: () => Micros
  /** Shared with the other processes of the data directory, if any; its clock is then used. */
  readonly timeline?: Timeline
  readonly hooks: StoreHooks
  /** 0 to 1023: the number in ids, unless another process uses it. Default 0. */
  readonly worker?: number
  /** Reserves ids for a process that never commits; absent: they are reserved here. */
  readonly reserveIds?: ReserveIds
  /** Limits the memory of evaluated transactions that wait to be written. */
  readonly memory?: MemoryBudget
  /** The process that commits attempts; absent: this process. */
  readonly commits?: Commits
  /**
   * Approximate bytes of cached documents, entries and schemas, within the limits of the service; by default these
   * limits.
   */
  readonly rememberedBytesMax?: number
}

/** Number of databases whose pauses are remembered. */
const pausesMax = 10_000

/** The parts of `rememberedBytesMax` for documents, for index entries and for schemas. */
const [documentsPart, entriesPart, schemasPart] = [1 / 3, 1 / 6, 1 / 2]

/**
 * Microseconds that a binding of each version adds to the limit of a document: a binding that takes no longer than this
 * never exceeds the limit.
 */
const microsPerVersion = 50

/** Computes bindings within the time limit of their document. */
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

/** An open data directory. */
export class Store {
  readonly kv: KeyValueStore
  /**
   * The time limit for the bindings of one document, in writes, imports and builds. When a document is removed later,
   * its bindings are computed again in the service's own process, and no request can be rejected.
   */
  readonly bindings = new CpuBudget(slowBindings)
  /** Milliseconds for which each database pauses after bindings that could not move to the slow lane. */
  readonly bindingPauses = new RateLimit<DatabaseId>(passingMs, pausesMax, () => systemClock.elapsedMs())
  readonly #parts: TransactionParts
  readonly #times: SnapshotTimes
  readonly #committer: Committer
  #probing: Promise<void> | undefined

  /** Opens a store over an open key-value store, which the store closes at its end. */
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
      ids: new IdGenerator(options.reserveIds ?? (held => reserveStretch(this, worker, held))),
      hooks: limitedHooks(options.hooks, this.bindings),
      bindings: this.bindings,
      record: { isBegun: false },
    }
    const timeline = options.timeline ?? localTimeline(options.clock)
    // If an announced commit takes long, or its process has crashed, a later commit ends the wait.
    this.#times = new SnapshotTimes(kv, timeline, () => void this.probe().catch(() => undefined))
    const { clock, memory } = options
    const commits = (evaluate: EvaluateHere) =>
      options.commits ?? new LocalCommits({ kv, times: this.#times, recent, clock, evaluate })
    this.#committer = new Committer({ times: this.#times, parts: this.#parts, clock, memory, commits })
  }

  /**
   * Returns a promise to await before a read that must see all commits up to `notBefore` (a time or Infinity). With
   * `isLater`, the read also has a later time than `notBefore`. Undefined when no wait is needed.
   */
  ready(notBefore: number, isLater = false): Promise<void> | undefined {
    return isReplicated(this.kv) ? this.kv.ready(notBefore, isLater) : undefined
  }

  /**
   * Runs `work` on a snapshot. For a client with the last seen time `seen` (0: none), the time of the snapshot is later
   * than `seen`, and never goes back on this machine. If there is no such time yet, throws {@link SnapshotTooEarly}
   * before `work` begins.
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
   * Runs `work` and commits its writes durably, as if it had run alone at the commit time; an error of `work` drops all
   * writes. It may run several times; the last run counts. Rejects with {@link ContendedTransaction}.
   */
  write<T>(
    work: (transaction: StoreTransaction) => T,
    options: WriteOptions = {},
  ): Promise<TransactionOutcome<T>> {
    return this.#committer.write(work, options)
  }

  /**
   * Evaluates `work` on a snapshot and commits nothing. The attempt can be passed to {@link commit}. If other values
   * contain the commit time, `stampTime` returns the final commit time; absent: the next possible time.
   */
  attempt<T>(
    work: (transaction: StoreTransaction) => T,
    notBefore: Micros = epoch,
    stampTime?: () => Micros,
  ): Attempt<T> {
    return this.#committer.attempt(work, notBefore, stampTime)
  }

  /**
   * Commits an attempt. Resolves with `stale`, without writes, when other transactions have written a part of its read
   * set. For an attempt of another process, `validate` and `evaluateAt` let that process do work that would take too
   * long here, with {@link validated} and {@link attemptAt}; see {@link AttemptOwner}.
   */
  commit<T>(attempt: Attempt<T>, owner?: AttemptOwner<T>): Promise<TransactionOutcome<T> | 'stale'> {
    return this.#committer.commit(attempt, owner)
  }

  /** Evaluates `work` on the newest state of this process, for a commit at `time` without concurrent commits. */
  attemptAt<T>(work: (transaction: StoreTransaction) => T, time: Micros): Attempt<T> {
    return this.#committer.attemptAt(work, time)
  }

  /** The newest commit of this process, if an attempt would have the same result after this commit. */
  validated(attempt: Attempt<unknown>): CommitRecord | 'stale' {
    return this.#committer.validated(attempt)
  }

  /** The time of day, but not before any time of a snapshot or a commit of this process. */
  now(): Micros {
    return this.#times.now()
  }

  /**
   * Runs synchronous work on documents of a database, where the work cannot move to the slow lane. The database then
   * pauses for a multiple of the duration of its bindings, whether or not the work throws. Concurrent pauses add up.
   * Builds and documents of other databases continue during the pause.
   */
  counted<T>(database: DatabaseId, work: () => T): T {
    return this.bindings.counted(work, micros => {
      const pauseMs = (micros / 1000) * storeLimits.bindingRestFactor
      if (pauseMs >= storeLimits.bindingRestMsMin) this.bindingPauses.take(database, pauseMs)
    })
  }

  /** Commits a time without data, to check that commits are possible. Concurrent callers share a commit. */
  probe(): Promise<void> {
    this.#probing ??= this.#committer.passTime().finally(() => {
      this.#probing = undefined
    })
    return this.#probing
  }

  /**
   * Transactions committed after `after` and visible now, oldest first: at most `limit` transactions, up to the
   * transaction with which they have `changesMax` changes.
   */
  changes(after: Micros, limit: number, changesMax?: number): readonly CommittedTransaction[] {
    return this.kv.read(view => readChanges(view, after, limit, changesMax))
  }

  /** Calls `listener` after commits (of any process) became visible. */
  watch(listener: () => void): () => void {
    return this.kv.watch(listener)
  }

  /** Verifies that entries, histories and the change log agree with the documents; returns every contradiction. */
  check(onProgress?: OnCheckProgress): readonly string[] {
    return this.#times.onSnapshot(undefined, (view, _last, time) =>
      checkStore(view, this.#parts.hooks, time, onProgress),
    )
  }

  close(): Promise<void> {
    return this.kv.close()
  }
}
