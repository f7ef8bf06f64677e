// An open data directory: runs transactions on the storage below. How writes go says committer.ts, which times they and
// snapshots get, snapshot-times.ts.

import { limits } from '../../base/limits.ts'
import type { MemoryBound } from '../../base/memory-bound.ts'
import { epoch } from '../../base/micros.ts'
import { localTimeline, type Timeline } from '../../base/timeline.ts'
import type { DatabaseId, Micros } from '../../values/value.ts'
import type { KeyValueStore } from '../kv/contract.ts'
import { RecentWrites } from '../kv/recent-writes.ts'
import type { Attempt } from './attempt.ts'
import { BindingBudget } from './binding-budget.ts'
import { BindingShare } from './binding-share.ts'
import { SchemaCache } from './catalogue.ts'
import { readChanges } from './change-log.ts'
import { checkStore } from './check.ts'
import type { AttemptOwner, Commits } from './commits.ts'
import { Committer } from './committer.ts'
import type {
  CommittedTransaction,
  OnCheckProgress,
  StoreHooks,
  TransactionOutcome,
  WriteOptions,
} from './contract.ts'
import { reserveStretch } from './id-reservation.ts'
import { IdGenerator, type ReserveIds } from './ids.ts'
import { KnownDocuments } from './known-documents.ts'
import { KnownEntries } from './known-entries.ts'
import type { CommitRecord } from './last-commit.ts'
import { type EvaluateHere, LocalCommits } from './local-commits.ts'
import type { TransactionParts } from './reader.ts'
import { SnapshotTimes } from './snapshot-times.ts'
import { StoreTransaction } from './transaction.ts'

interface StoreOptions {
  /** The time of day in microseconds. */
  readonly clock: () => Micros
  /** Shared with the other processes of the data directory, when there are any; its clock counts then. */
  readonly timeline?: Timeline
  readonly hooks: StoreHooks
  /** 0 to 1023: the number that ids carry, unless another process has it. Default 0. */
  readonly worker?: number
  /** Reserves ids for a process that never commits; absent: they are reserved here. */
  readonly reserveIds?: ReserveIds
  /** Bounds what is evaluated and waits to be written. */
  readonly memory?: MemoryBound
  /** Where attempts are committed; absent: in this process. */
  readonly commits?: Commits
  /** Bytes, about, of decoded documents, entries and schemas that are remembered, within the limits of the service; these when absent. */
  readonly rememberedBytesMax?: number
}

/** The parts of the remembered bytes for documents, for entries of indexes and for schemas. */
const [documentsPart, entriesPart, schemasPart] = [1 / 3, 1 / 6, 1 / 2]

/** An open data directory. */
export class Store {
  readonly kv: KeyValueStore
  /** What the bindings of documents take, and the share that those of a database may take in the background. */
  readonly bindings: BindingBudget
  readonly bindingShare = new BindingShare()
  readonly #parts: TransactionParts
  readonly #times: SnapshotTimes
  readonly #committer: Committer
  #probing: Promise<void> | undefined

  /** Opens a store over an open key-value store, which it closes when it is closed. */
  constructor(kv: KeyValueStore, options: StoreOptions) {
    this.kv = kv
    this.bindings = new BindingBudget(options.hooks)
    const worker = options.worker ?? 0
    const recent = new RecentWrites()
    const remembered = options.rememberedBytesMax ?? Number.POSITIVE_INFINITY
    const { knownDocumentsBytesMax, knownEntriesBytesMax, knownSchemasBytesMax } = limits
    this.#parts = {
      schemas: new SchemaCache(Math.min(knownSchemasBytesMax, remembered * schemasPart)),
      documents: new KnownDocuments(Math.min(knownDocumentsBytesMax, remembered * documentsPart)),
      entries: new KnownEntries(recent, Math.min(knownEntriesBytesMax, remembered * entriesPart)),
      recent,
      ids: new IdGenerator(options.reserveIds ?? (held => reserveStretch(this, worker, held))),
      hooks: this.bindings,
      record: { isBegun: false },
    }
    const timeline = options.timeline ?? localTimeline(options.clock)
    // An announced commit takes long, or its process has crashed: a commit after it ends the wait.
    this.#times = new SnapshotTimes(kv, timeline, () => void this.probe().catch(() => undefined))
    const { clock, memory } = options
    const commits = (evaluate: EvaluateHere) =>
      options.commits ?? new LocalCommits({ kv, times: this.#times, recent, clock, evaluate })
    this.#committer = new Committer({ times: this.#times, parts: this.#parts, clock, memory, commits })
  }

  /**
   * What has to be waited for before a read that shall see everything up to `notBefore`, a moment or Infinity, and with `isLater` at
   * a later time; undefined: nothing.
   */
  ready(notBefore: number, isLater = false): Promise<void> | undefined {
    return this.kv.ready?.(notBefore, isLater)
  }

  /**
   * Runs `work` on a snapshot. For a client that has seen the time `seen` (0: none yet) its time is later, and does not go back on
   * this machine; throws {@link SnapshotTooEarly} before `work` begins when there is no such time yet.
   */
  read<T>(work: (transaction: StoreTransaction) => T, seen?: Micros): TransactionOutcome<T> {
    return this.#times.onSnapshot(seen, (view, last, time) => {
      const { time: lastCommitTime, ...known } = last
      const times = { ...known, time, lastCommitTime, settledTime: time }
      const transaction = new StoreTransaction(this.#parts, view, times)
      return { result: work(transaction), time, counters: transaction.counters, retries: 0 }
    })
  }

