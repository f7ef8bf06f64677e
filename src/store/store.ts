// An open data folder: runs transactions on the storage below and gives them their times. Commit times strictly
// increase, also across processes, and a snapshot holds exactly the commits up to its time (base/timeline.ts says how
// processes agree on that). Only a caller that claims to have seen the future is not covered, and only it notices.

import { localTimeline, type Timeline } from '../base/timeline.ts'
import { metaKey } from '../keys/keyspace.ts'
import type { KeyValueStore, View } from '../kv/contract.ts'
import type { Micros } from '../values/value.ts'
import { SchemaCache } from './catalogue.ts'
import { readChanges } from './change-log.ts'
import { checkStore } from './check.ts'
import type { CommittedTransaction, Store, StoreHooks, Transaction, TransactionOutcome } from './contract.ts'
import { reserveStretch } from './id-reservation.ts'
import { IdGenerator } from './ids.ts'
import { type CommitRecord, decodeCommit, encodeCommit } from './records.ts'
import { StoreTransaction, type TransactionParts, type TransactionTimes } from './transaction.ts'

export interface StoreOptions {
  /** The time of day in microseconds. */
  readonly clock: () => Micros
  /** Shared with the other processes of the data folder, when there are any; its clock counts then. */
  readonly timeline?: Timeline
  readonly hooks: StoreHooks
  /** 0 to 1023; processes that share a data folder need different ones. Default 0. */
  readonly worker?: number
}

/** How far ahead of the clock a caller may push time, in microseconds: clocks of processes differ by less. */
const clockSkewMax: Micros = 10_000_000

const lastCommitKey = metaKey('last commit')

const noCommit: CommitRecord = { time: 0, schemaTime: 0 }

/** The newest commit that a state holds. */
function lastCommit(view: View): CommitRecord {
  const stored = view.get(lastCommitKey)
  return stored === undefined ? noCommit : decodeCommit(stored)
}

/** The time of the newest commit that a state holds; 0 when there is none. */
export function newestCommitTime(view: View): Micros {
  return lastCommit(view).time
}

/** The times of a reading transaction. */
function timesOf(last: CommitRecord, time: Micros): TransactionTimes {
  return { time, schemaTime: last.schemaTime, lastCommitTime: last.time }
}

/** Opens a store over an open key-value store, which it closes when it is closed. */
export function openStore(kv: KeyValueStore, options: StoreOptions): TransactionStore {
  return new TransactionStore(kv, options)
}

/** After how long without a sign of it, in microseconds, an announced commit is looked for. */
const announcementMax: Micros = 1_000_000

export class TransactionStore implements Store {
  readonly kv: KeyValueStore
  readonly #timeline: Timeline
  readonly #parts: TransactionParts
  /** The newest time this process has used, for a snapshot or a commit. */
  #newest: Micros = 0
  /** The newest time this process has given to a snapshot. */
  #newestSnapshot: Micros = 0
  /** The announcements of this process's commits that may not be visible yet, oldest first. */
  readonly #underWay: Micros[] = []
  /** The announcement of its newest commit. */
  #announced: Micros = 0
  #isSettling = false

