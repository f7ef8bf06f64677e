// An open data directory: runs transactions on the storage below. How writes go says committer.ts, which times they and
// snapshots get, snapshot-times.ts.

import type { MemoryBound } from '../base/memory-bound.ts'
import { epoch } from '../base/micros.ts'
import { localTimeline, type Timeline } from '../base/timeline.ts'
import type { KeyValueStore } from '../kv/contract.ts'
import { RecentWrites } from '../kv/recent-writes.ts'
import type { Micros } from '../values/value.ts'
import type { StoreAttempt } from './attempt.ts'
import { BindingBudget } from './binding-budget.ts'
import { BindingShare } from './binding-share.ts'
import { SchemaCache } from './catalogue.ts'
import { readChanges } from './change-log.ts'
import { checkStore } from './check.ts'
import { Committer } from './committer.ts'
import type {
  AnnouncedElsewhere,
  CommittedTransaction,
  OnCheckProgress,
  Store,
  StoreHooks,
  Transaction,
  TransactionOutcome,
  WriteOptions,
} from './contract.ts'
import { reserveStretch } from './id-reservation.ts'
import { IdGenerator, type ReserveIds } from './ids.ts'
import { KnownDocuments } from './known-documents.ts'
import { KnownEntries } from './known-entries.ts'
import { SnapshotTimes } from './snapshot-times.ts'
import { StoreTransaction, type TransactionParts } from './transaction.ts'

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
}

/** Opens a store over an open key-value store, which it closes when it is closed. */
export function openStore(kv: KeyValueStore, options: StoreOptions): TransactionStore {
  return new TransactionStore(kv, options)
}

export class TransactionStore implements Store {
  readonly kv: KeyValueStore
  /** What the bindings of documents take, and the share that those of a database may take in the background. */
  readonly bindings: BindingBudget
  readonly bindingShare = new BindingShare()
  readonly #parts: TransactionParts
  readonly #times: SnapshotTimes
  readonly #committer: Committer
  #isPassingTime = false
  #probing: Promise<void> | undefined

  constructor(kv: KeyValueStore, options: StoreOptions) {
    this.kv = kv
    this.bindings = new BindingBudget(options.hooks)
    const worker = options.worker ?? 0
    const recent = new RecentWrites()
    this.#parts = {
      schemas: new SchemaCache(),
      documents: new KnownDocuments(),
      entries: new KnownEntries(recent),
      recent,
      ids: new IdGenerator(options.reserveIds ?? (held => reserveStretch(this, worker, held))),
      hooks: this.bindings,
      record: { isBegun: false },
    }
    const timeline = options.timeline ?? localTimeline(options.clock)
    this.#times = new SnapshotTimes(kv, timeline, () => this.#passTime())
    this.#committer = new Committer(kv, this.#times, this.#parts, options.clock, options.memory)
  }

  ready(notBefore: number): Promise<void> | undefined {
    return this.kv.ready?.(notBefore)
  }

  read<T>(work: (transaction: Transaction) => T, notBefore: Micros = epoch): TransactionOutcome<T> {
    return this.#onSnapshot(notBefore, transaction => {
      const { counters, snapshotTime } = transaction
      return { result: work(transaction), time: snapshotTime, counters, retries: 0 }
    })
  }

  write<T>(
    work: (transaction: Transaction) => T,
    options: WriteOptions = {},
  ): Promise<TransactionOutcome<T>> {
    return this.#committer.write(work, options)
  }

  /** {@link read} for work that knows the store's own transactions. */
  inspect<T>(work: (transaction: StoreTransaction) => T): T {
    return this.#onSnapshot(epoch, work)
  }

  /** {@link write} for work that knows the store's own transactions. */
  transact<T>(work: (transaction: StoreTransaction) => T): Promise<TransactionOutcome<T>> {
    return this.#committer.write(work, {})
  }

  /**
   * Evaluates `work` on a snapshot and commits nothing. What comes of it can be given to {@link commit}. `stampTime` says when to commit what holds that moment.
   */
  attempt<T>(
    work: (transaction: Transaction) => T,
    notBefore: Micros = epoch,
    stampTime?: () => Micros,
  ): StoreAttempt<T> {
    return this.#committer.attempt(work, notBefore, stampTime)
  }

  commit<T>(
    attempt: StoreAttempt<T>,
    announced?: AnnouncedElsewhere,
  ): Promise<TransactionOutcome<T> | 'stale'> {
    return this.#committer.commit(attempt, announced)
  }

  commitElsewhere<T extends { readonly time: Micros }>(
    attempt: Pick<StoreAttempt<unknown>, 'commitTime'>,
    commit: (announced: Micros) => Promise<T | 'stale'>,
  ): Promise<T | 'stale'> {
    return this.#committer.commitElsewhere(attempt, commit)
  }

  /** The time of day, not before any time this process has given to a snapshot or a commit. */
  now(): Micros {
    return this.#times.now()
  }

  #onSnapshot<T>(notBefore: Micros, read: (transaction: StoreTransaction) => T): T {
    return this.#times.onSnapshot(notBefore, (view, last, time) => {
      const { time: lastCommitTime, ...known } = last
      return read(
        new StoreTransaction(this.#parts, view, { ...known, time, lastCommitTime, settledTime: time }),
      )
    })
  }

  /** An announced commit takes long, or its process has crashed: a commit after it ends the wait. */
  #passTime(): void {
    if (this.#isPassingTime) return
    this.#isPassingTime = true
    const done = () => {
      this.#isPassingTime = false
    }
    this.#committer.passTime().then(done, done)
  }

  probe(): Promise<void> {
    this.#probing ??= this.#committer.passTime().finally(() => {
      this.#probing = undefined
    })
    return this.#probing
  }

  changes(after: Micros, limit: number, changesMax?: number): readonly CommittedTransaction[] {
    return this.kv.read(view => readChanges(view, after, limit, changesMax))
  }

  watch(listener: () => void): () => void {
    return this.kv.watch(listener)
  }

  check(onProgress?: OnCheckProgress): readonly string[] {
    return this.#times.onSnapshot(epoch, (view, _last, time) =>
      checkStore(view, this.#parts.hooks, time, onProgress),
    )
  }

  close(): Promise<void> {
    return this.kv.close()
  }
}