  /**
   * Runs `work` and commits durably what it wrote, as if it had run alone at the time of the commit; what it throws undoes
   * everything. It may run several times; the last run counts. Rejects with {@link ContendedTransaction}.
   */
  write<T>(
    work: (transaction: StoreTransaction) => T,
    options: WriteOptions = {},
  ): Promise<TransactionOutcome<T>> {
    return this.#committer.write(work, options)
  }

  /**
   * Evaluates `work` on a snapshot and commits nothing. What comes of it can be given to {@link commit}. What holds the very
   * time of its commit is made for the moment that `stampTime` tells when that has to be certain; absent: for the next one.
   */
  attempt<T>(
    work: (transaction: StoreTransaction) => T,
    notBefore: Micros = epoch,
    stampTime?: () => Micros,
  ): Attempt<T> {
    return this.#committer.attempt(work, notBefore, stampTime)
  }

  /**
   * Commits an attempt. Resolves with `stale` when others have written what it read: nothing was written then. For an attempt
   * that another process has made, `validate` and `evaluateAt` have that process do what would take too long here, by
   * {@link validated} and {@link attemptAt}; see {@link AttemptOwner}.
   */
  commit<T>(attempt: Attempt<T>, owner?: AttemptOwner<T>): Promise<TransactionOutcome<T> | 'stale'> {
    return this.#committer.commit(attempt, owner)
  }

  /** Evaluates `work` on the newest state here, for a commit at `time` that no other commit comes before. */
  attemptAt<T>(work: (transaction: StoreTransaction) => T, time: Micros): Attempt<T> {
    return this.#committer.attemptAt(work, time)
  }

  /** The newest commit here, if an attempt would come out the same after it. */
  validated(attempt: Attempt<unknown>): CommitRecord | 'stale' {
    return this.#committer.validated(attempt)
  }

  /** The time of day, not before any time this process has given to a snapshot or a commit. */
  now(): Micros {
    return this.#times.now()
  }

  /**
   * Runs synchronous work on documents of a database that cannot move to the slow lane; whether or not it throws, the
   * database rests from its bindings for as long as what they have taken asks for.
   */
  counted<T>(database: DatabaseId, work: () => T): T {
    return this.bindings.counted(work, micros => this.bindingShare.spent(database, micros))
  }

  /** Commits nothing but a time, which shows whether anything can be committed. Callers at one time share a commit. */
  probe(): Promise<void> {
    this.#probing ??= this.#committer.passTime().finally(() => {
      this.#probing = undefined
    })
    return this.#probing
  }

  /**
   * Transactions committed after `after`, oldest first, as far as they are visible now: at most `limit`, and none more once
   * these have `changesMax` changes.
   */
  changes(after: Micros, limit: number, changesMax?: number): readonly CommittedTransaction[] {
    return this.kv.read(view => readChanges(view, after, limit, changesMax))
  }

  /** Calls `listener` after commits (of any process) became visible. */
  watch(listener: () => void): () => void {
    return this.kv.watch(listener)
  }

  /** Proves that entries, histories and the change log agree with the documents; returns every contradiction found. */
  check(onProgress?: OnCheckProgress): readonly string[] {
    return this.#times.onSnapshot(undefined, (view, _last, time) =>
      checkStore(view, this.#parts.hooks, time, onProgress),
    )
  }

  close(): Promise<void> {
    return this.kv.close()
  }
}
