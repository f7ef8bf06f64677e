// Runs transactions on the key-value store of an open data directory. The file snapshot-times.ts describes the times of
// commits and snapshots.
//
// A transaction that writes is evaluated on a snapshot, without the writer lock. The result is called an attempt. An
// attempt is validated against newer commits, rebased to its commit time, and applied (local-commits.ts). A stale
// attempt is evaluated again: under the lock if its evaluation was short, otherwise without the lock, so that no other
// transaction waits for the evaluation. Without a retry limit of the caller, the last evaluation runs under the lock
// however long it takes, so that the transaction does not starve.
//
// Before the evaluation, the store announces the time of the commit. The writes of the attempt contain the announced
// time. If another commit already has this time or a later time, the writes are rebased (rebase.ts).
//
// The processes of the slow lane (for long queries) send attempts to the service that started these processes. Worker
// processes forward complete queries to the committing process.

import type { MemoryBudget } from '../../base/admission/memory-budget.ts'
import { debtRepaidByTime, RateLimit } from '../../base/admission/rate-limit.ts'
import { CpuBudget } from '../../base/admission/time-budget.ts'
import { systemClock } from '../../base/clock.ts'
import { limits } from '../../base/limits.ts'
import { msg } from '../../base/message.ts'
import { epoch, micros } from '../../base/micros.ts'
import { RequestError } from '../../base/request-errors.ts'
import { commitDistance, localTimeline, type Timeline } from '../../base/timeline.ts'
import type { DatabaseId, Micros } from '../../values/value.ts'
import type { KeyValueStore, View } from '../kv/kv-contract.ts'
import { RecentWrites } from '../kv/recent-writes.ts'
import { isReplicated, type ReadyOptions } from '../kv/replicated-store.ts'
import { type Attempt, attemptOn, type Evaluation, evaluateOn, validate } from './attempt.ts'
import { readChanges } from './change-log.ts'
import { checkStore } from './check.ts'
import type { AttemptEvaluator, CommitConditions, Commits, TransactionWork } from './commits.ts'
import { DocumentCache } from './document-cache.ts'
import { EntryCache } from './entry-cache.ts'
import { reserveIdRange } from './id-reservation.ts'
import { IdGenerator, type ReserveIds } from './ids.ts'
import type { CommitRecord } from './last-commit.ts'
import { LocalCommits } from './local-commits.ts'
import type { TransactionParts } from './reader.ts'
import { SchemaCache } from './schema-cache.ts'
import { SnapshotTimes } from './snapshot-times.ts'
import {
  type CommittedTransaction,
  ContendedTransaction,
  type OnCheckProgress,
  type StoreHooks,
  type TransactionOutcome,
  type WriteOptions,
} from './store-contract.ts'
import { StoreTransaction } from './transaction.ts'

export const storeLimits = {
  /**
   * After background work or an import has evaluated bindings (computed fields) of a database, such work pauses for
   * this database. The pause takes this many times as long as the evaluation; own limit.
   */
  bindingPauseFactor: 3,
  /** Milliseconds of the shortest pause after the evaluation of bindings. Shorter pauses are omitted; own limit. */
  bindingPauseMsMin: 1,
} as const

interface StoreOptions {
  /** The time of day. Differences also measure the duration of evaluations. */
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
   * Limits the bytes of cached documents, entries and schemas together (approximately). Each cache also has its own
   * limit.
   */
  readonly rememberedBytesMax?: number
}

/** An attempt whose evaluation took longer is evaluated again under the lock only if it is the last one. */
const shortMicros = 10_000

/** Databases whose pauses are remembered; approximate. */
const pausesMax = 10_000

/** The fractions of `rememberedBytesMax` for cached documents, for cached index entries and for cached schemas. */
const [documentsPart, entriesPart, schemasPart] = [1 / 3, 1 / 6, 1 / 2]

/**
 * Added to the time limit of a document for each evaluation of a binding for a version, so that a document with many
 * versions stays within the limit if its evaluations are fast.
 */
const microsPerEvaluation = 50

