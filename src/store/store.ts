// An open data folder: runs transactions on the storage below and gives them their times. Commit times strictly
// increase, also across processes, and none is at or before a snapshot time this process has handed out.

import { metaKey } from '../keys/keyspace.ts'
import type { KeyValueStore, View } from '../kv/contract.ts'
import type { Micros } from '../values/value.ts'
import { SchemaCache } from './catalogue.ts'
import { readChanges } from './change-log.ts'
import { checkStore } from './check.ts'
import type { CommittedTransaction, Store, StoreHooks, Transaction, TransactionOutcome } from './contract.ts'
import { IdGenerator } from './ids.ts'
import { type CommitRecord, decodeCommit, encodeCommit } from './records.ts'
import { StoreTransaction, type TransactionParts, type TransactionTimes } from './transaction.ts'

export interface StoreOptions {
  /** The time of day in microseconds. */
  readonly clock: () => Micros
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

/** The times of a reading transaction. */
function timesOf(last: CommitRecord, time: Micros): TransactionTimes {
  return { time, schemaTime: last.schemaTime, lastCommitTime: last.time }
}

/** Opens a store over an open key-value store, which it closes when it is closed. */
export function openStore(kv: KeyValueStore, options: StoreOptions): TransactionStore {
  return new TransactionStore(kv, options)
}

export class TransactionStore implements Store {
  readonly kv: KeyValueStore
  readonly #clock: () => Micros
  readonly #parts: TransactionParts
  /** The newest time this process has used, for a snapshot or a commit. */
  #newest: Micros = 0

  constructor(kv: KeyValueStore, options: StoreOptions) {
    this.kv = kv
    this.#clock = options.clock
    this.#parts = {
      schemas: new SchemaCache(),
      ids: new IdGenerator(options.worker ?? 0),
      hooks: options.hooks,
    }
  }

  read<T>(work: (transaction: Transaction) => T, notBefore: Micros = 0): TransactionOutcome<T> {
    return this.kv.read(view => {
      const last = lastCommit(view)
      const time = this.#snapshotTime(last, notBefore)
      const transaction = new StoreTransaction(this.#parts, view, timesOf(last, time))
      return { result: work(transaction), time, counters: transaction.counters }
    })
  }

  write<T>(work: (transaction: Transaction) => T, notBefore: Micros = 0): Promise<TransactionOutcome<T>> {
    return this.transact(work, notBefore)
  }

  /** The time of day, not before any time this process has used. */
  now(): Micros {
    return Math.max(this.#clock(), this.#newest)
  }

  /** {@link read} for work that knows the store's own transactions. */
  inspect<T>(work: (transaction: StoreTransaction) => T): T {
    return this.kv.read(view => {
      const last = lastCommit(view)
      return work(new StoreTransaction(this.#parts, view, timesOf(last, this.#snapshotTime(last, 0))))
    })
  }

  /** {@link write} for work that knows the store's own transactions. */
  transact<T>(
    work: (transaction: StoreTransaction) => T,
    notBefore: Micros = 0,
  ): Promise<TransactionOutcome<T>> {
    return this.kv.transact(view => {
      const last = lastCommit(view)
      const snapshotTime = this.#snapshotTime(last, notBefore)
      const commitTime = snapshotTime + 1
      this.#newest = commitTime
      const times = { ...timesOf(last, snapshotTime), commitTime }
      const transaction = new StoreTransaction(this.#parts, view, times)
      const value = work(transaction)
      const writes = transaction.finish()
      const time = writes.length === 0 ? snapshotTime : commitTime
      if (writes.length > 0) {
        const schemaTime = transaction.catalogue.changed.size > 0 ? commitTime : last.schemaTime
        writes.push({ key: lastCommitKey, value: encodeCommit({ time: commitTime, schemaTime }) })
      }
      return { result: { result: value, time, counters: transaction.counters }, writes }
    })
  }

  /** Not before anything the caller or this process has seen, except that nobody drags time far ahead. */
  #snapshotTime(last: CommitRecord, notBefore: Micros): Micros {
    const clock = this.#clock()
    const wanted = Math.min(notBefore, clock + clockSkewMax)
    this.#newest = Math.max(this.#newest, clock, last.time, wanted)
    return this.#newest
  }

  changes(after: Micros, limit: number): readonly CommittedTransaction[] {
    return this.kv.read(view => readChanges(view, after, limit))
  }

  watch(listener: () => void): () => void {
    return this.kv.watch(listener)
  }

  check(): readonly string[] {
    return this.kv.read(view => checkStore(view, this.#parts.hooks, this.#snapshotTime(lastCommit(view), 0)))
  }

  close(): Promise<void> {
    return this.kv.close()
  }
}