  constructor(kv: KeyValueStore, options: StoreOptions) {
    this.kv = kv
    this.#timeline = options.timeline ?? localTimeline(options.clock)
    const worker = options.worker ?? 0
    this.#parts = {
      schemas: new SchemaCache(),
      ids: new IdGenerator(worker, () => reserveStretch(this, worker)),
      hooks: options.hooks,
    }
  }

  ready(notBefore: Micros): Promise<void> | undefined {
    return this.kv.ready?.(notBefore)
  }

  read<T>(work: (transaction: Transaction) => T, notBefore: Micros = 0): TransactionOutcome<T> {
    return this.#onSnapshot(notBefore, (view, times) => {
      const transaction = new StoreTransaction(this.#parts, view, times)
      return { result: work(transaction), time: times.time, counters: transaction.counters }
    })
  }

  write<T>(work: (transaction: Transaction) => T, notBefore: Micros = 0): Promise<TransactionOutcome<T>> {
    return this.transact(work, notBefore)
  }

  /** The time of day, not before any time this process has used. */
  now(): Micros {
    return Math.max(this.#timeline.now(), this.#newest)
  }

  /** {@link read} for work that knows the store's own transactions. */
  inspect<T>(work: (transaction: StoreTransaction) => T): T {
    return this.#onSnapshot(0, (view, times) => work(new StoreTransaction(this.#parts, view, times)))
  }

  /** {@link write} for work that knows the store's own transactions. */
  transact<T>(
    work: (transaction: StoreTransaction) => T,
    notBefore: Micros = 0,
  ): Promise<TransactionOutcome<T>> {
    let announced = 0
    const outcome = this.kv.transact(view => {
      const last = lastCommit(view)
      // No commit that a reader may see without this one has a time as late as the announcement.
      announced = Math.max(this.now(), last.time) + 1
      const clock = this.#timeline.announce(this.#underWay[0] ?? announced, announced)
      const wanted = Math.min(notBefore, clock + clockSkewMax)
      const snapshotTime = Math.max(clock, announced, wanted)
      const commitTime = snapshotTime + 1
      this.#newest = commitTime
      let hasWritten = false
      try {
        const times = { ...timesOf(last, snapshotTime), commitTime }
        const transaction = new StoreTransaction(this.#parts, view, times)
        const value = work(transaction)
        const writes = transaction.finish()
        hasWritten = writes.length > 0
        if (hasWritten) {
          const schemaTime = transaction.catalogue.changed.size > 0 ? commitTime : last.schemaTime
          writes.push({ key: lastCommitKey, value: encodeCommit({ time: commitTime, schemaTime }) })
        }
        const time = hasWritten ? commitTime : snapshotTime
        return { result: { result: value, time, counters: transaction.counters }, writes }
      } finally {
        if (hasWritten) {
          this.#announced = announced
          this.#underWay.push(announced)
        } else this.#timeline.announce(this.#underWay[0] ?? this.#announced, this.#announced)
      }
    })
    const arrived = () => {
      const place = this.#underWay.indexOf(announced)
      if (place >= 0) this.#underWay.splice(place, 1)
    }
    outcome.then(arrived, arrived)
    return outcome
  }

  /** Reads at a time that no commit beyond the snapshot can come up to. The order of the three questions matters. */
  #onSnapshot<T>(notBefore: Micros, read: (view: View, times: TransactionTimes) => T): T {
    const clock = this.#timeline.now()
    const announced = this.#timeline.announced()
    return this.kv.read(view => {
      const last = lastCommit(view)
      let time = Math.max(clock, last.time)
      if (announced > last.time) {
        // Commits are on their way. They have later times than the oldest announcement, if this snapshot lacks its
        // commit too, and than every snapshot taken before they were announced; and each is at least two later than
        // the commit before it, so the time can be past that of the newest one here, as everybody expects of `Now`.
        time = Math.max(this.#timeline.oldestAnnounced() - 1, last.time + 1, this.#newestSnapshot)
        if (clock - announced > announcementMax) this.#settle()
      }
      // Whoever has really seen that time knows that the snapshot holds all up to it.
      time = Math.max(time, Math.min(notBefore, clock + clockSkewMax))
      this.#newest = Math.max(this.#newest, time)
      this.#newestSnapshot = Math.max(this.#newestSnapshot, time)
      return read(view, timesOf(last, time))
    })
  }

  /** An announcement is old: its commit takes long, or its process has crashed. Being next in line settles it. */
  #settle(): void {
    if (this.#isSettling) return
    this.#isSettling = true
    const done = () => {
      this.#isSettling = false
    }
    this.transact(() => undefined).then(done, done)
  }

  changes(after: Micros, limit: number): readonly CommittedTransaction[] {
    return this.kv.read(view => readChanges(view, after, limit))
  }

  watch(listener: () => void): () => void {
    return this.kv.watch(listener)
  }

  check(): readonly string[] {
    return this.#onSnapshot(0, (view, { time }) => checkStore(view, this.#parts.hooks, time))
  }

  close(): Promise<void> {
    return this.kv.close()
  }
}