/** Evaluates bindings within the time limit of their document. */
function limitedHooks(hooks: StoreHooks, limit: CpuBudget): StoreHooks {
  return {
    ...hooks,
    evaluateBinding: (...given) => limit.within(() => hooks.evaluateBinding(...given), microsPerEvaluation),
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
  readonly bindingBudget = new CpuBudget(slowBindings)
  /** After work in {@link pauseAfter}, the background work and the imports of the database pause. */
  readonly bindingPauses = new RateLimit<DatabaseId>(debtRepaidByTime, pausesMax, () =>
    systemClock.elapsedMs(),
  )
  readonly #parts: TransactionParts
  readonly #times: SnapshotTimes
  readonly #commits: Commits
  readonly #memory: MemoryBudget | undefined
  readonly #clock: () => Micros
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
      ids: new IdGenerator(options.reserveIds ?? (current => reserveIdRange(this, worker, current))),
      hooks: limitedHooks(options.hooks, this.bindingBudget),
      bindingBudget: this.bindingBudget,
      changeRecord: { isBegun: false },
    }
    const timeline = options.timeline ?? localTimeline(options.clock)
    // A slow commit, or a commit of a crashed process, delays the times of snapshots. Another commit ends the delay.
    this.#times = new SnapshotTimes(kv, timeline, () => void this.probe().catch(() => undefined))
    this.#memory = options.memory
    this.#clock = options.clock
    this.#commits =
      options.commits ??
      new LocalCommits({
        kv,
        times: this.#times,
        recent,
        clock: options.clock,
        evaluate: (work, view, last, time) => this.#evaluateOn(work, view, last, time),
      })
  }

  /**
   * Resolves when a read sees all commits up to `notBefore` (Infinity: all commits of all machines before the call). If
   * `isLater` is true, the read also has a later time than `notBefore`. Returns undefined if no wait is needed.
   */
  ready(notBefore: number, options?: ReadyOptions): Promise<void> | undefined {
    return isReplicated(this.kv) ? this.kv.ready(notBefore, options) : undefined
  }

  /**
   * Runs `work` on a snapshot. `seen`: the time of the newest transaction that a client has seen, or {@link epoch} if
   * this time is unknown. The time of the snapshot is later than `seen`, and not earlier than the times of earlier
   * snapshots on this machine. If no such time is available yet, throws `SnapshotTooEarly` before `work` begins.
   * Without `seen`, never throws `SnapshotTooEarly`; another process may have used a later snapshot time.
   */
  read<T>(work: TransactionWork<T>, seen?: Micros): TransactionOutcome<T> {
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
  async write<T>(work: TransactionWork<T>, options: WriteOptions = {}): Promise<TransactionOutcome<T>> {
    const { lastSeen = epoch, retriesMax = limits.contentionRetriesDefault } = options
    for (let retries = 0; ; retries++) {
      const announcement = this.#times.announce(lastSeen)
      try {
        const attempt = this.#attemptOnSnapshot(work, announcement.time)
        const notBefore = Math.max(announcement.time, attempt.commitTime)
        // Without a retry limit of the caller, conflicts never reject the transaction: after the default number of
        // retries, a stale attempt is evaluated again under the lock.
        const isLast = options.retriesMax === undefined && retries >= retriesMax
        const mayHoldLock = isLast || attempt.evaluationMicros <= shortMicros
        const conditions = { notBefore, seen: lastSeen, ...(mayHoldLock && { again: work }) }
        const outcome = await this.#commit(attempt, conditions, options.memoryOwner?.())
        if (outcome !== 'stale') return { ...outcome, retries: outcome.retries + retries }
      } finally {
        announcement.end()
      }
      if (retries >= retriesMax) throw new ContendedTransaction(retries + 1)
    }
  }

  /**
   * Evaluates `work` on a snapshot without committing; {@link commit} accepts the result, and announces its commit time
   * again. `lastSeen`: see {@link WriteOptions}. `stampTime` returns the final commit time; the evaluation calls this
   * function if written values contain the commit time. By default, these values contain the earliest possible commit
   * time.
   */
  attempt<T>(work: TransactionWork<T>, lastSeen: Micros = epoch, stampTime?: () => Micros): Attempt<T> {
    const announcement = this.#times.announce(lastSeen)
    try {
      return this.#attemptOnSnapshot(work, announcement.time, stampTime)
    } finally {
      announcement.end()
    }
  }

  /**
   * Commits an attempt durably. If other transactions have changed the read set of the attempt, it is stale: the
   * evaluator can evaluate it again, with {@link attemptAt}. Without a new evaluation, writes nothing and resolves with
   * `stale`. `evaluator`: the other process that has evaluated the attempt, if any. If the validation would take too
   * long in this process, the evaluator calls {@link validated}.
   */
  async commit<T>(
    attempt: Attempt<T>,
    evaluator?: AttemptEvaluator<T>,
  ): Promise<TransactionOutcome<T> | 'stale'> {
    // At the commit time of the evaluation, or later if this process has already used this time for a snapshot.
    const announcement = this.#times.announce(micros(attempt.commitTime - commitDistance))
    try {
      const notBefore = Math.max(announcement.time, attempt.commitTime)
      const conditions = { notBefore, seen: epoch, ...(evaluator && { evaluator }) }
      return await this.#commit(attempt, conditions, evaluator?.memoryOwner)
    } finally {
      announcement.end()
    }
  }

  /** The writes count against the memory limit, for `memoryOwner`, until the outcome is known. */
  async #commit<T>(
    attempt: Attempt<T>,
    conditions: CommitConditions<T>,
    memoryOwner: string | undefined,
  ): Promise<TransactionOutcome<T> | 'stale'> {
    const release = this.#memory?.reserve(attempt.counters.writeBytes, memoryOwner)
    try {
      return await this.#commits.commit(attempt, conditions)
    } finally {
      release?.()
    }
  }

  /**
   * Evaluates `work` on the newest state, for a commit at `time`. No other commit may run during the evaluation. Throws
   * `SnapshotTooEarly` if no snapshot time is available yet.
   */
  attemptAt<T>(work: TransactionWork<T>, time: Micros): Attempt<T> {
    const started = this.#clock()
    const attempt = this.#times.onSnapshot(epoch, (view, last) => {
      const times = { ...timesOf(last, time), readTimestamp: micros(last.time + 1) }
      return attemptOn(this.#parts, view, last, times, work)
    })
    return { ...attempt, evaluationMicros: this.#clock() - started }
  }

  #attemptOnSnapshot<T>(work: TransactionWork<T>, announced: Micros, stampTime?: () => Micros): Attempt<T> {
    const started = this.#clock()
    const attempt = this.#times.onSnapshot(undefined, (view, since, readTimestamp) => {
      // In a slow-lane process, `announced` is only the requested time (app/open-engine.ts), which can be earlier than
      // the snapshot.
      const commitTime = Math.max(announced, micros(since.time + commitDistance), micros(readTimestamp + 1))
      const stamp = stampTime && { stampTime: () => Math.max(commitTime, stampTime()) }
      const times = { ...timesOf(since, commitTime), readTimestamp, ...stamp }
      return attemptOn(this.#parts, view, since, times, work)
    })
    return { ...attempt, evaluationMicros: this.#clock() - started }
  }

  #evaluateOn<T>(work: TransactionWork<T>, view: View, last: CommitRecord, time: Micros): Evaluation<T> {
    for (let commitTime = time; ; ) {
      const times = { ...timesOf(last, commitTime), readTimestamp: micros(last.time + 1) }
      const evaluated = evaluateOn(this.#parts, view, times, work)
      if (evaluated.nextExpiry >= evaluated.commitTime) return evaluated
      // A document that was read expires before the commit time that the generated ids require, so the evaluation is
      // invalid.
      commitTime = evaluated.commitTime
    }
  }

  /**
   * Validates an attempt against the newest state. Returns the newest commit if the attempt is valid. Throws
   * `SnapshotTooEarly` if no snapshot time is available yet.
   */
  validated(attempt: Attempt<unknown>): CommitRecord | 'stale' {
    return this.#times.onSnapshot(epoch, (view, last) => {
      const time = Math.max(attempt.commitTime, last.time)
      const validity = validate(attempt, view, last, time, this.#parts.recent, 'own process')
      return validity === 'valid' ? last : 'stale'
    })
  }

  now(): Micros {
    return this.#times.now()
  }

  /**
   * Runs synchronous work that computes bindings of a database and cannot move to the slow lane (the processes for long
   * queries). Afterwards, even if `work` throws, the background work and the imports of this database pause for a
   * multiple of the duration of the bindings. Concurrent pauses of a database add up.
   */
  pauseAfter<T>(database: DatabaseId, work: () => T): T {
    return this.bindingBudget.counted(work, micros => {
      const pauseMs = (micros / 1000) * storeLimits.bindingPauseFactor
      if (pauseMs >= storeLimits.bindingPauseMsMin) this.bindingPauses.take(database, pauseMs)
    })
  }

  /**
   * Commits no data. Checks that commits are possible, and ends a delay of the times of snapshots. Concurrent callers
   * share one commit.
   */
  probe(): Promise<void> {
    this.#probing ??= this.#commits.passTime().finally(() => {
      this.#probing = undefined
    })
    return this.#probing
  }

  /**
   * Returns visible transactions that were committed after `after`, oldest first. Returns at most `limit` transactions,
   * and stops after the one that reaches `changesMax` changes.
   */
  changes(after: Micros, limit: number, changesMax?: number): readonly CommittedTransaction[] {
    return this.kv.read(view => readChanges(view, after, limit, changesMax))
  }

  watch(listener: () => void): () => void {
    return this.kv.watch(listener)
  }

  /**
   * Verifies that index entries, histories, the change log and the change record (change-log.ts) agree with the
   * documents. Returns the contradictions.
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

/** The times of a transaction on the state after `last`, which reads as of the microsecond before its commit. */
function timesOf(last: CommitRecord, commitTime: Micros) {
  const { chosenIdsMs, schemaTime, time: lastCommitTime } = last
  return { time: micros(commitTime - 1), commitTime, schemaTime, lastCommitTime, chosenIdsMs }
}
